package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestLink holds the figures of the verb link on recorded first statements: with
// the union of links, tables and then columns pruned.
func TestLink(t *testing.T) {
	dir := evaldata.Path(t)
	for _, tt := range []struct {
		args         string
		recall, full float64
		kept         float64 // of tokens, on databases of five tables or more
	}{
		{"--dataset spider_dev --presql spider_dev/all", .998, .997, .5},
		{"--dataset spider_dev --presql spider_dev/all --columns", .99, .975, .333},
		{"--dataset classicmodels --presql classicmodels/base_k3", .99, .985, .55},
		{"--dataset classicmodels --presql classicmodels/base_k3 --columns", .975, .92, .30},
		{"--dataset bird_dev --presql bird_dev/all", 1, 1, .52},
		{"--dataset bird_dev --presql bird_dev/all --columns", 1, 1, .38},
	} {
		var out bytes.Buffer
		args := append(strings.Fields("link --json --data "+dir), strings.Fields(tt.args)...)
		if err := run(t.Context(), args, &out, &bytes.Buffer{}, os.Getenv); err != nil {
			t.Fatal(err)
		}
		var last linkLine
		for line := range strings.Lines(out.String()) {
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Fatal(err)
			}
		}
		recall, full := last.TableRecall, last.TableFull
		if strings.Contains(tt.args, "--columns") {
			recall, full = last.ColumnRecall, last.ColumnFull
		}
		if last.DB != "all" || last.Linker != "union" || recall < tt.recall || full < tt.full || *last.TokensLarge > tt.kept {
			t.Errorf("%s: recall %.4f, full %.4f, kept %.3f; want %v, %v, %v", tt.args, recall, full, *last.TokensLarge, tt.recall, tt.full, tt.kept)
		}
	}
}
