package enginetest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// The canary stands in each row, pair, lesson and question of acme, and its lower case in questions of globex: what is
// shown of acme's rows has the upper case.
const canary = "CANARY"

// twoSchools is a database of two tenants; of globex alone unless both.
func twoSchools(both, wide bool) string {
	var b strings.Builder
	b.WriteString(`BEGIN; CREATE TABLE pupils (pupil_id INTEGER PRIMARY KEY, name TEXT, school TEXT);
		CREATE TABLE marks (mark_id INTEGER PRIMARY KEY, pupil_id INTEGER REFERENCES pupils, mark INTEGER, note TEXT, school TEXT);`)
	add := func(school, name string, first int) {
		for i := range 20 {
			fmt.Fprintf(&b, "INSERT INTO pupils VALUES (%d, '%s %d', '%s'); INSERT INTO marks VALUES (%d, %[1]d, %[6]d, "+
				"'%[2]s', '%[4]s');",
				first+i, name, i, school, first+i, i%5)
		}
	}
	if both {
		add("acme", canary, 1)
	}
	add("globex", "Bob", 1000)
	for i := range 40 { // more than a prompt has room for
		if !wide {
			break
		}
		fmt.Fprintf(&b, "CREATE TABLE area_%c%c (school TEXT", 'a'+i/6, 'a'+i%6)
		for c := range 40 {
			fmt.Fprintf(&b, ", some_measure_%d_%d REAL", i, c)
		}
		fmt.Fprintf(&b, ", word TEXT);")
		if both {
			fmt.Fprintf(&b, "INSERT INTO area_%c%c (school, word) VALUES ('acme', '%s %d');", 'a'+i/6, 'a'+i%6, canary, i)
		}
	}
	return b.String() + "COMMIT;"
}

func rulesOfSchools(wide bool) exec.Policy {
	p := exec.Policy{Rows: map[string]string{"pupils": "school = :school", "marks": "school = :school"}}
	for i := range 40 {
		if wide {
			p.Rows[fmt.Sprintf("area_%c%c", 'a'+i/6, 'a'+i%6)] = "school = :school"
		}
	}
	return p
}

// heard is all that globex got: prompts, results, traces, errors, what its log has.
type heard struct {
	prompts []string
	rest    bytes.Buffer
}

// hear asks the same questions as globex; with both, of an engine on which acme has worked before and works between
// them.
func hear(t *testing.T, s strategy.Strategy, both, wide bool) (h heard) {
	listening := false
	var mu sync.Mutex // QASQL and PerTable ask in parallel
	statements := []string{
		"SELECT name FROM pupils JOIN marks USING (pupil_id) WHERE mark = 4",
		"SELECT name FROM pupils WHERE name = 'canary 3'",
		"SELECT nothing FROM pupils", "SELECT json_extract(note, '$') FROM marks",
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		var all strings.Builder
		for _, m := range req.Messages {
			all.WriteString(m.Text + "\n")
		}
		if listening {
			mu.Lock()
			h.prompts = append(h.prompts, req.Purpose+"\n"+all.String())
			mu.Unlock()
		}
		sql := statements[(len(all.String())+req.Sample)%len(statements)]
		return llm.Response{Text: strategytest.Reply(req.Purpose, func() string { return bothTables }, func() string {
			return sql
		}), StopReason: llm.StopEnd}, nil
	})
	lessons, confirmed := &memory.Lessons{}, &memory.VerifiedAnswers{}
	remembers := memory.Options{VerifiedAnswers: confirmed, Lessons: lessons}
	if both {
		remembers.Exemplars = []memory.Exemplar{
			{Question: "What is the churn of " + canary + "?", SQL: "SELECT word FROM area_ab", Scope: "acme"},
		}
	}
	options := []texttosql.Option{
		texttosql.WithStrategy(s), texttosql.WithPolicy(rulesOfSchools(wide)), texttosql.WithMemory(remembers),
		texttosql.WithBudget(llm.Budget{InFlight: 1}),
		texttosql.WithTraceContent(trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies | trace.PrivateRows),
		texttosql.WithLogger(slog.New(slog.NewTextHandler(writerFunc(func(p []byte) {
			if listening && !bytes.Contains(p, []byte("took=")) {
				h.rest.Write(p)
			}
		}), &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
	e := testutil.Value(texttosql.New(open(t, twoSchools(both, wide)), model, options...))(t)
	as := func(key string) texttosql.AskOption {
		return texttosql.WithScope(exec.Scope{Key: key, Params: map[string]any{"school": key}})
	}
	var store session.MemoryStore
	acme := func() {
		if !both {
			return
		}
		listening = false
		for _, q := range []string{"Which pupil has the note " + canary + "?", "What is the churn of " + canary + " 7?"} {
			if _, err := e.Ask(t.Context(), q, as("acme")); err != nil {
				t.Logf("acme: %v", err)
			}
			testutil.OK(t, e.Confirm(t.Context(), q, "SELECT note, name FROM marks JOIN pupils USING (pupil_id) WHERE note = '"+
				canary+"'", as("acme")))
		}
		talk := e.NewConversation(&store)
		if _, err := talk.Ask(t.Context(), "Who is called "+canary+"?", as("acme")); err == nil {
			if _, err := talk.Correct(t.Context(), "\""+canary+"\" means pupils.name"); err != nil {
				t.Logf("acme: %v", err)
			}
		}
		testutil.OK(t, lessons.Add(memory.Lesson{Kind: "llm_guided", Text: "mind " + canary, Owner: "acme"}))
	}
	for _, q := range []string{"Which pupil has the note canary?", "What is the churn of canary 7 and of Bob 3?",
		"Which pupil has the note canary?"} {
		acme()
		listening = true
		r, err := e.Ask(t.Context(), q, as("globex"))
		fmt.Fprintln(&h.rest, err)
		if r == nil {
			continue
		}
		page, perr := r.MarshalWithRows()
		whole, terr := r.Trace.JSON(trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies | trace.PrivateRows)
		if perr != nil || terr != nil {
			t.Fatal(perr, terr)
		}
		fmt.Fprintf(&h.rest, "%s\n%s\n%v\n", page, whole, r.Warnings)
	}
	mine := testutil.Value(e.For(as("globex")))(t)
	for _, sql := range statements {
		r, err := e.Query(t.Context(), sql, as("globex"))
		fmt.Fprintf(&h.rest, "%+v %v\n", r, err)
		c, err := mine.Check(t.Context(), sql)
		fmt.Fprintf(&h.rest, "%+v %v\n", c, err)
	}
	return h
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// TestCanariesOfAnotherScope: whatever another tenant has asked, confirmed and taught, and whatever rows it has,
// prompts are those of a database and an engine on which it never was, and nothing of it is in results, traces,
// warnings, errors and logs.
func TestCanariesOfAnotherScope(t *testing.T) {
	for name, s := range everyPreset() {
		for _, wide := range []bool{false, true} {
			if wide && name != "Consensus" && name != "PETSQL" && name != "Staged" && name != "MAKER" { // linkers differ there
				continue
			}
			if wide && race.Enabled && name != "PETSQL" {
				continue
			}
			t.Run(fmt.Sprint(name, " wide ", wide), func(t *testing.T) {
				alone, both := hear(t, s, false, wide), hear(t, s, true, wide)
				slices.Sort(alone.prompts) // some come at the same time
				slices.Sort(both.prompts)
				if len(alone.prompts) == 0 {
					t.Fatal("no prompt")
				}
				if diff := cmp.Diff(alone.prompts, both.prompts); diff != "" {
					t.Errorf("prompts are other ones (-alone +beside acme):\n%.4000s", diff)
				}
				for _, text := range append(both.prompts, both.rest.String()) {
					if i := strings.Index(text, canary); i >= 0 {
						t.Errorf("a canary: …%.400s", text[max(0, i-200):])
					}
				}
			})
		}
	}
}
