package postgres_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/sqltext"
)

// TestPayloadsTree runs the hostile statements against the tree alone, which refuses them all, and the harmless ones.
func TestPayloadsTree(t *testing.T) {
	fixture, err := os.ReadFile(evaldata.Path(t, "security", "fixture_postgres.sql"))
	if err != nil {
		t.Fatal(err)
	}
	pool, _ := open(t, withoutRoles(string(fixture)))
	checks := map[string]func(string) error{}
	refused, accepted := 0, 0
	for _, file := range []string{"payloads.jsonl", "payloads_engines.jsonl"} {
		for p := range evaldata.Lines[evaldata.Payload](t, evaldata.Path(t, "security", file)) {
			if p.Engine != "postgres" {
				continue
			}
			key := fmt.Sprint(p.Policy)
			if checks[key] == nil {
				policy := exec.Policy{DenyColumns: p.Policy.DenyColumns, DenyTables: p.Policy.DenyTables}
				c := readCatalog(t, pool, policy)
				checks[key] = func(s string) error { _, err := c.Check(s); return err }
			}
			if _, err := sqltext.PostgreSQL().Check(p.Text); err != nil && p.Expect == "survive" {
				continue // the tree never sees it: brackets without end
			}
			err := checks[key](p.Text)
			switch {
			case p.Expect == "refuse" && err == nil, p.Expect == "accept" && err != nil:
				t.Errorf("%s, %s: %.200s\n%s: %v", p.ID, p.Expect, p.Text, p.Why, err)
			case p.Expect == "refuse":
				refused++
			case p.Expect == "accept":
				accepted++
			}
		}
	}
	if t.Logf("refused %d, accepted %d", refused, accepted); refused < 166 || accepted < 36 {
		t.Errorf("only %d and %d", refused, accepted)
	}
}

// withoutRoles leaves out what belongs to a server, not to a database.
func withoutRoles(script string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(script, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "CREATE ROLE") || strings.HasPrefix(line, "GRANT")
	})
	return strings.Join(lines, "")
}
