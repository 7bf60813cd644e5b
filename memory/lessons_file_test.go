package memory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestLessonsFile: broken files are errors of their own, and stay as they are.
func TestLessonsFile(t *testing.T) {
	for _, tt := range []struct{ why, text string }{
		{"no JSON", "lessons:\n- none\n"},
		{"empty", ""},
		{"cut short", `[{"type": "llm_guided", "text": "x", "confi`},
		{"something behind it", `[] []`},
		{"an object", `{"lessons": []}`},
		{"a field that is not known", `[{"type": "llm_guided", "text": "x", "confidance": 1}]`},
		{"a type that is not known", `[{"type": "dream", "text": "x"}]`},
		{"a confidence over 1", `[{"type": "llm_guided", "text": "x", "confidence": 1.5}]`},
		{"a table without its name", `[{"type": "table_mapping", "from": "x"}]`},
		{"a table with two left sides", `[{"type": "table_mapping", "from": "x", "pattern": "x", "to": "y"}]`},
		{"a column without its table", `[{"type": "column_mapping", "from": "x", "to": "y"}]`},
		{"an error without advice", `[{"type": "error_pattern", "pattern": "x"}]`},
		{"a statement without its tables", `[{"type": "query_pattern", "sql": "SELECT 1"}]`},
		{"a join of one table", `[{"type": "join_pattern", "text": "a.x = a.y", "required_tables": ["a"]}]`},
		{"a scope that is not known", `[{"type": "llm_guided", "text": "x", "scope": "moon"}]`},
	} {
		path := filepath.Join(t.TempDir(), "lessons.json")
		testutil.OK(t, os.WriteFile(path, []byte(tt.text), 0o600))
		var broken *fileerr.Memory
		if _, err := memory.OpenLessons(path); !errors.As(err, &broken) || broken.File != path {
			t.Errorf("%s: %v", tt.why, err)
		}
		if _, err := memory.OpenLessons("", path); !errors.As(err, &broken) {
			t.Errorf("%s, by hand: %v", tt.why, err)
		}
		// A file that breaks while it is in use.
		other := filepath.Join(t.TempDir(), "lessons.json")
		l := testutil.Value(memory.OpenLessons(other))(t)
		learn(t, l, customers("s"))
		testutil.OK(t, os.WriteFile(other, []byte(tt.text), 0o600))
		if _, err := l.Learn(customers("s2")); !errors.As(err, &broken) {
			t.Errorf("%s, in use: %v", tt.why, err)
		}
		if _, err := l.Recall(memory.Episode{}, nil); !errors.As(err, &broken) {
			t.Errorf("%s, read in use: %v", tt.why, err)
		}
		if text, _ := os.ReadFile(other); string(text) != tt.text {
			t.Errorf("%s: overwritten: %s", tt.why, text)
		}
	}
	if _, err := memory.OpenLessons("", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a manual file that is not there is no error")
	}
	l := testutil.Value(memory.OpenLessons(filepath.Join(t.TempDir(), "none", "lessons.json")))(t)
	if _, err := l.Learn(customers("s")); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestLessonsOfDatabases: one file may serve several databases.
func TestLessonsOfDatabases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lessons.json")
	for i, tt := range []struct {
		database string
		want     int
	}{{"a", 1}, {"b", 1}, {"a", 1}, {"", 1}, {"b", 2}} {
		l := testutil.Value(memory.OpenLessons(path))(t)
		l.Database = tt.database
		learn(t, l, customers(fmt.Sprint("s", i)))
		if list := all(t, l); len(list) != tt.want {
			t.Errorf("%d: database %q sees %v", i, tt.database, brief(list))
		}
	}
}

// TestManyProcesses: 8 processes end 50 sessions each on one file, and no count is lost.
func TestManyProcesses(t *testing.T) {
	const key, processes, sessions = "TEXTTOSQL_TEST_LESSONS", 8, 50
	if path := os.Getenv(key); path != "" {
		l := testutil.Value(memory.OpenLessons(path))(t)
		for i := range sessions {
			r := recall(t, l, "How many customers?")
			r.Map(declared, live)
			learn(t, l, customers(fmt.Sprintf("%d-%d", os.Getpid(), i), func(e *memory.Episode) { e.Recall = r }))
		}
		return
	}
	path := filepath.Join(t.TempDir(), "lessons.json")
	l := testutil.Value(memory.OpenLessons(path))(t)
	learn(t, l, customers("first"))
	var children []*exec.Cmd
	for range processes {
		child := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
		child.Env = append(os.Environ(), key+"="+path)
		testutil.OK(t, child.Start())
		children = append(children, child)
	}
	for _, child := range children {
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}
	list := all(t, l)
	if len(list) != 1 {
		t.Fatal(brief(list))
	}
	const want = processes * sessions
	if k := list[0]; k.Retrieved != want || k.Applied != want || k.Successful != want || len(k.Sessions) != want+1 {
		t.Errorf("%d retrieved, %d applied, %d successful, %d sessions; want %d", k.Retrieved, k.Applied, k.Successful,
			len(k.Sessions), want)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.part")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// BenchmarkOpenLessons: a file of 10,000 lessons.
func BenchmarkOpenLessons(b *testing.B) {
	var list []memory.Lesson
	for i := range 10_000 {
		list = append(list, memory.Lesson{Kind: "table_mapping", From: fmt.Sprint("table_", i),
			To: fmt.Sprint("PROD_table_", i), Confidence: .8,
			Source: "auto_learned", Sessions: []string{"0123456789abcdef0123456789abcdef"}, Created: time.Now(),
			Used: time.Now()})
	}
	text, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "lessons.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := memory.OpenLessons(path); err != nil {
			b.Fatal(err)
		}
	}
}
