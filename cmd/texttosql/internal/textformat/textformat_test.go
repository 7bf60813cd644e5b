package textformat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// TestEscaped: no text is a formula to a spreadsheet, and what is not a formula stays as it is.
func TestEscaped(t *testing.T) {
	const formula = true
	for _, tt := range []struct {
		why     string
		value   any
		escaped bool
	}{
		{"equals", "=1+1", formula},
		{"plus", "+1+1", formula},
		{"minus", "-1+1", formula},
		{"at", "@SUM(1)", formula},
		{"a sign alone", "-", formula},
		{"fullwidth equals", "＝1+1", formula},
		{"fullwidth plus", "＋1+1", formula},
		{"fullwidth minus", "－1+1", formula},
		{"fullwidth at", "＠SUM(1)", formula},
		{"small equals", "﹦1+1", formula},
		{"a blank in front", " =1+1", formula},
		{"blanks and a fullwidth sign", "  ＝1+1", formula},
		{"a blank that does not break", "\u00a0=1+1", formula},
		{"a blank of Chinese", "\u3000=1+1", formula},
		{"a tab in front", "\t=1+1", formula},
		{"a carriage return in front", "\r=1+1", formula},
		{"a line end in front", "\n=1+1", formula},
		{"a NUL in front", "\x00=1+1", formula},
		{"a zero-width blank in front", "\u200b=1+1", formula},
		{"a byte order mark in front", "\ufeff=1+1", formula},
		{"a mark of direction in front", "\u202e=1+1", formula},
		{"a filler that shows nothing", "\u3164=1+1", formula},
		{"a byte that is not UTF-8 in front", "\xff=1+1", formula},
		{"several of them", " \u200b\t\ufeff＝1+1", formula},
		{"a number and more", "-5;=1+1", formula},
		{"a number with a blank in front", " -5+cmd", formula},
		{"a telephone number of several parts", "+49 30 1234", formula},
		{"a tab alone", "\tx", formula},

		{"nothing", "", !formula},
		{"blanks alone", "  ", !formula},
		{"a word", "Ada", !formula},
		{"a word behind a blank", " Ada", !formula},
		{"a sign in the middle", "a=1", !formula},
		{"an address", "ada@example.org", !formula},
		{"a day", "2026-11-28", !formula},
		{"quoted already", "'=1+1", !formula},
		{"a long dash of a list", "– item", !formula},
		{"a negative number as text", "-5", !formula},
		{"a negative decimal as text", "-1,234.50", !formula},
		{"a signed number as text", "+5", !formula},
		{"with an exponent", "-1.5e-7", !formula},
		{"a negative integer", int64(-5), !formula},
		{"a negative float", -0.5, !formula},
		{"a negative decimal", result.Decimal("-1.10"), !formula},
		{"NULL", nil, !formula},
	} {
		got := Escaped(&result.Table{Columns: []string{"a"}, Rows: [][]any{{tt.value}}}).Rows[0][0]
		want := tt.value
		if text, ok := want.(string); ok && tt.escaped {
			want = "'" + text
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
	head := Escaped(&result.Table{Columns: []string{"＝1+1", "total"}, Rows: [][]any{{int64(-5), "-5"}}})
	var csv strings.Builder
	testutil.OK(t, head.WriteCSV(&csv))
	if want := "'＝1+1,total\n-5,-5\n"; csv.String() != want {
		t.Errorf("%q, want %q", csv.String(), want)
	}
}
