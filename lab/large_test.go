package main

import (
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestLarge holds the index to what it keeps of data-large: the bars of issue 31 with the margin that the sealed half
// needs.
func TestLarge(t *testing.T) {
	dir := evaldata.Folder(t, "TEXTTOSQL_DATA_LARGE")
	out, _ := measured(t, nil, "large", "--data", dir, "--history", dir, "--json")
	bars := map[string][2]float64{"spider2_snow": {.97, 15}, "spider2_merged": {.6, 15}, "beaver": {.6, 12},
		"sede_history": {.92, 9.5}}
	for _, l := range objects(t, out) {
		bar, ok := bars[l["data"].(string)]
		if all, kept := l["all_tables"].(float64), l["kept"].(float64); ok && l["linker"] == "index" &&
			(all < bar[0] || kept > bar[1]) {
			t.Errorf("%s: %.3f of questions at %.1f tables, want %.2f at %.1f", l["data"], all, kept, bar[0], bar[1])
		}
	}
}
