package guard_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

func TestMasked(t *testing.T) {
	for _, test := range []struct{ why, message, opening, closing, want string }{
		{"nothing is quoted", "division by zero", `"`, `"`, "division by zero"},
		{"a value", `invalid input for integer: "s3cret"`, `"`, `"`, `invalid input for integer: "…"`},
		{"two values, and what stands between them", "'a' is not 'b' here", "'", "'", "'…' here"},
		{"no end", "near 's3cret", "'", "'", "near '…"},
		{"other marks at the end", "cast (s3cret) failed", "'(", "')", "cast (…) failed"},
		{"an end before the beginning", "a) and (s3cret", "(", ")", "a) and (…"},
	} {
		if got := guard.Masked(test.message, test.opening, test.closing); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

func TestSplitList(t *testing.T) {
	for _, test := range []struct {
		why, list string
		want      []string
	}{
		{"one part", "integer", []string{"integer"}},
		{"brackets", "decimal(3,1), map(varchar, row(a integer, b date))", []string{"decimal(3,1)", "map(varchar, row(a integer, b date))"}},
		{"quotes", `"a, (b" integer, c date`, []string{`"a, (b" integer`, "c date"}},
	} {
		if diff := cmp.Diff(test.want, guard.SplitList(sqltext.Trino(), test.list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
	}
}

// TestReadSet: the order does not depend on that of a map, and growth is told.
func TestReadSet(t *testing.T) {
	of := func(in, name string) *guard.Relation {
		return guard.RelationOf(in, &schema.Table{Name: name, Columns: []schema.Column{{Name: "a"}, {Name: "b"}}})
	}
	a, b, s := of("main", "a"), of("main", "b"), guard.ReadSet{}
	if got := s.Reads(); got == nil || len(got) > 0 {
		t.Errorf("nothing was read: %v", got)
	}
	for _, test := range []struct {
		why     string
		r       *guard.Relation
		columns []string
		want    bool
	}{
		{"a relation", b, nil, true}, {"the same", b, nil, false}, {"another one", a, []string{"b", "a"}, true},
		{"a column that is there", a, []string{"a"}, false}, {"a new column", b, []string{"a"}, true},
	} {
		if got := s.Add(test.r, test.columns...); got != test.want {
			t.Errorf("%s: grown %t", test.why, got)
		}
	}
	var got []string
	for _, read := range s.Reads() {
		got = append(append(got, read.Relation.Name), read.Columns...)
	}
	if diff := cmp.Diff([]string{"a", "a", "b", "b", "a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQuery: after an error nothing is left open, and a connection that is dropped is gone.
func TestQuery(t *testing.T) {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := guard.Query(t.Context(), conn, "SELECT"); err == nil {
		t.Error("half a statement")
	}
	rows, statement, err := guard.Query(t.Context(), conn, "SELECT ? + 1", 1)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	for rows.Next() {
		err = rows.Scan(&n)
	}
	if err = errors.Join(err, rows.Err(), rows.Close(), statement.Close()); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if err := errors.Join(guard.Drop(conn), guard.Drop(conn)); err != nil {
		t.Errorf("dropped twice: %v", err)
	}
	if open := pool.Stats().OpenConnections; open > 0 {
		t.Errorf("%d connections are open", open)
	}
}
