package docstest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestRootPage: what "go doc" shows of the package stays short enough to find New in it. A Question is no option:
// WithID and WithUser are.
func TestRootPage(t *testing.T) {
	page := string(testutil.Value(os.ReadFile("internal/apitext/testdata/texttosql.txt"))(t))
	options := regexp.MustCompile(`(?m)^func With.*`).FindAllString(page, -1)
	if len(options) > 29 {
		t.Errorf("%d options, want at most 29: %s", len(options), strings.Join(options, "\n"))
	}
	for _, o := range options {
		if !strings.HasSuffix(o, ") Option") && !strings.HasSuffix(o, ") AskOption") {
			t.Errorf("a third kind of option: %s", o)
		}
	}
	for _, elsewhere := range []string{"FailureClass", "StateError", "InterruptedError", "ErrNotStandalone",
		"ErrForgotten"} {
		if strings.Contains(page, elsewhere) {
			t.Errorf("%s stands between a reader and New", elsewhere)
		}
	}
}
