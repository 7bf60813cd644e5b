package trino

import (
	"errors"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

const (
	// catalogTime is how long the guard believes what the server told it about a table or a view.
	catalogTime = time.Minute
	// statementTime is how long a statement that was admitted need not be judged again.
	statementTime = 5 * time.Second
)

// guard is the bridge.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig
	without string // for tests of the other walls: "words" or "tables" is off

	mu      sync.Mutex
	checked bool               // the names of the policy were looked up
	columns map[table][]string // of tables that were read
	denied  map[column]bool    // the server itself refuses them
	views   map[table]view
	writes  map[home]bool // the user may make tables there
	since   time.Time     // of all that
	version remembered
}

// table is a table or view, in the lower case of the server.
type table struct{ catalog, schema, name string }

type column struct {
	table
	name string
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) guarded(c exec.GuardConfig) (bridge.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("trino: GuardConfig.CellBytes is negative")
	}
	return &guard{dialect: d, config: c}, nil
}

// fresh forgets what is old. The caller holds g.mu.
func (g *guard) fresh() {
	if g.columns == nil || time.Since(g.since) > catalogTime {
		g.columns, g.denied, g.views, g.writes, g.since = map[table][]string{}, map[column]bool{}, nil, map[home]bool{}, time.Now()
	}
}
