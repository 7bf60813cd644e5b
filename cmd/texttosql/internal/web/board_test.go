package web

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestBoard: an answer that a person found right names that person, is saved, and is given again without a call of a
// model.
func TestBoard(t *testing.T) {
	s := open(t, func(c *Config) { c.Who = "ann" })
	c := s.asked(t, "", "How many in the north?")
	c = s.say(t, c.ID, "confirm", map[string]any{})
	if c.Turns[0].By != "you" || !c.Turns[0].Confirmed {
		t.Errorf("%+v", c.Turns[0])
	}
	before := s.model.called()
	again := s.asked(t, "", "How many in the north?")
	if a := again.Turns[0].Answer; s.model.called() != before || a == nil || len(a.Grounds) != 1 ||
		a.Grounds[0].Params["p1"] != "North" {
		t.Errorf("%d calls, %+v", s.model.called()-before, again.Turns[0])
	}
	b := s.tab(t, desk, "/#saved")
	b.shows("Signed in as ann")
	b.shows("Verified by ann, today")
	b.axe("saved")
	b.click("Open: How many in the north?")
	b.at("Your own statement")
	b.until("document.querySelector('h3.one')?.innerText === '2'")
	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = 'c/" + again.ID + "'; undefined"))
	b.until("document.querySelector('.params input')?.value === 'North'")
	b.axe("parameters")
	b.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.params input').value = 'South'; undefined"))
	b.click("Ask with this")
	b.shows("How many in the South?")
	b.shows("p1: South")
	if s.model.called() != before {
		t.Errorf("%d calls", s.model.called()-before)
	}
	b.clean()

	s.end()
	s.start(t, func(c *Config) { c.Who = "bob" })
	if c = s.view(t, c.ID); c.Turns[0].By != "ann" {
		t.Errorf("%+v", c.Turns[0])
	}
}

// TestWithoutModel: tables, statements, charts and exports need none; there is no field for questions.
func TestWithoutModel(t *testing.T) {
	s := open(t, nil)
	s.end()
	s.start(t, func(c *Config) {
		c.Engine = testutil.Value(texttosql.New(s.db, texttosql.NoModel,
			texttosql.WithMemory(memory.Options{VerifiedAnswers: s.confirmed})))(t)
		c.NoModel = true
	})
	if status, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"},
		nil); status != http.StatusNotImplemented {
		t.Error(status, r)
	}
	b := s.tab(t, desk, "/")
	b.shows("No model is set up")
	b.axe("without a model")
	b.until("document.getElementById('composer').hidden")
	b.click("Write the SQL yourself")
	b.write("SELECT region, sum(amount) AS amount FROM sales GROUP BY region")
	b.click("Run")
	b.at("Your own statement")
	b.shows("amount by region")
	if saved := b.download("CSV"); len(saved) == 0 {
		t.Error("no file")
	}
	b.clean()
}

// TestNext: questions that may come next use what the tables have and the statement does not.
func TestNext(t *testing.T) {
	s := open(t, nil)
	for question, want := range map[string][]string{
		"How many in the north?":    {"And by month?"},
		"How much did each region?": {"What share of the total does each have?", "And by month?"},
		"Who are the clerks?":       nil,
	} {
		if diff := cmp.Diff(want, s.asked(t, "", question).Turns[0].Answer.Next); diff != "" {
			t.Errorf("%s (-want +got):\n%s", question, diff)
		}
	}
}
