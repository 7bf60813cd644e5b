package memory_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestEarlierVersions: what a person or an earlier version wrote, without a checksum, is read once with a note, and has
// a checksum from then on.
func TestEarlierVersions(t *testing.T) {
	type opened struct{ items, notes []string }
	confirmed := func(path string) (o opened) {
		c := testutil.Value(memory.OpenVerifiedAnswers(path))(t)
		defer c.Close()
		for _, p := range testutil.Value(c.Pairs())(t) {
			o.items = append(o.items, p.Question+"="+p.SQL)
		}
		return opened{o.items, c.Notes()}
	}
	lessons := func(path string) (o opened) {
		l := testutil.Value(memory.OpenLessons(path))(t)
		for _, k := range all(t, l) {
			o.items = append(o.items, k.From+"="+k.To)
		}
		return opened{o.items, l.Notes()}
	}
	const (
		lesson = `{"type":"table_mapping","from":"a","to":"b","confidence":0.8}`
		other  = `{"type":"table_mapping","from":"c","to":"d","confidence":0.8}`
	)
	for _, tt := range []struct {
		why, text   string
		open        func(string) opened
		items, note string
	}{
		{"confirmed answers", `{"question":"A?","sql":"SELECT 1"}` + "\n" + `{"question":"B?","sql":"SELECT 2"}` + "\n",
			confirmed,
			"A?=SELECT 1 B?=SELECT 2", "2 records, the first of them record 1, have no checksum"},
		{"one without a line end", `{ "question": "A?", "sql": "SELECT 1" }`, confirmed, "A?=SELECT 1",
			"record 1 has no checksum"},
		{"an answer beside a cut one", `{"question":"A?","sq` + "\n" + `{"question":"B?","sql":"SELECT 2"}` + "\n", confirmed,
			"B?=SELECT 2", "record 2 has no checksum"},
		{"lessons", "[\n" + lesson + ",\n" + other + "\n]\n", lessons, "a=b c=d", "2 records"},
		{"lessons of a person", `[ ` + lesson + ` ]`, lessons, "a=b", "record 1 has no checksum"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		testutil.OK(t, os.WriteFile(path, []byte(tt.text), 0o600))
		first := tt.open(path)
		if notes := strings.Join(first.notes, "\n"); !strings.Contains(notes, path) || !strings.Contains(notes, tt.note) {
			t.Errorf("%s: notes %q, want %q", tt.why, notes, tt.note)
		}
		second := tt.open(path)
		if strings.Contains(strings.Join(second.notes, "\n"), "checksum") {
			t.Errorf("%s: again %q", tt.why, second.notes)
		}
		for _, o := range []opened{first, second} {
			slices.Sort(o.items)
			if got := strings.Join(o.items, " "); got != tt.items {
				t.Errorf("%s: %q, want %q", tt.why, got, tt.items)
			}
		}
		if text := string(testutil.Value(os.ReadFile(path))(t)); !strings.Contains(text, `{"v":1,`) ||
			!strings.Contains(text, `,"sum":"`) {
			t.Errorf("%s: not written anew: %s", tt.why, text)
		}
	}
}

// TestConfirmedNotes: an answer that is replaced by an earlier one, and a person's line of a running program, are
// noted.
func TestConfirmedNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "confirmed.jsonl")
	line := func(at, sql string) string { return `{"question":"A?","sql":"` + sql + `","at":"` + at + `"}` + "\n" }
	testutil.OK(t,
		os.WriteFile(path, []byte(line("2026-11-02T00:00:00Z", "SELECT 2")+line("2026-11-01T00:00:00Z", "SELECT 1")), 0o600))
	c := testutil.Value(memory.OpenVerifiedAnswers(path))(t)
	defer c.Close()
	if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes,
		"line 2 replaces an answer to the same question that was confirmed later") {
		t.Errorf("moved lines: %q", notes)
	}
	before := len(c.Notes())
	f := testutil.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	f.WriteString(`{"question":"B?","sql":"SELECT 3"}` + "\n")
	f.Close()
	for range 2 { // it is noted once
		if pairs := testutil.Value(c.Pairs())(t); len(pairs) != 2 || len(c.Notes()) != before+1 {
			t.Errorf("%d pairs, notes %q", len(pairs), c.Notes())
		}
	}
	var none *memory.VerifiedAnswers
	var never *memory.Lessons
	if none.Notes() != nil || never.Notes() != nil {
		t.Error("what is nil has notes")
	}
}

// TestLessonTwice: a learned lesson that is there twice is an error, which names it.
func TestLessonTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lessons.json")
	l := testutil.Value(memory.OpenLessons(path))(t)
	learn(t, l, customers("s"))
	text := string(testutil.Value(os.ReadFile(path))(t))
	object := strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "[]"))
	testutil.OK(t, os.WriteFile(path, []byte("["+object+",\n"+object+"]"), 0o600))
	if _, err := memory.OpenLessons(path); err == nil ||
		!strings.Contains(err.Error(), "lesson 2 of "+path+": it is there twice") {
		t.Error(err)
	}
}
