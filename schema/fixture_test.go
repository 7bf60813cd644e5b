package schema_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// forms are all of them.
var forms = []schema.Form{schema.DDL, schema.Code, schema.MSchema}

// render writes s, which must not fail.
func render(tb testing.TB, r schema.Renderer, s *schema.Schema) schema.Rendering {
	tb.Helper()
	out := testutil.Value(r.Render(context.Background(), s))(tb)
	return out
}

// reductions writes what a text was shortened by, one line a table.
func reductions(r schema.Rendering) string {
	var b strings.Builder
	for _, x := range r.Reduced {
		fmt.Fprintf(&b, "reduced: {Schema:%s Table:%s Step:%s Columns:%d}\n", x.Table.Schema, x.Table.Name, x.Step, x.Columns)
	}
	return b.String()
}
