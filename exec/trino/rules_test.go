package trino_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/schema"
)

// rulesSchema has tables in two catalogs, a view, and names that are patterns to a regular expression.
func rulesSchema() *schema.Schema {
	columns := []schema.Column{{Name: "id"}, {Name: "Password"}}
	return &schema.Schema{Default: "shop", Tables: []schema.Table{
		{Schema: "shop", Name: "users", Kind: schema.BaseTable, Columns: columns},
		{Schema: "shop", Name: "logins", Kind: schema.View, Columns: columns},
		{Schema: "tpch.tiny", Name: "a.b|c", Kind: schema.BaseTable, Columns: columns[:1]},
	}}
}

func TestAccessRules(t *testing.T) {
	for _, test := range []struct {
		why    string
		policy exec.Policy
		want   []string // catalog/schema/table/denied columns of the rules with SELECT
	}{
		{"no policy: everything, views too", exec.Policy{}, []string{"hive/shop/users", "hive/shop/logins", `tpch/tiny/a\.b\|c`}},
		{"a denied column, no views", exec.Policy{DenyColumns: []string{"users.password"}}, []string{"hive/shop/users/password", `tpch/tiny/a\.b\|c`}},
		{"a denied column of every table", exec.Policy{DenyColumns: []string{"PASSWORD"}}, []string{"hive/shop/users/password", `tpch/tiny/a\.b\|c`}},
		{"a denied table", exec.Policy{DenyTables: []string{"users"}}, []string{"hive/shop/logins", `tpch/tiny/a\.b\|c`}},
		{"an allowed table only", exec.Policy{AllowTables: []string{"shop.users"}}, []string{"hive/shop/users"}},
		{"an allowed view, a denied column", exec.Policy{AllowTables: []string{"logins"}, DenyColumns: []string{"users.password"}}, []string{"hive/shop/logins"}},
		{"a table of another catalog", exec.Policy{DenyTables: []string{`tpch.tiny."a.b|c"`}}, []string{"hive/shop/users", "hive/shop/logins"}},
	} {
		raw, err := trino.AccessRules(test.policy, "read.er", "hive", rulesSchema())
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		var file map[string][]map[string]any
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
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
	if unknown := new(exec.PolicyError); !errors.As(err, &unknown) || unknown.Unknown[0] != `DenyColumns: "users.pasword"` {
		t.Errorf("a slip of the pen: %v", err)
	}
	for _, who := range [][2]string{{"", "hive"}, {"reader", ""}} {
		if _, err := trino.AccessRules(exec.Policy{}, who[0], who[1], rulesSchema()); err == nil {
			t.Errorf("%q: no error", who)
		}
	}
}
