package trino_test

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// look is the text check and what the guard decides before it asks the server.
func look(text string) error {
	s, err := sqltext.Trino().Check(text)
	if err != nil {
		return err
	}
	return trino.Look(trino.Dialect{Catalogs: []string{"tpch", "system"}}, exec.Policy{}, s)
}

// statements reads a file of testdata: a statement a line, in Go's quotes where a line cannot hold it, below # and a
// reason.
func statements(t *testing.T, name string) (all []string, why map[string]string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	why = map[string]string{}
	reason := ""
	for text := range strings.Lines(string(raw)) {
		text = strings.TrimSuffix(text, "\n")
		if strings.HasPrefix(text, "# ") {
			reason = text[2:]
			continue
		}
		if strings.HasPrefix(text, `"`) {
			if text, err = strconv.Unquote(text); err != nil {
				t.Fatalf("%s: %q: %v", name, text, err)
			}
		}
		all = append(all, text)
		why[text] = reason
	}
	return all, why
}

// TestHostile: none of these reaches a server.
func TestHostile(t *testing.T) {
	all, why := statements(t, "hostile.txt")
	nested := "SELECT " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300)
	all = append(all, nested, doubled(20))
	why[nested], why[doubled(20)] = "it is nested too deep for any parser", "it doubles with each common table expression"
	for _, text := range all {
		err := look(text)
		if !errors.As(err, new(*exec.RefusedError)) && !errors.As(err, new(*sqltext.RefusedError)) {
			t.Errorf("%s: %.200s: %v", why[text], text, err)
		}
	}
	t.Logf("%d statements", len(all))
}

// doubled is a statement that doubles with each of n common table expressions.
func doubled(n int) string {
	text := "WITH c0 AS (SELECT 'x' AS a)"
	for i := range n {
		before := "c" + strconv.Itoa(i)
		text += ", c" + strconv.Itoa(i+1) + " AS (SELECT p.a || q.a AS a FROM " + before + " p, " + before + " q)"
	}
	return text + " SELECT a FROM c" + strconv.Itoa(n)
}

// TestHarmless: none of these is refused before the server is asked.
func TestHarmless(t *testing.T) {
	all, _ := statements(t, "harmless.txt")
	for _, text := range all {
		if err := look(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzLook: whatever the text, the guard neither panics nor lets a call through that is not on its list.
func FuzzLook(f *testing.F) {
	for _, text := range []string{
		"SELECT 1", "WITH c AS (SELECT 1) SELECT 2",
		"SELECT spy(1)", `SELECT "spy" (1)`, "WITH c(a) AS (SELECT 1) SELECT lower('x') FROM c t(b)",
		"SELECT * FROM TABLE(f(1))", "SELECT repeat(repeat('x', 9), 9)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := look(text)
		if called := strings.Replace(text, "SELECT 1", "SELECT spy(2)", 1); err == nil && called != text {
			s, err := sqltext.Trino().Check(called)
			if err != nil {
				return
			}
			for token := range s.Tokens() {
				if token.Kind == sqltext.Word && token.Text == "spy" && trino.Look(trino.Dialect{}, exec.Policy{}, s) == nil {
					t.Errorf("%q lets a call through", called)
				}
			}
		}
	})
}

// rulesSchema has tables in two catalogs, a view, and names that are patterns to a regular expression.
func rulesSchema() *schema.Schema {
	columns := []schema.Column{{Name: "id"}, {Name: "Password"}}
	return &schema.Schema{Default: "shop", Tables: []schema.Table{
		{Schema: "shop", Name: "users", Kind: "table", Columns: columns},
		{Schema: "shop", Name: "logins", Kind: "view", Columns: columns},
		{Schema: "tpch.tiny", Name: "a.b|c", Kind: "table", Columns: columns[:1]},
	}}
}

func TestAccessRules(t *testing.T) {
	for _, test := range []struct {
		why    string
		policy exec.Policy
		want   []string // catalog/schema/table/denied columns of the rules with SELECT
	}{
		{"no policy: everything, views too", exec.Policy{}, []string{"hive/shop/users", "hive/shop/logins",
			`tpch/tiny/a\.b\|c`}},
		{"a denied column, no views", exec.Policy{DenyColumns: []string{"users.password"}},
			[]string{"hive/shop/users/password", `tpch/tiny/a\.b\|c`}},
		{"a denied column of every table", exec.Policy{DenyColumns: []string{"PASSWORD"}},
			[]string{"hive/shop/users/password", `tpch/tiny/a\.b\|c`}},
		{"a denied table", exec.Policy{DenyTables: []string{"users"}}, []string{"hive/shop/logins", `tpch/tiny/a\.b\|c`}},
		{"an allowed table only", exec.Policy{AllowTables: []string{"shop.users"}}, []string{"hive/shop/users"}},
		{"an allowed view, a denied column", exec.Policy{AllowTables: []string{"logins"},
			DenyColumns: []string{"users.password"}}, []string{"hive/shop/logins"}},
		{"a table of another catalog", exec.Policy{DenyTables: []string{`tpch.tiny."a.b|c"`}},
			[]string{"hive/shop/users", "hive/shop/logins"}},
	} {
		raw, err := trino.AccessRules(test.policy, "read.er", "hive", rulesSchema())
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		var file map[string][]map[string]any
		testutil.OK(t, json.Unmarshal(raw, &file))
		var got []string
		for section, rules := range file {
			for _, rule := range rules {
				if rule["user"] != `read\.er` && rule["original_user"] != `read\.er` {
					t.Errorf("%s: %s: a rule about other users: %v", test.why, section, rule)
				}
			}
		}
		for _, rule := range file["tables"] {
			if rule["catalog"] == "system" || rule["catalog"] == nil {
				continue
			}
			text := rule["catalog"].(string) + "/" + rule["schema"].(string) + "/" + rule["table"].(string)
			for _, c := range asList(rule["columns"]) {
				text += "/" + c.(map[string]any)["name"].(string)
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
		last := file["tables"][len(file["tables"])-1]
		if len(asList(last["privileges"])) != 0 || last["table"] != nil {
			t.Errorf("%s: the last rule is %v", test.why, last)
		}
	}
}

func asList(v any) []any { list, _ := v.([]any); return list }

func TestAccessRulesErrors(t *testing.T) {
	_, err := trino.AccessRules(exec.Policy{DenyColumns: []string{"users.pasword"}}, "reader", "hive", rulesSchema())
	if unknown := new(exec.PolicyError); !errors.As(err, &unknown) ||
		unknown.Unknown[0] != `DenyColumns: "users.pasword"` {
		t.Errorf("a slip of the pen: %v", err)
	}
	for _, who := range [][2]string{{"", "hive"}, {"reader", ""}} {
		if _, err := trino.AccessRules(exec.Policy{}, who[0], who[1], rulesSchema()); err == nil {
			t.Errorf("%q: no error", who)
		}
	}
}
