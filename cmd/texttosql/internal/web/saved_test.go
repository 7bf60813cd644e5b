package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
)

// shownCard is a card as the page gets it.
type shownCard struct {
	ID, By, At, Figure string
	Tags               []string
	Spark              *spark
}

// saved are the cards of the page.
func (s *shop) saved(t *testing.T) []shownCard {
	t.Helper()
	var all struct{ Answers []shownCard }
	_, reply := s.do(t, "/api/saved", nil, nil)
	testutil.OK(t, json.Unmarshal([]byte(reply["text"].(string)), &all))
	return all.Answers
}

// TestSaved: a saved answer has the figure of its last run, an address as CSV and JSON, and outlives a kill. One that
// is removed is confirmed nowhere.
func TestSaved(t *testing.T) {
	s := openWith(t, store, func(c *Config) { c.Who = "ann" })
	id := s.asked(t, "", "What was the revenue by month in 2025?").ID
	s.say(t, id, "confirm", map[string]any{})
	s.killed(t)
	s.start(t, func(c *Config) { c.Who = "ann" })
	cards := s.saved(t)
	if len(cards) != 1 || cards[0].Figure != "" || cards[0].By != "ann" || cards[0].At == "" ||
		cmp.Diff([]string{"orders"}, cards[0].Tags) != "" {
		t.Fatalf("%+v", cards)
	}
	at := "/saved/" + cards[0].ID
	if status, reply := s.do(t, "/api"+at+"/run", struct{}{}, nil); status != 200 || reply["figure"] == "" ||
		reply["spark"] == nil {
		t.Error(status, reply)
	}
	if cards = s.saved(t); !strings.HasPrefix(cards[0].Figure, "Highest in March 2025: ") ||
		len(cards[0].Spark.Values) != 12 {
		t.Errorf("%+v", cards[0])
	}
	for name, want := range map[string]struct {
		status int
		starts string
	}{
		at + ".csv":              {200, textformat.BOM + "month,revenue\n2025-01,"},
		at + ".json":             {200, `{"columns":["month","revenue"]`},
		at + ".html":             {404, `{"code":"missing","error":"A saved answer ends with .csv, `},
		"/saved/0123456789.csv":  {404, `{"code":"missing","error":"No saved answer has this id."}`},
		"/api/saved/none/run":    {405, "Method Not Allowed"},
		"/saved/../api/saved":    {200, `{"answers":[`},
		"/saved/" + id + ".json": {404, `{"code":"missing"`},
	} {
		if status, reply := s.do(t, name, nil, nil); status != want.status ||
			!strings.HasPrefix(reply["text"].(string), want.starts) {
			t.Errorf("%s: %d %.100v", name, status, reply["text"])
		}
	}

	b := s.tab(t, desk, "/#saved")
	b.shows("Highest in March 2025")
	b.shows("Verified by ann, today · run today")
	b.axe("saved")
	b.click("Remove: What was the revenue by month in 2025?")
	b.axe("remove")
	b.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('dialog button').click(); undefined"))
	b.shows("None yet.")
	b.clean()
	if c := s.view(t, id); c.Turns[0].Confirmed || c.Turns[0].By != "" {
		t.Errorf("%+v", c.Turns[0])
	}
	if status, _ := s.do(t, "/api"+at, struct{}{}, func(r *http.Request) { r.Method = "DELETE" }); status != 404 {
		t.Error("removed twice:", status)
	}
	if c := s.say(t, id, "confirm", map[string]any{}); !c.Turns[0].Confirmed || len(s.saved(t)) != 1 {
		t.Errorf("confirmed again: %+v", c.Turns[0])
	}
}

// TestSavedOfAScope: nobody reads, runs or removes the saved answer of another scope.
func TestSavedOfAScope(t *testing.T) {
	s := open(t, nil)
	p := memory.Exemplar{Question: "Who?", SQL: "SELECT name FROM clerks", Scope: "acme"}
	testutil.OK(t, s.confirmed.Add(p))
	at := "/saved/" + savedID(p)
	if cards := s.saved(t); len(cards) != 0 {
		t.Errorf("%+v", cards)
	}
	if status, reply := s.do(t, at+".csv", nil, nil); status != 404 {
		t.Error(status, reply)
	}
	if status, reply := s.do(t, "/api"+at+"/run", struct{}{}, nil); status != 404 {
		t.Error(status, reply)
	}
	s.do(t, "/api"+at, struct{}{}, func(r *http.Request) { r.Method = "DELETE" })
	if pairs := testutil.Value(s.confirmed.PairsOf("acme"))(t); len(pairs) != 1 {
		t.Errorf("%+v", pairs)
	}
}

// TestWorkbook: the page's file for Excel has all rows, also those behind the first 1,000.
func TestWorkbook(t *testing.T) {
	s := openWith(t, store, nil)
	_, r := s.do(t, "/api/query", map[string]any{"sql": "SELECT id, status FROM orders ORDER BY id"}, nil)
	b := s.tab(t, desk, "/#c/"+r["id"].(string))
	b.shows("Rows 1 to 50 of the first 1,000")
	book := testutil.Value(excelize.OpenReader(bytes.NewReader(b.download("Excel"))))(t)
	rows := testutil.Value(book.GetRows("Sheet1"))(t)
	if len(rows) != 3001 || rows[3000][0] != "3000" || cmp.Diff([]string{"id", "status"}, rows[0]) != "" {
		t.Errorf("%d rows, the last %v", len(rows), rows[len(rows)-1])
	}
	b.clean()
}

// TestDraft: what is written and not run is there again, until it runs or is dropped.
func TestDraft(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How much did each region?").ID
	b := s.tab(t, desk, "/#c/"+id)
	text := "document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')?.innerText.replace(/\\s+/g, ' ')"
	b.click("Edit SQL and run it")
	b.write("SELECT 42 AS answer")
	b.keys(kb.Escape + kb.Escape) // the first may close the list of names
	b.until("!document.querySelector('.editor')")
	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = 'saved'; undefined"))
	b.shows("None yet.")
	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = 'c/" + id + "'; undefined"))
	b.click("Edit SQL and run it")
	b.until(text + "?.includes('SELECT 42 AS answer')")
	b.axe("draft")
	b.click("Drop the draft")
	b.until(text + "?.includes('region')")
	b.write("SELECT 43 AS answer FROM sales LIMIT 1")
	b.click("Run")
	b.at("Your own statement")
	b.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('article .does [aria-label=\"Edit SQL and run " +
		"it\"]').click(); undefined"))
	b.until(text + "?.includes('region')")
	b.clean()
}

// TestVisitors: a fault that only an operator can mend gives one sentence and no advice.
func TestVisitors(t *testing.T) {
	s := open(t, nil)
	s.model.fails(&llm.Error{Class: llm.ClassPermanent, Status: 401, Message: "set OPENAI_API_KEY to a valid one"})
	c := s.asked(t, "", "How many in the north?")
	if f := c.Turns[0].Failure; f == nil || f.Error != unavailable || len(f.Advice) > 0 || !f.Final {
		t.Errorf("%+v", f)
	}
	b := s.tab(t, desk, "/#c/"+c.ID)
	b.shows(unavailable)
	b.shows("Edit the question")
	if text := eval[string](b, "document.body.innerText"); strings.Contains(text, "Go on") ||
		strings.Contains(text, "KEY") {
		t.Error(text)
	}
	for _, tt := range []struct{ why, text, want string }{
		{"half of it is for operators", "Ask for something that the database can tell, or use a larger model.",
			"Ask for something that the database can tell."},
		{"all of it", "Check the key.", ""},
		{"both halves", "Allow more time, or ask with fewer samples.", ""},
		{"the second half stays", "Use a larger model, or ask in other words.", "Ask in other words."},
		{"none of it", "Say more exactly what is asked for: the answers disagree.",
			"Say more exactly what is asked for: the answers disagree."},
		{"two sentences", "Change the configuration. Ask again in a while.", "Ask again in a while."},
		{"nothing", "", ""},
	} {
		if got := forVisitors(tt.text); got != tt.want {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
}

// TestLook: a name and a colour of a company are those of the page, and can be read on both backgrounds.
func TestLook(t *testing.T) {
	if _, err := New(Config{Engine: open(t, nil).server.Engine, Store: open(t, nil).store,
		Accent: "red; } body { display: none"}); err == nil {
		t.Error("no colour")
	}
	s := open(t, func(c *Config) { c.Title, c.Accent = "Northwind", "#ffd400" })
	for _, dark := range []bool{false, true} {
		b := s.tab(t, look{1280, dark}, "/")
		b.until("document.title.endsWith('· Northwind') && document.getElementById('company').innerText === 'Northwind'")
		b.axe("accent")
		b.clean()
	}
}

// TestSavedUnderPolicy: no card and no address shows a saved answer that reads what the policy denies.
func TestSavedUnderPolicy(t *testing.T) {
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		shown  bool
	}{
		{"nothing is denied", exec.Policy{}, true},
		{"another table is denied", exec.Policy{DenyTables: []string{"sales"}}, true},
		{"its table is denied", exec.Policy{DenyTables: []string{"clerks"}}, false},
		{"its column is denied", exec.Policy{DenyColumns: []string{"clerks.name"}}, false},
	} {
		s := open(t, nil)
		s.server.Engine = testutil.Value(s.server.Engine.For(texttosql.WithPolicy(tt.policy)))(t)
		p := memory.Exemplar{Question: "Who?", SQL: "SELECT name FROM clerks"}
		testutil.OK(t, s.confirmed.Add(p))
		status, _ := s.do(t, "/saved/"+savedID(p)+".csv", nil, nil)
		if cards := s.saved(t); (len(cards) == 1) != tt.shown || (status == 200) != tt.shown {
			t.Errorf("%s: %d, %+v", tt.why, status, cards)
		}
	}
}
