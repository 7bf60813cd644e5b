package texttosql

import (
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/memory"
)

// TestEmptyShare: of confirmed answers whose values were looked at, how many had none.
func TestEmptyShare(t *testing.T) {
	yes, no := new(true), new(false)
	for _, tt := range []struct {
		valueless    []*bool
		empty, known int
	}{
		{nil, 0, 0}, {[]*bool{nil, nil}, 0, 0}, {[]*bool{no}, 0, 1}, {[]*bool{yes}, 1, 1}, {[]*bool{yes, nil, no, no}, 1, 3},
	} {
		var pairs []memory.Exemplar
		for _, v := range tt.valueless {
			pairs = append(pairs, memory.Exemplar{Valueless: v})
		}
		want := 0.0
		if tt.known > 0 {
			want = doubt.Rules{}.LearnEmptyRate(tt.empty, tt.known)
		}
		golden.Equal(t, want, emptyShare(pairs), "pairs")
	}
}
