package recorded_test

import (
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/sqltext"
)

// TestQuestionsOfBenchmarks reads the questions of the evaluation data: nearly all
// must be known for English, and the columns that their words name must be those
// that the gold selects, most of the time.
func TestQuestionsOfBenchmarks(t *testing.T) {
	type question struct{ Question, Evidence, Gold string }
	for _, tt := range []struct {
		file             string
		english, columns float64 // least share of the questions
	}{
		{"questions_spider_dev", 1, 0.93},
		{"questions_bird_dev", 0.99, 0.83},
		{"questions_classicmodels", 0.96, 0.6},
	} {
		n, english, columns := 0, 0, 0
		for q := range evaldata.Lines[question](t, evaldata.Path(t, "questions", tt.file+".jsonl.gz")) {
			o := sqltext.SQLite().Parse(q.Gold).Outline()
			if o.Star || len(o.Items) == 0 {
				continue // how many columns that is only the engine knows
			}
			read := doubt.Rules{}.Read(q.Question, q.Evidence)
			n++
			if read.Language == "en" {
				english++
			}
			if read.Columns == len(o.Items) {
				columns++
			}
		}
		e, c := float64(english)/float64(n), float64(columns)/float64(n)
		t.Logf("%s: %d questions, %.3f English, %.3f with the columns of the gold", tt.file, n, e, c)
		if e < tt.english || c < tt.columns {
			t.Errorf("%s: %.3f English, %.3f columns right; want at least %.3f and %.3f", tt.file, e, c, tt.english, tt.columns)
		}
	}
}
