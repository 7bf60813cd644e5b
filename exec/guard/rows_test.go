package guard_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestQueryFails: an error of the query itself, behind the preparation, is told.
func TestQueryFails(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
	defer pool.Close()
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	if rows, _, err := guard.Query(t.Context(), conn, "SELECT ?"); err == nil {
		rows.Close()
		t.Error("a parameter without a value")
	}
}

// TestAssign: a column becomes what it is scanned into, and NULL becomes only what may be nothing.
func TestAssign(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
	defer pool.Close()
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	scan := func(text string, dest ...any) error {
		return guard.QueryEach(t.Context(), conn, text, func(scan func(...any) error) error { return scan(dest...) })
	}
	var (
		s    string
		i    int
		long int64
		f    float64
		yes  bool
		b    []byte
		raw  sql.RawBytes
		null sql.NullString
		a    any
	)
	if err := scan("SELECT 'x', 7, 8, 1.5, 1, x'01', x'02', NULL, 'y'", &s, &i, &long, &f, &yes, &b, &raw, &null,
		&a); err != nil {
		t.Fatal(err)
	}
	if s != "x" || i != 7 || long != 8 || f != 1.5 || !yes || len(b) != 1 || b[0] != 1 || len(raw) != 1 || raw[0] != 2 ||
		null.Valid || a != "y" {
		t.Error(s, i, long, f, yes, b, raw, null, a)
	}
	if err := scan("SELECT NULL", &raw); err != nil || raw != nil {
		t.Errorf("no bytes: %v, %v", raw, err)
	}
	if err := scan("SELECT 'text'", &raw); err != nil || string(raw) != "text" {
		t.Errorf("bytes of a text: %q, %v", raw, err)
	}
	var other complex128
	for text, dest := range map[string]any{"SELECT NULL": &s, "SELECT 'x'": &i, "SELECT 1": &other,
		"SELECT NULL AS n": &long} {
		if err := scan(text, dest); err == nil {
			t.Errorf("%s into a %T", text, dest)
		}
	}
	if err := scan("SELECT 1, 2", &i); err == nil {
		t.Error("two columns into one variable")
	}
}
