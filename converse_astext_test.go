package texttosql_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// TestCorrectionAsText: prose that names a table in no form is shown to the model with a warning, and uses up none of the
// corrections; prose about no table is a clarification, and does.
func TestCorrectionAsText(t *testing.T) {
	for _, tt := range []struct {
		text   string
		warned bool
		why    string
	}{
		{"customers looks wrong", true, "a table in no form"},
		{"customers.country might be better", true, "a column in no form"},
		{"only those of this year", false, "nothing of the schema is named"},
		{"use the customers table", false, "a form"},
	} {
		p := &provider{}
		s := converse(t, talking(t, p), &session.Memory{}, "")
		need.Value(s.Ask(t.Context(), "who?"))(t)
		for range 2 { // the warning is of this answer, and of each one
			res := need.Value(s.Correct(t.Context(), tt.text))(t, tt.why)
			warned := slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool {
				return w.Code == "correction-as-text" && strings.Contains(w.Message, "use table X")
			})
			if warned != tt.warned {
				t.Errorf("%s: %v", tt.why, res.Warnings)
			}
		}
		want := 2
		if tt.warned {
			want = 0
		}
		if rec := s.Record(); rec.Corrected() != want || len(rec.Corrections()) == 0 {
			t.Errorf("%s: %d corrections are counted, want %d; in force: %v", tt.why, rec.Corrected(), want, rec.Corrections())
		}
	}
}

// TestMaxCorrections: a conversation may take fewer corrections, or more.
func TestMaxCorrections(t *testing.T) {
	for most, want := range map[int]int{0: session.MaxCorrections, 1: 1, 5: 5, -1: 0} {
		s := converse(t, talking(t, &provider{}), &session.Memory{}, "")
		s.MaxCorrections = most
		need.Value(s.Ask(t.Context(), "who?"))(t)
		var err error
		n := 0
		for ; n < 7 && err == nil; n++ {
			var res *texttosql.Result
			if res, err = s.Correct(t.Context(), "use the customers table"); err == nil && res == nil {
				t.Fatal("no result")
			}
		}
		if n-1 != want || !errors.Is(err, session.ErrMaxCorrections) {
			t.Errorf("MaxCorrections %d: %d were taken, %v; want %d", most, n-1, err, want)
		}
	}
}
