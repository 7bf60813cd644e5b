package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// texts are expressions of each storage class, and of the functions that make them.
var texts = []string{
	"NULL", "1", "-1", "0", "9223372036854775807", "-9223372036854775808", "9007199254740993",
	"1.5", "-0.25", "100.0", "1e15", "0.1", "1e300", "''", "'x'", "' x '", "'ü€😀'", "'a''b'",
	"'9007199254740993'", "'1.10'", "'2024-02-29'", "x'6162'", "1 = 1", "1 < 0", "NULL IS NULL", "7 / 2",
	"7 / 2.0", "7 % 2", "1 + 1.5", "'a' || 1", "~5", "1 << 40", "abs(-5)", "coalesce(NULL, 1.5)",
	"char(8364)", "hex('ab')", "ifnull(NULL, 'x')", "iif(1, 'a', 2)", "instr('abc', 'c')",
	"length('ü')", "lower('ABC')", "ltrim('  x')", "max(1, 2.5)", "min('a', 'b')", "nullif(1, 1)",
	"printf('%.2f', 1.1)", "quote('a')", "replace('abc', 'b', 'x')", "round(2.5)", "round(1.255, 2)",
	"sign(-3)", "substr('hello', 2, 3)", "trim(' x ')", "typeof(1)", "unicode('€')", "upper('abc')",
	"date('2024-02-29')", "datetime('2024-02-29 13:14:15')", "time('13:14:15')", "julianday('2024-01-01')",
	"strftime('%Y-%m', '2024-02-29')", "unixepoch('2024-01-01')", "date('2024-01-31', '+1 month')",
	"json('{\"b\": 9007199254740993, \"a\": 1.10}')", "json_extract('{\"a\": 9007199254740993}', '$.a')",
	"json_object('a', 1.5)", "(SELECT count(*))", "(SELECT sum(1.5))", "(SELECT avg(2))", "(SELECT total(1))",
	"(SELECT group_concat('a'))",
}

// TestTexts: each value reads as SQLite writes it.
func TestTexts(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a)")
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	dialecttest.SameTexts(t, db, func(e string) string { return "CAST(" + e + " AS TEXT)" }, texts)
}

// TestKinds: the page about engines shows the values as a result has them.
func TestKinds(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a)")
	dialecttest.Kinds(t, testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t), "../../docs/lab/engines.md",
		"SQLite")
}

// TestTypes: columns have their declared types, also where a statement stands around the one that was asked; what is
// stored stays.
func TestTypes(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(id INTEGER, price DECIMAL(10,2), n NUMERIC, paid BOOLEAN, day DATE, at DATETIME, "+
		"name VARCHAR(20), raw BLOB, x REAL, y); "+
		"INSERT INTO t VALUES (1, 1.1, 2, 1, '2024-02-29', '2024-02-29 10:00:00.0', 'a', x'00', 1, 'z'), "+
		"(2, 100, 1.5, 0, 'free', NULL, NULL, NULL, NULL, NULL), (3, 1.125, 3, 7, 0, 1, 2, 3, 4, 5)")
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	table := testutil.Value(db.Query(t.Context(), "SELECT *, price + 1 AS more FROM t ORDER BY id"))(t)
	want := []result.Type{
		{Name: "INTEGER", Kind: result.KindInt}, {Name: "DECIMAL(10,2)", Kind: result.KindDecimal, Scale: 2},
		{Name: "NUMERIC", Kind: result.KindDecimal, Scale: -1},
		{Name: "BOOLEAN", Kind: result.KindBool}, {Name: "DATE", Kind: result.KindDate},
		{Name: "DATETIME", Kind: result.KindDateTime}, {Name: "VARCHAR(20)", Kind: result.KindText},
		{Name: "BLOB", Kind: result.KindBlob}, {Name: "REAL", Kind: result.KindFloat}, {}, {},
	}
	if diff := cmp.Diff(want, table.Types); diff != "" {
		t.Error(diff)
	}
	rows := [][]any{{1.1, int64(1)}, {int64(100), int64(0)}, {1.125, int64(7)}}
	shown := [][]any{{result.Decimal("1.10"), true}, {result.Decimal("100.00"), false},
		{result.Decimal("1.125"), int64(7)}}
	for i := range rows {
		if diff := cmp.Diff(rows[i], []any{table.Rows[i][1], table.Rows[i][3]}); diff != "" {
			t.Errorf("row %d is not as it is stored:\n%s", i, diff)
		}
		if diff := cmp.Diff(shown[i], []any{table.Shown().Rows[i][1], table.Shown().Rows[i][3]}); diff != "" {
			t.Errorf("row %d is not shown by its type:\n%s", i, diff)
		}
	}
}
