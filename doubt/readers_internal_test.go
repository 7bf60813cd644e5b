package doubt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// TestRulesOfThePage: docs/confidence.md names the rules that read English words, and the others.
func TestRulesOfThePage(t *testing.T) {
	page := string(testutil.Value(os.ReadFile("../docs/confidence.md"))(t))
	var english, every []string
	for _, r := range readers() {
		if r.words {
			english = append(english, r.name)
		} else {
			every = append(every, r.name)
		}
	}
	for what, names := range map[string][]string{"These rules read English words:\n`": english, "The others (`": every} {
		slices.Sort(names)
		_, list, _ := strings.Cut(page, what)
		list, _, _ = strings.Cut(list, "`")
		if diff := cmp.Diff(strings.Join(names, ", "), list); diff != "" {
			t.Errorf("%s %s", what, diff)
		}
	}
}

// TestLiteral: a stored text stays a text, whatever the engine reads in it.
func TestLiteral(t *testing.T) {
	for _, tt := range []struct {
		why, text, want string
		dialect         sqltext.Dialect
	}{
		{"a quote", "O'Neill", "'O''Neill'", sqltext.SQLite()},
		{"a backslash is a letter", `a\`, `'a\'`, sqltext.SQLite()},
		{"a backslash would take the quote away", `a\`, `'a\\'`, sqltext.MySQL()},
		{"both", `\') AS o UNION SELECT 42 -- `, `'\\'') AS o UNION SELECT 42 -- '`, sqltext.MySQL()},
	} {
		h := held{&shared{answer: answer{Answer: contradict.Answer{Statement: tt.dialect.Parse("SELECT 1")}}}}
		if got := h.literal(tt.text); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}
