package recorded_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// TestExtractRungs logs how many recorded replies reach each rung of the extraction, which is the table of
// docs/lab/replies.md, and a digest of all that is extracted, by which a change of the rungs is seen. The digest is of
// each reply without an engine and with one that accepts nothing, for which the extraction tries all it has.
func TestExtractRungs(t *testing.T) {
	fresh := evaldata.Folder(t, "TEXTTOSQL_DATA_FRESH")
	digest := sha256.New()
	rungs := map[string][2]int{}
	for k, folder := range []string{evaldata.Path(t), fresh} {
		for _, path := range testutil.Value(filepath.Glob(filepath.Join(folder, "[ps]*", "*.jsonl.gz")))(t) {
			if strings.HasSuffix(path, ".exec.jsonl.gz") { // the same answers again
				continue
			}
			for a := range evaldata.Lines[answer](t, path) {
				for _, text := range a.texts() {
					x := replies.Extractor{Dialect: a.dialect(path)}
					reached, outcome := rungsOf(t, x, text)
					for _, rung := range append(reached, "all") {
						n := rungs[rung]
						n[k]++
						rungs[rung] = n
					}
					x.Valid = func(*sqltext.Statement) bool { return false }
					_, unaccepted := rungsOf(t, x, text)
					fmt.Fprintln(digest, outcome, unaccepted)
				}
			}
		}
	}
	var table strings.Builder
	for _, rung := range slices.Sorted(maps.Keys(rungs)) {
		fmt.Fprintf(&table, "| %s | %d | %d |\n", rung, rungs[rung][0], rungs[rung][1])
	}
	t.Logf("digest %x\n| rung | data | data-fresh |\n|---|---:|---:|\n%s", digest.Sum(nil), &table)
}

// rungsOf returns the rungs that one reply reaches, and all that is extracted as one text.
func rungsOf(t *testing.T, x replies.Extractor, text string) (rungs []string, outcome string) {
	got, err := x.Extract(text)
	if err == nil {
		rungs = append(rungs, "step "+got.Step)
		for _, note := range got.Notes {
			rungs = append(rungs, "note "+note)
		}
		return rungs, fmt.Sprintf("%q %q %q", got.SQL(), got.Step, got.Notes)
	}
	var reply *replies.Error
	if !errors.As(err, &reply) {
		t.Fatalf("untyped error %v for %q", err, text)
	}
	return []string{"reason " + reply.Reason}, err.Error() + reply.SQL
}
