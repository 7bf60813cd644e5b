package mysql_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/sqltext"
)

// prepares is a held connection that only compiles.
type prepares struct {
	exec.Held
	conn  *sql.Conn
	asked int
}

func (p *prepares) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	p.asked++
	stmt, err := p.conn.PrepareContext(ctx, s.SQL())
	if err == nil {
		err = stmt.Close()
	}
	return exec.Analysis{}, mysql.ClassifyError(err)
}

// TestMisread: the server takes each "x" for a string. Misread returns those that a column in reach is named after.
func TestMisread(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(name TEXT, `it``s` INT); CREATE TABLE u(total INT)", "")
	p := &prepares{conn: one(t, pool)}
	ansi := sqltext.MySQL()
	ansi.DoubleQuotedStrings = false
	for _, c := range []struct {
		sql  string
		want []string
		why  string
	}{
		{`SELECT "name" FROM t`, []string{"name"}, "the word name in each row"},
		{`SELECT "name", "NAME" FROM t`, []string{"name", "NAME"}, "names have no case"},
		{"SELECT \"it`s\" FROM t", []string{"it`s"}, "a name with a backquote"},
		{`SELECT "total" FROM t`, nil, "the column of another table: a label"},
		{`SELECT "USA" FROM t`, nil, "a string"},
		{`SELECT CONCAT(name, " ", "x") FROM t`, nil, "parts of a text"},
		{`SELECT name FROM t ORDER BY "name"`, []string{"name"}, "sorts by a constant"},
		{`SELECT name FROM t WHERE 'a"name"b' = name`, nil, "inside of a string"},
	} {
		s, err := sqltext.MySQL().Check(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		quoted := slices.DeleteFunc(slices.Clone(ansi.Parse(c.sql).Columns()), func(r sqltext.ColumnRef) bool { return r.Quote != '"' })
		names, err := mysql.Dialect{}.Misread(t.Context(), p, s, quoted)
		for _, name := range names {
			got = append(got, name.Column)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q (%s)", c.sql, got, err, c.want, c.why)
		}
	}
	p.asked = 0
	if _, err := (mysql.Dialect{}).Misread(t.Context(), p, ansi.Parse(`SELECT "x" FROM t`), ansi.Parse(`SELECT "x" FROM t`).Columns()); err != nil || p.asked > 0 {
		t.Errorf("ANSI_QUOTES: asked %d times, %v", p.asked, err)
	}
}
