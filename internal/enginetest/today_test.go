package enginetest_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dateprompt"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

var (
	berlin   = time.FixedZone("CET", 3600)
	friday   = time.Date(2026, 11, 27, 23, 59, 0, 0, berlin)
	saturday = friday.Add(2 * time.Minute)
)

const (
	onFriday   = "Today is Friday, 2026-11-27 (time zone CET, UTC+01:00)."
	onSaturday = "Today is Saturday, 2026-11-28 (time zone CET, UTC+01:00)."
)

// at is a clock that tests put forward.
type at struct{ atomic.Pointer[time.Time] }

func clockAt(t time.Time) *at {
	c := &at{}
	c.Store(&t)
	return c
}

func (c *at) now() time.Time { return *c.Load() }

// days are the lines of requests that say the day, each once.
func days(requests []llm.Request) (lines []string) {
	for _, r := range requests {
		if !slices.Contains(lines, r.Day()) {
			lines = append(lines, r.Day())
		}
	}
	return lines
}

func TestEveryPromptSaysTheDay(t *testing.T) {
	for name, s := range everyPreset() {
		t.Run(name, func(t *testing.T) {
			model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
			e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(s),
				texttosql.WithClock(clockAt(friday).now)))(t)
			e.Ask(t.Context(), "How many customers came last month?")
			if strings.HasSuffix(name, "published") {
				return // see TestPublishedPrompts
			}
			if got := days(model.asked); len(got) != 1 || got[0] != onFriday {
				t.Errorf("the prompts say %q", got)
			}
			for _, r := range model.asked {
				system := 0
				for _, m := range r.Messages {
					if m.Role == llm.System {
						system++
					}
				}
				if system != 1 || r.Messages[0].Role != llm.System {
					t.Errorf("%s: %d system messages, the first message is of %s", r.Purpose, system, r.Messages[0].Role)
				}
			}
		})
	}
}

func TestDayLine(t *testing.T) {
	for _, tt := range []struct {
		why  string
		at   time.Time
		want string
	}{
		{"UTC", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), "Today is Thursday, 2024-02-29 (time zone UTC)."},
		{"a zone without a name", time.Date(2024, 2, 29, 5, 0, 0, 0, time.FixedZone("", -3*3600-1800)),
			"Today is Thursday, 2024-02-29 (time zone -0330, UTC-03:30)."},
		{"midnight, and a minute before it", friday, onFriday},
		{"the day after", saturday, onSaturday},
	} {
		line := dateprompt.Line(tt.at)
		if line != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, line, tt.want)
		}
		if back, ok := dateprompt.Parse(line); !ok || dateprompt.Line(back) != line {
			t.Errorf("%s: %q is read as %v, %v", tt.why, line, back, ok)
		}
	}
}

// TestOnDay: taking the line off gives the request without it, byte for byte.
func TestOnDay(t *testing.T) {
	system := llm.Message{Role: llm.System, Text: "Rules.\n"}
	user := llm.Message{Role: llm.User, Text: "Today is a nice day?"}
	for why, r := range map[string]llm.Request{
		"with rules":             {Messages: []llm.Message{system, user}, CachePrefix: 2},
		"without":                {Messages: []llm.Message{user}, CachePrefix: 1},
		"without, nothing known": {Messages: []llm.Message{user}},
	} {
		dated := r.OnDay(onFriday)
		if dated.Day() != onFriday || r.Day() != "" || dated.Hash() == r.Hash() {
			t.Errorf("%s: %q", why, dated.Messages)
		}
		if plain := dated.OnDay(onSaturday).OnDay(""); plain.Hash() != r.Hash() || plain.CachePrefix != r.CachePrefix {
			t.Errorf("%s: without the line it is %q", why, plain.Messages)
		}
	}
}

func TestWithoutClock(t *testing.T) {
	model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
	e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithClock(nil)))(t)
	testutil.Value(e.Ask(t.Context(), "How many customers came last month?"))(t)
	for _, r := range model.asked {
		if r.Day() != "" || strings.Contains(r.Messages[len(r.Messages)-1].Text, "Dates in this database") {
			t.Errorf("the prompt says the day: %v", r.Messages)
		}
	}
}

func TestDatesOfTheDialect(t *testing.T) {
	for question, want := range map[string]bool{
		"How many orders came last month?": true, "Wie viele Bestellungen kamen gestern?": true,
		"¿Cuántos pedidos este año?": true,
		"今年有多少订单？":                   true, "How many orders of 2024?": true, "Combien de commandes cette année ?": true,
		"How many customers are there?": false, "Which customers buy mandarins?": false, "Wie viele Kunden gibt es?": false,
	} {
		if got := prompttext.HasDate(question); got != want {
			t.Errorf("%s: %v", question, got)
		}
	}
	model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
	e := testutil.Value(texttosql.New(open(t, shop), model))(t)
	testutil.Value(e.Ask(t.Context(), "How many customers came yesterday?"))(t)
	if text := model.asked[0].Messages[len(model.asked[0].Messages)-1].Text; !strings.Contains(text, "date('now')") {
		t.Errorf("the prompt does not say how SQLite writes days:\n%s", text)
	}
}

// TestEveryPresetSaysHowDaysAreWritten: whatever writes a statement is told, once a prompt, where the question speaks
// of time, and nothing is where it does not. A published prompt is not (TestPublishedPrompts).
func TestEveryPresetSaysHowDaysAreWritten(t *testing.T) {
	const line = "Today is date('now') in UTC."
	finds := []string{"link", "table", "tables", "synthesis", "decompose", "score", "joins"} // they write no statement
	for name, s := range everyPreset() {
		dated := 1
		if strings.HasSuffix(name, "published") {
			dated = 0
		}
		for question, want := range map[string]int{"How many customers came yesterday?": dated,
			"How many customers are there?": 0} {
			model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
			e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(s)))(t)
			e.Ask(t.Context(), question)
			for _, r := range model.asked {
				text := ""
				for _, m := range r.Messages {
					text += m.Text + "\n"
				}
				if got := strings.Count(text, line); got != want && !slices.Contains(finds, r.Purpose) {
					t.Errorf("%s, %s, %s: %d times\n%s", name, question, r.Purpose, got, text)
				}
			}
		}
	}
}

// TestBatchOverMidnight: a batch has one day, and one that is resumed the next day pays for nothing twice.
func TestBatchOverMidnight(t *testing.T) {
	clock, recording := clockAt(friday), &bytes.Buffer{}
	model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
	model.hook = func(int) { clock.Store(&saturday) }
	questions := []texttosql.Question{{Text: "How many customers came today?"},
		{Text: "How many customers came last week?"}}
	ask := func(m llm.Model, now func() time.Time, questions []texttosql.Question) {
		t.Helper()
		e := testutil.Value(texttosql.New(open(t, shop), m, texttosql.WithClock(now)))(t)
		for r, err := range e.AskAll(t.Context(), slices.Values(questions), 1) {
			if err != nil {
				t.Fatal(r.Question.Text, err)
			}
		}
	}
	ask(llm.Chain(model, replay.NewRecorder(recording).Record), clock.now, questions)
	if got := days(model.asked); len(got) != 1 || got[0] != onFriday {
		t.Errorf("the prompts say %q", got)
	}
	paid := model.calls
	for why, now := range map[string]func() time.Time{"the day of the recording": nil, "another day": clock.now} {
		player := testutil.Value(replay.NewPlayer(bytes.NewReader(recording.Bytes())))(t)
		if why == "the day of the recording" {
			now = player.Now
		}
		if ask(llm.Chain(model, player.Or), now, questions); model.calls != paid {
			t.Errorf("%s: %d calls were paid for again", why, model.calls-paid)
		}
	}
	player := testutil.Value(replay.NewPlayer(bytes.NewReader(recording.Bytes())))(t)
	ask(llm.Chain(model, player.Or), player.Now,
		append(slices.Clone(questions), texttosql.Question{Text: "How many orders came today?"}))
	if got := days(model.asked); len(got) != 1 || model.calls == paid {
		t.Errorf("%d calls more; the prompts say %q", model.calls-paid, got)
	}
}

// TestConversationOverMidnight: a question that is resumed keeps its day; the next question has its own.
func TestConversationOverMidnight(t *testing.T) {
	clock, store := clockAt(time.Now().In(berlin)), new(session.MemoryStore)
	began := dateprompt.Line(clock.now())
	model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
	e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithClock(clock.now),
		texttosql.WithStrategy(strategy.SelfConsistency{AtOnce: true})))(t)
	ctx, cancel := context.WithCancel(t.Context())
	model.hook = func(call int) {
		if call == 4 {
			cancel()
		}
	}
	s := e.NewConversation(store)
	if _, err := s.Ask(ctx, "How many customers came today?"); err == nil {
		t.Fatal("the question was not interrupted")
	}
	model.hook = nil
	tomorrow := clock.now().Add(24 * time.Hour)
	clock.Store(&tomorrow)
	again := testutil.Value(e.OpenConversation(t.Context(), store, s.Record().ID))(t)
	testutil.Value(again.Resume(t.Context()))(t)
	if got := days(model.asked); len(got) != 1 || got[0] != began {
		t.Errorf("the resumed question says %q, it began on %q", got, began)
	}
}

// TestSaidHolds: a correction stands in the prompts of all later questions, until it is taken back.
func TestSaidHolds(t *testing.T) {
	model := &steady{statements: []string{"SELECT count(*) FROM customers"}}
	e := testutil.Value(texttosql.New(open(t, shop), model))(t)
	s := e.NewConversation(new(session.MemoryStore))
	testutil.Value(s.Ask(t.Context(), "How many customers are done?"))(t)
	testutil.Value(s.Correct(t.Context(), "done means the name is Ada"))(t)
	tells := func(question string) bool {
		before := len(model.asked)
		testutil.Value(s.Ask(t.Context(), question))(t)
		return strings.Contains(model.asked[before].Messages[len(model.asked[before].Messages)-1].Text,
			"done means the name is Ada")
	}
	for i := range 5 {
		if !tells(fmt.Sprintf("How many customers have the id %d?", i)) {
			t.Error("the correction is forgotten")
		}
	}
	testutil.Value(s.Correct(t.Context(), "forget what I said about done"))(t)
	if tells("How many customers are there now?") {
		t.Error("the correction was taken back")
	}
}
