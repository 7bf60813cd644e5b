package pools_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
)

// TestPublishedMySQL holds execution accuracy over SQLite against the verdicts
// that the authors of ClassicModels got from MySQL: at least 98 % agree.
//
// Cells are compared exactly, as published. The SQLite form needs no folding of
// case for that: no verdict of these answers hangs on it. It does lack functions
// of MySQL, so it is asked twice: as it is, where the seven questions whose gold
// needs one are left out and counted, and with the functions on dates.
func TestPublishedMySQL(t *testing.T) {
	f := folder(t)
	d, err := f.Dataset("classicmodels")
	if err != nil {
		t.Fatal(err)
	}
	answers, err := eval.ReadAnswers(f.Path("predictions", "preds_classicmodels.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		config eval.StoreConfig
		faults int // answers to the seven questions
	}{
		{"plain", eval.StoreConfig{Find: f.Database, Open: openReadOnly}, 7 * 54},
		{"functions", withFunctions(f.Database), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			scorer := eval.Scorer{Store: openStore(t, test.config), Metrics: []eval.Metric{eval.EX{Rule: eval.RuleBag}, eval.VA{}}}
			verdicts := verdictsOf(t, &scorer, d, answers)
			rows, faults, agree, valid := 0, 0, 0, 0
			causes := map[string]int{}
			for i, a := range answers {
				v := verdicts[i]
				if v.Fault != "" {
					faults++
					continue
				}
				rows++
				if (v.Scores[1] == 1) == *a.Valid {
					valid++
				}
				if (v.Scores[0] == 1) == *a.Label {
					agree++
					continue
				}
				causes[fmt.Sprintf("question %s, MySQL %v: %s", a.Question, *a.Label, mysqlCause(a, v))]++
			}
			for _, cause := range slices.Sorted(maps.Keys(causes)) {
				t.Logf("%d × %s", causes[cause], cause)
			}
			t.Logf("%d answers, %d more to golds without a result: EX agrees on %d (%.2f %%), VA on %d (%.2f %%)", rows, faults,
				agree, 100*float64(agree)/float64(rows), valid, 100*float64(valid)/float64(rows))
			if float64(agree) < 0.98*float64(rows) {
				t.Errorf("EX agrees on %d of %d", agree, rows)
			}
			if faults != test.faults {
				t.Errorf("%d answers to golds without a result, want %d", faults, test.faults)
			}
		})
	}
}

// mysqlCause says why SQLite gives another verdict than MySQL.
func mysqlCause(a eval.Answer, v *eval.Verdict) string {
	switch {
	case !v.Answer.OK():
		return v.Answer.Err
	case strings.Contains(a.SQL, "julianday"):
		return "julianday is a function of SQLite's own"
	case strings.Contains(a.SQL, "HAVING o.status"):
		return "MySQL refuses a bare column in HAVING"
	case strings.Contains(a.SQL, "SUM(quantityOrdered * priceEach) >"):
		return "the authors' prices are 7 % lower, which changes a comparison with 50000"
	}
	return "UNKNOWN"
}
