package doubt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
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
