package result_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// TestShare: people read a column of shares in percent, in one scale. Files have the stored values.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		why    string
		of     result.Type
		values []any
		want   []string
	}{
		{"whole percents", result.Type{}, []any{0.12, 0.07, nil}, []string{"12 %", "7 %", "NULL"}},
		{"one scale", result.Type{}, []any{0.123, 0.5}, []string{"12.3 %", "50.0 %"}},
		{"thirds", result.Type{}, []any{1.0 / 3, 1.0}, []string{"33.33 %", "100.00 %"}},
		{"less than one percent", result.Type{}, []any{0.0042}, []string{"0.42 %"}},
		{"nothing", result.Type{}, []any{0.0, int64(1)}, []string{"0 %", "100 %"}},
		{"decimals of a scale", result.Type{Kind: result.KindDecimal, Scale: 4},
			[]any{result.Decimal("0.1200"), result.Decimal("0.125")},
			[]string{"12.0 %", "12.5 %"}},
	} {
		tt.of.Share = true
		table := &result.Table{Columns: []string{"weekly share"}, Types: []result.Type{tt.of}}
		for _, v := range tt.values {
			table.Rows = append(table.Rows, []any{v})
		}
		var text strings.Builder
		testutil.OK(t, table.WriteTable(&text))
		lines := strings.Split(text.String(), "\n")[2 : 2+len(tt.want)]
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		if diff := cmp.Diff(tt.want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}

	of := result.Type{Kind: result.KindFloat, Share: true}
	table := &result.Table{Columns: []string{"x"}, Types: []result.Type{of}, Rows: [][]any{{0.07}}}
	var csv strings.Builder
	testutil.OK(t, table.WriteCSV(&csv))
	if n, ok := of.Number(0.07); csv.String() != "x\n0.07\n" || of.Format(0.07) != "7 %" || n != 7 || !ok {
		t.Errorf("CSV %q, format %q, number %v", csv.String(), of.Format(0.07), n)
	}
	var back result.Table
	testutil.OK(t, json.Unmarshal(testutil.Value(json.Marshal(table))(t), &back))
	if diff := cmp.Diff(*table, back); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
