package texttosql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/enginetest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestAskOnce asks one question over a real database. The other tests of this package are in internal/enginetest.
func TestAskOnce(t *testing.T) {
	engine := testutil.Value(texttosql.New(enginetest.Open(t, enginetest.Shop), enginetest.Always(enginetest.USA)))(t)

	answer := testutil.Value(engine.Ask(t.Context(), "Which customers live in the USA?"))(t)

	if diff := cmp.Diff([][]any{{"Ada"}, {"Cyd"}}, answer.Rows.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
