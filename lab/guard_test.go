package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestGuardVerb: a server that answers everything and one that refuses everything have the rows that they deserve, and
// one that is silent is late.
func TestGuardVerb(t *testing.T) {
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("sed, which is the server of this test, is not installed")
	}
	data := t.TempDir()
	const items = `{"id":"sqlite-1","engine":"sqlite","expect":"refuse","text":"DROP TABLE t"}
{"id":"sqlite-2","engine":"sqlite","expect":"refuse","text":"SELECT password FROM users","policy":{"deny_columns":["users.password"]}}
{"id":"sqlite-3","engine":"sqlite","expect":"accept","text":"SELECT 1"}
{"id":"sqlite-4","engine":"sqlite","expect":"survive","text":"SELECT 2"}
{"id":"mysql-1","engine":"mysql","expect":"refuse","text":"DROP TABLE t"}
`
	testutil.OK(t, os.Mkdir(filepath.Join(data, "security"), 0o755))
	testutil.OK(t, os.WriteFile(filepath.Join(data, "security", "payloads.jsonl"), []byte(items), 0o600))
	for name, tt := range map[string]struct{ script, refuse, survive, accept string }{
		"answers": {`s/.*"id":\([0-9]*\).*/{"id":\1,"result":{}}/p`, "2 of 2 (plain 1 of 1), files changed 0", "0", "0"},
		"refuses": {`s/.*"id":\([0-9]*\).*/{"id":\1,"result":{"isError":true}}/p`, "0 of 2 (plain 0 of 1), files changed 0",
			"0", "1"},
		"tells": {`s/.*"id":\([0-9]*\).*/{"id":\1,"result":{"content":[{"text":"Database error: no"}]}}/p`,
			"0 of 2 (plain 0 of 1), files changed 0", "0", "1"},
		"changes": {"h\ns/.*/x/w FOLDER\ng\n" + `s/.*"id":\([0-9]*\).*/{"id":\1,"error":{}}/p`,
			"2 of 2 (plain 1 of 1), files changed 4", "0", "1"},
		"silent": {`s/.*"id":1,.*/{"id":1}/p`, "2 of 2 (plain 1 of 1), files changed 0", "1", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			script := strings.ReplaceAll(tt.script, "FOLDER", "{db}-journal")
			err := run(t.Context(), []string{"guard", "--data", data, "--within", "300ms", "--", "sed", "-u", "-n", script},
				&out, &errs, os.Getenv)
			want := "executed " + tt.refuse + ", survive late or over 500 MB " + tt.survive + " of 1, accept refused " +
				tt.accept + " of 1"
			if err != nil || strings.TrimSpace(out.String()) != want {
				t.Errorf("%v: %s%s, want %s", err, &out, &errs, want)
			}
		})
	}
}
