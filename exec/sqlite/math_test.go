package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
)

// withMath is a pool whose connections have the functions of sqlite.Math.
func withMath(t testing.TB, file string) *sql.DB {
	t.Helper()
	pool := sql.OpenDB(hooked{file, func(c *sqlite3.SQLiteConn) error {
		return sqlite.Math(func(name string, f any) error { return c.RegisterFunc(name, f, true) })
	}})
	t.Cleanup(func() { pool.Close() })
	return pool
}

// TestMath: a program that registers the functions has them as SQLite documents them (sqlite.org/lang_mathfunc.html),
// and one that does not is told which build has them.
func TestMath(t *testing.T) {
	_, file := open(t, fixture)
	db := testutil.Value(exec.New(withMath(t, file), sqlite.Dialect{Math: true}, exec.Config{}))(t)
	for _, tc := range []struct {
		call string
		want any
	}{
		{"sqrt(16)", 4.0}, {"sqrt('16')", 4.0}, {"sqrt(' 1.6e1 ')", 4.0}, {"sqrt(-1)", nil}, {"sqrt(NULL)", nil},
		{"sqrt('x')", nil}, {"sqrt('0x10')", nil},
		{"sqrt('1_6')", nil}, {"sqrt('inf')", nil}, {"sqrt(x'31')", nil}, {"pow(2, 10)", 1024.0},
		{"power(2, 0.5)", math.Sqrt2}, {"pow(2, NULL)", nil},
		{"floor(-1.5)", -2.0}, {"ceil(1.2)", 2.0}, {"ceiling(-1.2)", -1.0}, {"trunc(-1.9)", -1.0},
		{"floor(9007199254740993)", int64(9007199254740993)},
		{"trunc('7')", int64(7)}, {"ln(1)", 0.0}, {"ln(0)", nil}, {"ln(-1)", nil}, {"log(1000)", 3.0},
		{"log10(0.001)", -3.0}, {"log2(8)", 3.0}, {"log(2, 8)", 3.0},
		{"log(1, 8)", nil}, {"log(0, 8)", nil}, {"log(10, 0)", nil}, {"log10('abc')", nil}, {"exp(0)", 1.0},
		{"exp(1)", math.E}, {"mod(7, 3)", 1.0}, {"mod(-7.5, 2)", -1.5},
		{"mod(1, 0)", nil}, {"pi()", math.Pi}, {"degrees(pi())", 180.0}, {"radians(180)", math.Pi},
		{"atan2(1, 1)", math.Pi / 4}, {"acos(2)", nil}, {"sin(0)", 0.0},
		{"cosh(0)", 1.0}, {"tanh(0)", 0.0}, {"asin(1)", math.Pi / 2}, {"acosh(1)", 0.0}, {"atanh(0)", 0.0},
		{"asinh(0)", 0.0}, {"tan(0)", 0.0}, {"sinh(0)", 0.0}, {"cos(0)", 1.0},
		{"sqrt(avg(a * a) - avg(a) * avg(a))", nil},
	} {
		table, err := db.Query(t.Context(), "SELECT "+tc.call+" FROM t")
		if err != nil {
			t.Errorf("%s: %v", tc.call, err)
			continue
		}
		got, isFloat := table.Rows[0][0].(float64)
		want, wantFloat := tc.want.(float64)
		switch {
		case strings.HasPrefix(tc.call, "sqrt(avg"):
			if !isFloat || got <= 0 {
				t.Errorf("%s = %v", tc.call, table.Rows[0][0])
			}
		case isFloat && wantFloat:
			if math.Abs(got-want) > 1e-15*math.Max(1, math.Abs(want)) {
				t.Errorf("%s = %v, want %v", tc.call, got, want)
			}
		case fmt.Sprintf("%T %v", table.Rows[0][0], table.Rows[0][0]) != fmt.Sprintf("%T %v", tc.want, tc.want):
			t.Errorf("%s = %T %v, want %T %v", tc.call, table.Rows[0][0], table.Rows[0][0], tc.want, tc.want)
		}
	}
	careful := testutil.Value(exec.New(withMath(t, file), sqlite.Dialect{}, exec.Config{}))(t)
	if _, err := careful.Query(t.Context(), "SELECT sqrt(4)"); !errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("functions of the program that nobody vouched for: %v", err)
	}
	failing := errors.New("full")
	if err := sqlite.Math(func(string, any) error { return failing }); !errors.Is(err, failing) {
		t.Errorf("an error of the driver: %v", err)
	}
}

// ExampleMath makes a pool whose statements may call sqrt, ln, power and the other functions, whatever the driver was
// built with.
func ExampleMath() {
	sql.Register("sqlite3_math", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return sqlite.Math(func(name string, f any) error { return c.RegisterFunc(name, f, true) })
	}})
	pool, err := sql.Open("sqlite3_math", "file::memory:")
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	// or texttosql.WithDialect(sqlite.Dialect{Math: true})
	db, err := exec.New(pool, sqlite.Dialect{Math: true}, exec.Config{})
	if err != nil {
		panic(err)
	}
	table, err := db.Query(context.Background(), "SELECT sqrt(16), log10(1000), floor(-1.5)")
	fmt.Println(table.Rows, err)
	// Output: [[4 3 -2]] <nil>
}
