package result_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// TestPeriod: a period has one name for people and one for exports, which names the same period. Other values stay.
func TestPeriod(t *testing.T) {
	for _, tt := range []struct {
		grain string
		value any
		short any
		long  string
	}{
		{"month", "2024-03-01 00:00:00-05", "2024-03", "March 2024"},
		{"month", "2024-03", "2024-03", "March 2024"},
		{"month", "2024-03-15", "2024-03-15", "2024-03-15"}, // names no month
		{"quarter", "2024-04-01", "2024-Q2", "Q2 2024"},
		{"year", "2024-01-01 00:00:00", "2024", "2024"},
		{"year", int64(2024), int64(2024), "2024"},
		{"week", "2024-01-08 00:00:00Z", "2024-01-08", "week of 8 January 2024"},
		{"day", "2024-10-27 00:00:00+02:00", "2024-10-27", "2024-10-27"},
		{"hour", "2024-11-03 01:00:00", "2024-11-03 01:00", "2024-11-03 01:00"},
		{"hour", "2024-11-03 01:00:00-05", "2024-11-03 01:00:00-05", "2024-11-03 01:00:00-05"}, // one of two
		{"", "2024-03-01", "2024-03-01", "2024-03-01"},
		{"month", nil, nil, "NULL"},
	} {
		of := result.Type{Grain: tt.grain}
		if got := of.Shown(tt.value); got != tt.short || of.Shown(got) != got {
			t.Errorf("%s %v: shown %v, want %v", tt.grain, tt.value, got, tt.short)
		}
		if got := of.Format(tt.value); got != tt.long {
			t.Errorf("%s %v: %q, want %q", tt.grain, tt.value, got, tt.long)
		}
		from, ok := of.Period(tt.value)
		if again, same := of.Period(of.Shown(tt.value)); ok != same || !from.Equal(again) {
			t.Errorf("%s %v: the export names another period", tt.grain, tt.value)
		}
	}
}

// TestPeriodForms: a table of text has names, CSV has short forms, and JSON keeps the value and its grain.
func TestPeriodForms(t *testing.T) {
	table := &result.Table{Columns: []string{"month"}, Types: []result.Type{{Kind: result.KindDate, Grain: "month"}},
		Rows: [][]any{{"2024-03-01"}}}
	var text, csv strings.Builder
	testutil.OK(t, table.WriteTable(&text))
	testutil.OK(t, table.WriteCSV(&csv))
	if !strings.Contains(text.String(), "March 2024") || csv.String() != "month\n2024-03\n" {
		t.Errorf("table %q, CSV %q", text.String(), csv.String())
	}
	var read result.Table
	testutil.OK(t, json.Unmarshal(testutil.Value(json.Marshal(table))(t), &read))
	if diff := cmp.Diff(table, &read); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
