package dialecttest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// Lineage looks at every place of two relations in a policy, beside a table other that is in Shared: of an upper
// relation, whose rows come from a lower one, each with the columns shop and note, and a row ('a', 'mine') and one
// ('b', 'theirs') in them. It fails t where the outcome is another one.
//
// A case is why, the upper relation, the lower one, other relations that are where the upper one is, and the outcome.
// That has one text for each place of the upper relation, in Rows, in Shared and in neither list, with bars between
// them, and in it a word for each place of the lower one, in the same order: what both give the shop a, "all" rows, its
// "own", "refused"; or "error" where the policy is one.
func Lineage(t testing.TB, e exectest.Engine, script string, cases ...[5]string) {
	t.Helper()
	newDB := e.Make(t, script)
	for _, c := range cases {
		why, above, below, beside, want := c[0], c[1], c[2], strings.Fields(c[3]), c[4]
		var got []string
		for _, upper := range []string{"Rows", "Shared", ""} {
			var words []string
			for _, lower := range []string{"Rows", "Shared", ""} {
				p := exec.Policy{Rows: map[string]string{}, Shared: []string{"other"}}
				put(&p, upper, append(beside, above)...)
				put(&p, lower, below)
				words = append(words, lineage(t, newDB, p, above, below))
			}
			got = append(got, strings.Join(words, " "))
		}
		if told := strings.Join(got, " | "); told != want {
			t.Errorf("%s: %s\nwant %s", why, told, want)
		}
	}
}

func put(p *exec.Policy, place string, names ...string) {
	for _, name := range names {
		switch place {
		case "Rows":
			p.Rows[name] = "shop = :shop"
		case "Shared":
			p.Shared = append(p.Shared, name)
		}
	}
}

// lineage tells what the shop a gets of some relations.
func lineage(t testing.TB, newDB func(exec.Config) (*exec.DB, error), p exec.Policy, names ...string) string {
	db, err := dbtest.Ready(newDB(exec.Config{Policy: p}))
	if errors.As(err, new(*exec.PolicyError)) {
		t.Logf("%v", err)
		return "error"
	}
	if err == nil {
		db, err = db.For(&exec.Scope{Key: "a", Params: map[string]any{"shop": "a"}}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, name := range names {
		table, err := db.Query(t.Context(), "SELECT note FROM "+name+" ORDER BY note")
		told := map[string]string{"[[mine]]": "own", "[[theirs]]": "own", "[[mine] [theirs]]": "all",
			"[[theirs] [theirs]]": "all"}
		switch {
		case err == nil && told[fmt.Sprint(table.Rows)] != "":
			words = append(words, told[fmt.Sprint(table.Rows)])
		case err == nil:
			words = append(words, fmt.Sprint(table.Rows))
		case errors.As(err, new(*exec.RefusedError)):
			words = append(words, "refused")
		default:
			t.Fatal(err)
		}
	}
	return strings.Join(words, ",")
}
