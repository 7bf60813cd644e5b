package sqlite_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// payload is one line of security/payloads.jsonl.
type payload struct {
	ID, Engine, Expect, Why string
	Text, Base64            *string
	Generator               *struct {
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
	Rows   int
	Policy struct {
		DenyColumns []string `json:"deny_columns"`
		DenyTables  []string `json:"deny_tables"`
	}
}

func (p payload) statement(t *testing.T) string {
	t.Helper()
	switch {
	case p.Text != nil:
		return *p.Text
	case p.Base64 != nil:
		b, err := base64.StdEncoding.DecodeString(*p.Base64)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	default:
		g := p.Generator
		return g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle + strings.Repeat(g.Close, g.Times) + g.Suffix
	}
}

func payloads(t *testing.T, engine string) []payload {
	t.Helper()
	f, err := os.Open(filepath.Join(dataDir(t), "security", "payloads.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []payload
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p payload
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if p.Engine == engine {
			out = append(out, p)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPayloads runs every hostile and every harmless statement of the data set
// on one file and one pool, and looks at what is left of both.
func TestPayloads(t *testing.T) {
	all := payloads(t, "sqlite")
	pool, file := open(t, fixture)
	pool.SetMaxOpenConns(2)
	before := snapshot(t, filepath.Dir(file))
	settings := settingsOf(t, pool)

	const deadline = time.Second
	for _, p := range all {
		t.Run(p.ID, func(t *testing.T) {
			timeout := time.Minute // what is not about time must not fail by it
			if p.Expect == "survive" {
				timeout = deadline
			}
			db := newDB(t, pool, exec.Config{
				Policy: exec.Policy{DenyColumns: p.Policy.DenyColumns, DenyTables: p.Policy.DenyTables},
				Limits: exec.Limits{Answer: exec.Bounds{Timeout: timeout}},
			})
			text := p.statement(t)
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
