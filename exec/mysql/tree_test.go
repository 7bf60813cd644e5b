package mysql

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sqlc-dev/marino/ast"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// TestNodesHideNothing: no type of the list keeps a part of the tree where reflection over exported fields does not see
// it.
func TestNodesHideNothing(t *testing.T) {
	node := reflect.TypeFor[ast.Node]()
	var holds func(f reflect.Type, depth int) bool
	holds = func(f reflect.Type, depth int) bool {
		switch f.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			return f.Implements(node) || holds(f.Elem(), depth)
		case reflect.Interface:
			return f.Implements(node)
		case reflect.Struct:
			if reflect.PointerTo(f).Implements(node) {
				return true
			}
			for i := range f.NumField() {
				if depth < 5 && holds(f.Field(i).Type, depth+1) {
					return true
				}
			}
		}
		return false
	}
	for list := range nodes {
		for i := range list.NumField() {
			f := list.Field(i)
			base := f.Anonymous && strings.HasSuffix(strings.ToLower(f.Name), "node") // node, exprNode, …: text and type
			if !f.IsExported() && !base && holds(f.Type, 0) {
				t.Errorf("%s.%s is a part of the tree that the walk does not see", list, f.Name)
			}
		}
	}
}

// TestTree: what a tree may not be made of.
func TestTree(t *testing.T) {
	c := newCatalog(place{database: "shop"}, []string{"insert_func"}, []string{"mine"})
	check := func(text string, ours bool) (*guard.Names, error) {
		return c.read(sqltext.MySQL().Parse(text), 0, ours)
	}
	for _, tt := range []struct {
		sql    string
		reason string // "" passes
		why    string
	}{
		{"SELECT 1", "", ""},
		{"SELECT 1 INTO OUTFILE '/tmp/x'", "not-read-only", "files"},
		{"SELECT * FROM (SELECT 1 FROM x FOR UPDATE) y", "not-read-only", "locks, however deep"},
		{"SELECT 1 LOCK IN SHARE MODE", "not-read-only", "locks"},
		{"INSERT INTO x VALUES (1)", "statement", "no query"},
		{"SELECT @a := 1", "statement", "state"},
		{"SELECT @@version", "statement", "settings"},
		{"SELECT ?", "statement", "a parameter of nobody"},
		{"SELECT DEFAULT(a) FROM x", "statement", "reads a definition"},
		{"SELECT SQL_CALC_FOUND_ROWS 1", "statement", "state"},
		{"SELECT 1; SELECT 2", "several-statements", "two"},
		{"SELECT sleep(1)", "function", "not allowed here"},
		{"SELECT `sleep`(1)", "function", "nor in quotes"},
		{"SELECT SLEEP (1)", "function", "nor with a blank"},
		{"SELECT shop.lower('a')", "function", "a function of the database is not in the list"},
		{"SELECT mine(1), shop.mine(2)", "", "allowed by the policy"},
		{"SELECT other.mine(1)", "function", "of another database"},
		{"SELECT insert('abc', 1, 1, 'x')", "function", "the parser cannot tell it from insert_func, which the database has"},
		{"SELECT 1 FROM mysql.user", "table", "another database"},
		{"SELECT repeat('x', 10000), space(5), lpad('a', 10, ' ')", "", "short"},
		{"SELECT repeat('x', 10001)", "function", "long"},
		{"SELECT rpad('x', a, 'y') FROM x", "function", "of any length"},
		{"SELECT rpad('x', 1e9, 'y')", "function", "of any length"},
		{"SELECT CAST('a' AS BINARY(100000))", "function", "padded"},
		{"SELECT CAST(a AS INT), CAST(a AS INTEGER), CAST(a AS VARCHAR(7)), CONVERT(a, INT) FROM x", "",
			"types that MariaDB has"},
		{"SELECT CAST(a AS UUID), CAST((a) AS INET6), CONVERT(lower(a), inet4), CAST(`a` AS uuid) = uuid FROM x", "",
			"types of MariaDB alone"},
		{"SELECT coalesce(a, uuid), q.inet6 FROM (SELECT a AS inet6, a AS uuid FROM x GROUP BY a, uuid) q JOIN x USING (a, " +
			"inet6)", "", "columns of these names"},
		{"SELECT CAST(sleep(1) AS UUID)", "function", "a function in a cast"},
		{"VALUES (1), (2) ORDER BY 1 LIMIT 1", "", "as MariaDB writes rows"},
		{"SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS x, (SELECT 1) AS y", "", "rows in a FROM"},
		{"SELECT a IN (VALUES (1), ((2))), a = ANY (VALUES (lower('x'), 2)) FROM x", "", "rows in a comparison"},
		{"WITH c(a) AS (VALUES (1), (2)) SELECT a FROM c UNION ALL VALUES (3) EXCEPT (VALUES (4))", "",
			"rows in a set operation"},
		{"VALUES(1),(2)", "", "without blanks"},
		{"SELECT (VALUES(1)), VALUES(a) FROM x", "", "a query, and the function of MySQL"},
		{"VALUES ROW(1), ROW(2)", "", "as MySQL writes rows"},
		{"VALUES (1), (sleep(1))", "function", "a function in a row"},
		{"SELECT 1 UNION VALUES (2), ((SELECT 3 FROM mysql.user))", "table", "another database in a row"},
		{"VALUES (1) INTO OUTFILE '/tmp/x'", "not-read-only", "files"},
		{"SELECT rank, x.of, rank() OVER () FROM x", "", "names to MariaDB"},
		{"SELECT " + strings.Repeat("-", 30000) + "1", "too-complex", "deep"},
		{"SELECT " + strings.Repeat("json_value(", 40) + "1" + strings.Repeat(",'$')", 40), "too-complex",
			"the parser would take hours"},
		{"SELECT " + strings.Repeat("1 + interval (", 40) + "1", "too-complex", "the parser would take hours"},
		{"SELECT * FROM " + strings.Repeat("((SELECT * FROM ", 40) + "x y z", "too-complex", "the parser would take hours"},
		{"SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 60) + "x" + strings.Repeat(") y", 60), "",
			"as deep as the server allows"},
		{"SELECT NOW() - INTERVAL 1 DAY" + strings.Repeat(" + INTERVAL 1 DAY", 100), "",
			"a literal and its unit are read once"},
		{"SELECT 1 FROM x" + strings.Repeat(" JOIN x", 3000), "too-complex", "the parser is quadratic"},
	} {
		_, err := check(tt.sql, false)
		var refused *exec.RefusedError
		errors.As(err, &refused)
		if (err == nil) != (tt.reason == "") || err != nil && (refused == nil || refused.Reason != tt.reason) {
			t.Errorf("%.80s (%s): %v", tt.sql, tt.why, err)
		}
	}
	users := guard.NewRelation("shop", "users", []string{"id"})
	for _, folds := range []bool{false, true} { // lower_case_table_names
		c.place.folds, c.relations = folds, map[string]*guard.Relation{"users": users}
		n, err := check("SELECT ID FROM USERS, users", false)
		if err != nil || len(n.Absent) == 0 != folds {
			t.Errorf("folds %v: %+v, %v", folds, n, err)
		}
		if _, err := check("SELECT ID FROM SHOP.users", false); (err == nil) != folds {
			t.Errorf("folds %v: %v", folds, err)
		}
	}
	if _, err := check("SELECT ?", true); err != nil {
		t.Errorf("a parameter of ours: %v", err)
	}
	_, err := check("SELECT FROM WHERE", false)
	var invalid *exec.InvalidError
	if !errors.As(err, &invalid) || invalid.Fault != "syntax" {
		t.Errorf("no SQL: %v", err)
	}
}
