package modernc_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/exec/sqlite/modernc"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestOrder: the order of a tenant's own rows does not depend on hidden rows. ANALYZE of this driver also stores
// samples of values.
func TestOrder(t *testing.T) {
	n := attack.Order(t, exectest.Engine{Dialect: sqlite.Dialect{},
		Open: func(t testing.TB, script string) exectest.Database {
			connector := modernc.Connector{DSN: "file:" + filepath.Join(t.TempDir(), "test.db")}
			pool := sql.OpenDB(connector)
			defer pool.Close()
			testutil.Value(pool.Exec(script))(t)
			return exectest.Database{User: connector}
		}}, "ANALYZE", true)
	if t.Logf("%+v", n); n.Answered < attack.OrderAnswers() {
		t.Error("too few answers")
	}
}
