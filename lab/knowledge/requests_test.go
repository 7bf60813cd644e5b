package knowledge_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/result"
)

// nine digits are those that votes use.
var nine = result.Equality{Digits: 9}

type requestLine struct {
	Model, Name, SQL, Postgres, Naive, Error string

	Request knowledge.Request
	Engines []string
}

// TestRequests: each request gives the rows of the statement that a person wrote for it, or is refused for its reason.
// The join of everything, which a model writes, gives others.
func TestRequests(t *testing.T) {
	engines := map[string]func(testing.TB, string) *exec.DB{"sqlite": onSQLite, "postgres": onPostgres, "mysql": onMariaDB}
	for _, engine := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(engine, func(t *testing.T) {
			open := map[string]*exec.DB{}
			equal, refused, naive := 0, 0, 0
			for line := range evaldata.Lines[requestLine](t, evaldata.Knowledge(t, "requests.jsonl")) {
				if line.Engines != nil && !slices.Contains(line.Engines, engine) {
					continue
				}
				sql, err := modelOf(t, line.Model).Compile(line.Request, engine)
				if line.Error != "" {
					var why *knowledge.RequestError
					if !errors.As(err, &why) || why.Reason != line.Error {
						t.Errorf("%s: %v %s; want %s", line.Name, err, sql, line.Error)
					}
					refused++
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", line.Name, err)
					continue
				}
				if open[line.Model] == nil {
					open[line.Model] = engines[engine](t, line.Model)
				}
				db := open[line.Model]
				got, err := db.Query(t.Context(), sql)
				if err != nil {
					t.Errorf("%s: %v\n%s", line.Name, err, sql)
					continue
				}
				byHand := line.SQL
				if engine != "sqlite" {
					byHand = cmp.Or(line.Postgres, line.SQL)
				}
				if engine == "mysql" { // what a person wrote for the other two is asked of SQLite
					byHand, db = line.SQL, onSQLite(t, line.Model)
				}
				want := testutil.Value(db.Query(t.Context(), byHand))(t, line.Name)
				if !nine.Equal(plain(got), plain(want)) {
					t.Errorf("%s: %s\n%v\nwant\n%v", line.Name, sql, got.Preview(8, 30), want.Preview(8, 30))
				}
				equal++
				if line.Naive != "" && engine == "sqlite" {
					rows := testutil.Value(db.Query(t.Context(), line.Naive))(t, line.Name)
					if nine.Equal(got, rows) {
						t.Errorf("%s: the join of everything gives the same rows", line.Name)
					}
					naive++
				}
			}
			t.Logf("%s: %d equal, %d refused, %d naive ones differ", engine, equal, refused, naive)
		})
	}
}

// plain is a table whose numbers are floats, as engines have types of their own for them.
func plain(t *result.Table) *result.Table {
	out := &result.Table{Columns: t.Columns}
	for _, row := range t.Rows {
		row = slices.Clone(row)
		for i, v := range row {
			row[i] = number(v)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
