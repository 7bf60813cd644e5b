package attack

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// OrderCounts are the reads of [Order].
type OrderCounts struct {
	Reads, Answered, Differ, MovedDiffer int // Differ is of all, MovedDiffer of those of [MovedStatements]
}

// Order runs [OrderStatements] and [MovedStatements] as a tenant in the states of [HiddenStates], and compares the rows
// in order: as lists, cut by our own limit, and as streams. Rows of samples and profiles of the tables are compared
// too. It fails t for each that differs. analyze is the owner's script that makes statistics; always says to run it
// behind each change.
func Order(t *testing.T, e exectest.Engine, analyze string, always bool) (n OrderCounts) {
	t.Helper()
	engine := e.Dialect.Language().Name
	opened := e.Open(t, OrderScript(engine))
	connector := opened.Owner
	if connector == nil {
		connector = opened.User
	}
	owner := sql.OpenDB(connector)
	defer owner.Close()
	reads := orderReads(engine)
	states := HiddenStates()
	if race.Enabled {
		states = states[:2]
	}
	for _, state := range states {
		testutil.Value(owner.ExecContext(t.Context(), WithoutHidden()+state.Rows))(t)
		if state.Analyze || always {
			testutil.Value(owner.ExecContext(t.Context(), analyze))(t)
		}
		tellReads(t, e, opened, reads, state)
	}
	for _, read := range reads {
		n.Reads++
		if strings.HasPrefix(read.first, "{") {
			n.Answered++
		} else {
			t.Logf("%s: %s: %s", read.how, read.text, read.first)
		}
		if read.differs {
			n.Differ++
		}
		if read.differs && read.why == moved {
			n.MovedDiffer++
		}
	}
	return n
}

// orderRead is one call whose rows are compared.
type orderRead struct {
	how, text, why string
	first          string // what is read without a hidden row
	differs        bool
}

const moved = "the bound of a range moves"

// orderReads are the calls of [Order]: each statement as a list, and an attack without LIMIT also cut or streamed in
// turns.
func orderReads(engine string) (all []*orderRead) {
	for i, s := range OrderStatements(engine) {
		all = append(all, &orderRead{how: "query", text: s.SQL, why: s.Why})
		if !strings.Contains(s.SQL, " LIMIT ") {
			all = append(all, &orderRead{how: []string{"cut", "stream"}[i%2], text: s.SQL, why: s.Why})
		}
	}
	for _, text := range MovedStatements(engine) {
		all = append(all, &orderRead{how: "query", text: text, why: moved})
	}
	for _, table := range OrderTables {
		for _, how := range []string{"sample", "spread sample", "profile"} {
			all = append(all, &orderRead{how: how, text: table, why: "rows of one table"})
		}
	}
	return all
}

// tellReads makes the calls for the tenant on new connections. The bounds move where few rows are hidden, the other
// calls are made where many are or none beside the ends.
func tellReads(t *testing.T, e exectest.Engine, opened exectest.Database, reads []*orderRead, state HiddenState) {
	t.Helper()
	pool := sql.OpenDB(opened.User)
	defer pool.Close()
	policy := exec.Policy{Rows: OrderRules(), Reveal: []string{"*"}}
	view := testutil.Value(dbtest.ReadyDB(t, pool, e.Dialect, exec.Config{Policy: policy}).
		For(&exec.Scope{Key: "red", Params: map[string]any{"team": 1}}, nil))(t)
	runners := map[string]*exec.Runner{}
	for how, bounds := range map[string]exec.Bounds{"query": {Timeout: time.Minute},
		"cut": {Rows: 7, Timeout: time.Minute}, "stream": {}} {
		r := testutil.Value(view.Runner(bounds))(t)
		defer r.Close()
		runners[how] = r
	}
	for _, read := range reads {
		if read.differs || read.why != moved && state.Moved || read.why == moved && state.Others {
			continue
		}
		got := tellRead(t.Context(), view, runners, *read)
		if read.first == "" {
			read.first = got
		}
		if read.differs = got != read.first; read.differs {
			t.Errorf("%s: %s\n(%s)\n\t%.300s\nwith %s\n\t%.300s", read.how, read.text, read.why, read.first, state.Name, got)
		}
	}
}

// tellRead is what the tenant reads, in order.
func tellRead(ctx context.Context, view *exec.DB, runners map[string]*exec.Runner, read orderRead) string {
	switch read.how {
	case "stream":
		return tellStream(ctx, runners["stream"], read.text)
	case "sample", "spread sample", "profile":
		return tellTable(ctx, view, read)
	}
	table, err := runners[read.how].Query(ctx, read.text)
	return told(table, err)
}

// told is all of a result, or the error.
func told(all any, err error) string {
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Sprintf("%+v", all)
	}
	return string(text)
}

func tellStream(ctx context.Context, r *exec.Runner, text string) string {
	s, err := result.NewStream(ctx, func(ctx context.Context, to *result.RowWriter) error {
		return r.Stream(ctx, text, to)
	})
	if err != nil {
		return err.Error()
	}
	var rows [][]any
	for row, err := range s.Rows() {
		if err != nil {
			return err.Error()
		}
		rows = append(rows, row)
	}
	return told(result.Table{Columns: s.Columns, Rows: rows}, nil)
}

func tellTable(ctx context.Context, view *exec.DB, read orderRead) string {
	s, err := view.Schema(ctx)
	if err != nil {
		return err.Error()
	}
	i := slices.IndexFunc(s.Tables, func(x schema.Table) bool { return x.Name == read.text })
	if read.how == "profile" {
		p, err := view.Profile(ctx, &schema.Schema{Tables: s.Tables[i : i+1]}, exec.ProfileOptions{})
		return told(p, err)
	}
	table, err := view.Sample(ctx, s.Tables[i], exec.SampleOptions{Rows: 5, Spread: read.how == "spread sample"})
	return told(table, err)
}

// OrderAnswers is how many reads an engine answers at least; fewer would compare too little. The race detector sees
// fewer reads.
func OrderAnswers() int {
	if race.Enabled {
		return 300
	}
	return 600
}
