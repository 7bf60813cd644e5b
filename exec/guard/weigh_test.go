package guard_test

import (
	"fmt"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestWeigh: a statement that is short and grows, by itself or through views.
func TestWeigh(t *testing.T) {
	bomb := "WITH x0 AS (SELECT 1 AS a)"
	for i := range 16 {
		bomb += fmt.Sprintf(", x%d AS (SELECT p.a FROM x%d AS p, x%d AS q)", i+1, i, i)
	}
	c := shop(func(c *guard.Catalog, by map[string]*guard.Relation) {
		by["names"].Definition = bomb + " SELECT a FROM x16"
	})
	testutil.OK(t, c.Apply(guard.Policy{}))
	for sql, refused := range map[string]bool{
		"SELECT id FROM people": false, bomb + " SELECT a FROM x3": false, bomb + " SELECT a FROM x16": true,
		"SELECT a FROM names": true, "SELECT a FROM public.names": true,
		"SELECT a FROM other.names": false,
	} {
		_, err := c.Weigh(c.Text.Parse(sql))
		if got := err != nil; got != refused {
			t.Errorf("%.60s … %v: %v", sql, refused, err)
		}
	}
}

// TestWeighBounds: a large view is no reason to multiply anything else, and conditions have a bound of their own.
func TestWeighBounds(t *testing.T) {
	stack := "SELECT " + strings.Repeat("(", 12) + "id" + strings.Repeat(" + id)", 12) + " AS a FROM people"
	for range 6 {
		stack = "SELECT a + a + a AS a FROM (" + stack + ") AS s"
	}
	doubled := "WITH x0 AS (SELECT 1 AS a)"
	for i := range 12 {
		doubled += fmt.Sprintf(", x%d AS (SELECT p.a FROM x%d AS p, x%d AS q)", i+1, i, i)
	}
	for _, test := range []struct {
		why, sql     string
		most, beside int
		refused      bool
	}{
		{"the view itself", "SELECT a FROM names", 1_000_000, 0, false},
		{"the view beyond the bound of its engine", "SELECT a FROM names", 1_000, 0, true},
		{"what the author doubles, beside a large view", doubled + " SELECT x12.a FROM x12, names", 1_000_000, 0, true},
		{"the view that the author doubles", "WITH v AS (SELECT a FROM names), w AS (SELECT p.a FROM v p, v q), " +
			"x AS (SELECT p.a FROM w p, w q) " +
			"SELECT p.a FROM x p, x q", 1_000_000, 0, true},
		{"a column of it in a condition", "SELECT 1 FROM names WHERE a > 1", 1_000_000, 100_000, false},
		{"in a condition that is bounded", "SELECT 1 FROM names WHERE a > 1", 1_000_000, 1_000, true},
		{"in a select list, where conditions are bounded", "SELECT a FROM names", 1_000_000, 1_000, false},
	} {
		c := shop(func(c *guard.Catalog, by map[string]*guard.Relation) {
			by["names"].Definition, c.MostExpanded, c.MostBeside = stack, test.most, test.beside
		})
		testutil.OK(t, c.Apply(guard.Policy{}))
		if _, err := c.Weigh(c.Text.Parse(test.sql)); (err != nil) != test.refused {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}
