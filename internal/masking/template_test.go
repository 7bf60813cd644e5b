package masking

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/words"
)

func TestTemplate(t *testing.T) {
	tests := []struct {
		name, why, question string
		literals            []string
		want                string
	}{
		{"literal", "as whole words, case aside", "How many singers are from france, not Frances?", []string{"France"},
			"how many singers are from ? not frances"},
		{"longest first", "the longer of two", "Orders on hold in Hold?", []string{"Hold", "On Hold"}, "orders ? in ?"},
		{"numbers", "all of them, groups as one", "Payments over 1,234.50 in 2004", nil, "payments over ? in ?"},
		{"like patterns", "without the marks", "Names with al", []string{"%Al%"}, "names with ?"},
		{"blank literal", "masks nothing", "A b", []string{"", " ", "%"}, "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var values [][]string
			for _, l := range tt.literals {
				values = append(values, words.Of(l))
			}
			if got := strings.Join(Template(tt.question, values), " "); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
			}
		})
	}
}
