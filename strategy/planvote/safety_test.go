package planvote_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// TestOnlyReadsVote: replies that write, or say nothing that can be read, have no
// vote however many they are, and leave the file as it was. One reply that reads
// wins against all of them, as published too.
func TestOnlyReadsVote(t *testing.T) {
	hostile := []string{
		"SELECT 1; DROP TABLE orders", "DROP TABLE orders", "INSERT INTO customers VALUES (9, 'Eve', 'USA')",
		"UPDATE customers SET country = 'USA'", "PRAGMA user_version = 7", "ATTACH 'other.sqlite' AS other",
		"WITH x AS (SELECT 1) DELETE FROM orders", "EXPLAIN QUERY PLAN DELETE FROM orders", "", "There are two of them.",
	}
	for name, s := range map[string]strategy.Strategy{
		"plan": planvote.Plain{}, "plan, published": planvote.Plain{}.Published(), "cheapest": planvote.Plain{Cheapest: true},
		"augmented": planvote.Augmented{Probe: true}, "augmented, published": planvote.Augmented{Probe: true}.Published(),
		"feedback": planvote.Feedback{Corrections: -1}, "maker": maker.Strategy{},
		"maker, published": maker.Strategy{}.Published(),
	} {
		t.Run(name, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{always("maker.scope", scopeOne), always("maker.filter", inUSA)}}
			for _, purpose := range []string{"generate", "maker.projection"} {
				script.Rules = append(script.Rules, samples(purpose, append(hostile, usa)...))
			}
			pool := poolOf(t, makerSQL)
			var path string
			testutil.OK(t, pool.QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path))
			before := hashes(t, filepath.Dir(path))
			out, err := s.Generate(t.Context(), asking(makerEnvOf(t, pool, nil), script),
				strategy.Task{Question: "q", Samples: 12})
			if err != nil || out.SQL != usa || fellBack(out) {
				t.Fatalf("got %+v, %v", out, err)
			}
			for _, c := range out.Candidates {
				if votes := c.Rejected == ""; votes != (c.Sample >= len(hostile)) {
					t.Errorf("sample %d, %q: votes %v (%s)", c.Sample, c.SQL, votes, c.Rejected)
				}
			}
			if after := hashes(t, filepath.Dir(path)); after != before {
				t.Errorf("files changed:\nbefore %s\nafter  %s", before, after)
			}
		})
	}
}

// fellBack reports whether another strategy than MAKER had to answer.
func fellBack(out *strategy.Outcome) bool {
	report, err := strategy.ReadReport[maker.Report](out.Report)
	return err == nil && report.Fallback != ""
}

// hashes is a line for each file of a folder.
func hashes(t *testing.T, dir string) string {
	t.Helper()
	files := testutil.Value(os.ReadDir(dir))(t)
	var b strings.Builder
	for _, f := range files {
		content := testutil.Value(os.ReadFile(filepath.Join(dir, f.Name())))(t)
		fmt.Fprintf(&b, "%s %x\n", f.Name(), sha256.Sum256(content))
	}
	return b.String()
}
