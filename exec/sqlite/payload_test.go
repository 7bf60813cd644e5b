package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestPayloads runs every hostile and every harmless statement of the data set
// on one file and one pool, and looks at what is left of both.
func TestPayloads(t *testing.T) {
	all := evaldata.Payloads(t)
	pool, file := open(t, fixture)
	pool.SetMaxOpenConns(2)
	before := snapshot(t, filepath.Dir(file))
	settings := settingsOf(t, pool)

	const deadline = time.Second
	for _, p := range all {
		if p.Engine != "sqlite" {
			continue
		}
		t.Run(p.ID, func(t *testing.T) {
			timeout := time.Minute // what is not about time must not fail by it
			if p.Expect == "survive" {
				timeout = deadline
			}
			db := newDB(t, pool, exec.Config{
				Policy: exec.Policy{DenyColumns: p.Policy.DenyColumns, DenyTables: p.Policy.DenyTables},
				Limits: exec.Limits{Answer: exec.Bounds{Timeout: timeout}},
			})
			text := p.Text
			grown := memoryGrowth()
			took := stopwatch()
			table, err := db.Query(context.Background(), text)
			spent := took()
			switch p.Expect {
			case "refuse":
				if err == nil {
					t.Fatalf("answered with %d rows: %s", len(table.Rows), p.Why)
				}
				if !ranNothing(err) {
					t.Errorf("not refused before it ran: %v: %s", err, p.Why)
				}
			case "accept":
				if err != nil {
					t.Fatalf("%v: %s", err, p.Why)
				}
				if len(table.Rows) != p.Rows || len(table.Columns) == 0 {
					t.Errorf("%d rows, %d columns, want %d rows: %s", len(table.Rows), len(table.Columns), p.Rows, p.Why)
				}
			case "survive":
				for again := 0; spent > deadline*115/100 && again < 2; again++ {
					took = stopwatch()
					_, _ = db.Query(context.Background(), text)
					spent = took()
				}
				if spent > deadline*115/100 {
					t.Errorf("took %v, three times: %s", spent, p.Why)
				}
				if grown := grown(); grown > 64<<20 {
					t.Errorf("took %d MiB: %s", grown>>20, p.Why)
				}
			default:
				t.Fatalf("unknown expectation %q", p.Expect)
			}
		})
	}

	unchanged(t, filepath.Dir(file), before)
	for range 3 {
		if got := settingsOf(t, pool); got != settings {
			t.Errorf("settings of a connection: %+v, before %+v", got, settings)
		}
	}
	if _, err := pool.Exec("INSERT INTO t VALUES (6, 'written')"); err != nil {
		t.Errorf("the caller cannot write any more: %v", err)
	}
}
