package guard_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

func TestCheckValues(t *testing.T) {
	for _, test := range []struct{ why, condition, column, values string }{
		{"a list", "kind IN ('bug','wish')", "kind", "'bug', 'wish'"},
		{"as MariaDB writes it", "`kind` in ('bug','wish')", "kind", "'bug', 'wish'"},
		{"as PostgreSQL writes it", "((kind = ANY (ARRAY['bug'::text, 'wish'::text])))", "kind", "'bug', 'wish'"},
		{"a varchar there", "(((kind)::text = ANY ((ARRAY['bug'::character varying, 'wish'::character varying])::text[])))",
			"kind", "'bug', 'wish'"},
		{"a domain", "CHECK ((VALUE = ANY (ARRAY['a'::text, 'b'::text])))"[6:], "VALUE", "'a', 'b'"},
		{"terms", "kind = 'bug' OR kind='wish' OR Kind IS NULL", "kind", "'bug', 'wish'"},
		{"terms of PostgreSQL", "((kind = 'bug'::text) OR (kind = 'wish'::text))", "kind", "'bug', 'wish'"},
		{"numbers", "(level in (1, -2, 3.5) or level is null)", "level", "1, -2, 3.5"},
		{"a quoted name", `"my kind" IN ('it''s')`, "my kind", "'it''s'"},
		{"one value twice", "a = 1 OR a = 1", "a", "1"},
		{"a negation", "kind NOT IN ('a')", "", ""},
		{"another comparison", "level > 5", "", ""},
		{"AND", "kind IN ('a') AND level IN (1)", "", ""},
		{"two columns", "kind = 'a' OR level = 1", "", ""},
		{"a function", "lower(kind) IN ('a')", "", ""},
		{"a column in the list", "kind IN ('a', other)", "", ""},
		{"nothing", "", "", ""},
		{"many", "a IN (" + strings.Repeat("1,", 200) + "2)", "a", "1, 2"},
	} {
		column, values := guard.NewText(sqltext.PostgreSQL().Parse(test.condition)).CheckValues()
		if strings.Contains(test.condition, "`") {
			column, values = guard.NewText(sqltext.MySQL().Parse(test.condition)).CheckValues()
		}
		if diff := cmp.Diff([]string{test.column, test.values}, []string{column, strings.Join(values, ", ")}); diff != "" {
			t.Errorf("%s: %s: %s", test.why, test.condition, diff)
		}
	}
	const create = `CREATE TABLE t(kind TEXT CHECK (kind IN ('a)', 'b')), "check" INT, n INT, CONSTRAINT c CHECK((n) > 5) -- CHECK (x IN (1))
)`
	if diff := cmp.Diff([]string{"kind IN ('a)', 'b')", "(n) > 5"},
		guard.NewText(sqltext.SQLite().Parse(create)).Checks(create)); diff != "" {
		t.Error(diff)
	}
}

func FuzzCheckValues(f *testing.F) {
	for _, text := range []string{"kind IN ('a')", "((a = ANY (ARRAY['b'::text])))", "a = 1 OR", "::", "CHECK (CHECK (a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if column, values := guard.NewText(sqltext.PostgreSQL().Parse(text)).CheckValues(); column == "" && len(values) > 0 {
			t.Errorf("values without a column: %q", values)
		}
		guard.NewText(sqltext.SQLite().Parse(text)).Checks(text)
	})
}
