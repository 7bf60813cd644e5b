package memory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestManualLessons: a file of a person has defaults, is never written, and what was learned of the same is its count.
func TestManualLessons(t *testing.T) {
	dir := t.TempDir()
	path, manual := filepath.Join(dir, "learned.json"), filepath.Join(dir, "manual.json")
	const text = `[
 {"type": "table_mapping", "from": "Customers", "to": "PROD_Customers"},
 {"type": "error_pattern", "pattern": "no such function", "text": "use only functions of SQLite"},
 {"type": "query_pattern", "text": "customers without orders", "sql": "SELECT 1", "required_tables": ["PROD_Customers"]},
 {"type": "llm_guided", "text": "round money", "confidence": 0.6}
]`
	testutil.OK(t, os.WriteFile(manual, []byte(text), 0o400))
	l := testutil.Value(memory.OpenLessons(path, manual))(t)
	learn(t, l, customers("s"))
	want := []string{"table_mapping Customers>PROD_Customers 0.97 manual",
		"error_pattern no such function>use only functions of SQLite 0.90 manual",
		"query_pattern >customers without ordersSELECT 1 0.85 manual", "llm_guided >round money 0.60 manual"}
	if diff := cmp.Diff(want, brief(all(t, l))); diff != "" {
		t.Error(diff)
	}
	if got, _ := os.ReadFile(manual); string(got) != text {
		t.Error("the manual file was written")
	}
	if promoted, _ := l.PromotionReport(); len(promoted) > 0 {
		t.Error("a manual lesson is to be promoted")
	}
}

// TestPromotable: a lesson may go into a file of a person where more than 95 % of its uses, of more than 20, were
// successes.
func TestPromotable(t *testing.T) {
	for _, tt := range []struct {
		applied, successful int
		confidence          float64
		source              string
		want                bool
		why                 string
	}{
		{21, 21, .91, "correction", true, "above all three"},
		{20, 20, .91, "correction", false, "20 uses are not more than 20"},
		{100, 96, .91, "correction", true, "96 %"},
		{100, 95, .91, "correction", false, "95 % are not more than 95 %"},
		{100, 92, .91, "correction", false, "92 %"},
		{100, 100, .9, "correction", false, "a confidence of .90 is not over .90"},
		{100, 100, 1, "manual", false, "a person wrote it"},
	} {
		l := memory.Lesson{Applied: tt.applied, Successful: tt.successful, Confidence: tt.confidence, Source: tt.source}
		if l.Promotable() != tt.want {
			t.Errorf("%s: %v, want %v", tt.why, !tt.want, tt.want)
		}
	}
}

// TestManualLessonsLearnedAgain: what a person wrote keeps its confidence when it is learned again, and is counted.
func TestManualLessonsLearnedAgain(t *testing.T) {
	l := &memory.Lessons{}
	e := customers("s1")
	learn(t, l, e)
	learned := all(t, l)[0]
	written := &memory.Lessons{}
	testutil.OK(t, written.Add(memory.Lesson{Kind: learned.Kind, From: learned.From, To: learned.To, Confidence: .75}))
	learn(t, written, customers("s2"))
	got := all(t, written)
	if len(got) != 1 || got[0].Source != "manual" || got[0].Confidence != .77 || got[0].Successful != 1 ||
		len(got[0].Sessions) != 1 {
		t.Errorf("%+v; want .75 and one success", got)
	}
}
