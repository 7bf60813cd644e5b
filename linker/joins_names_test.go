package linker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

func TestJoinCandidates(t *testing.T) {
	typed := func(name, columns, key string) *schema.Table {
		table := &schema.Table{Name: name}
		for c := range strings.SplitSeq(columns, ", ") {
			name, rest, _ := strings.Cut(c, " ")
			typ, title, _ := strings.Cut(rest, "/")
			table.Columns = append(table.Columns, schema.Column{Name: name, Type: typ, Title: title})
		}
		if key != "" {
			table.PrimaryKey = []string{key}
		}
		return table
	}
	for _, tt := range []struct {
		a, b      *schema.Table
		want, why string
	}{
		{typed("customers", "id INT", "id"), typed("orders", "id INT, customer_id INTEGER", "id"),
			"customers.id = orders.customer_id 0.97; customers.id = orders.id 0.60", "the singular of a table, and its id"},
		{typed("customers", "id INT", "id"), typed("orders", "id INT", "id"), "customers.id = orders.id 0.60",
			"two keys called id are not likely one"},
		{typed("customers", "id INT/Customer Number", "id"), typed("orders", "customer_id INT/Customer Number", ""),
			"customers.id = orders.customer_id 0.98", "titles count too"},
		{typed("customers", "id INT/Customer Number", "id"), typed("orders", "customer_id INT/Zzz", ""),
			"customers.id = orders.customer_id 0.73",
			"and against"},
		{typed("customers", "id INT", "id"), typed("orders", "customer_id TEXT", ""),
			"customers.id = orders.customer_id 0.97",
			"a key in full, though the types differ"},
		{typed("customers", "id INT, customer_id INT", "id"), typed("orders", "customer_id TEXT", ""),
			"customers.id = orders.customer_id 0.97",
			"of types that differ only the key"},
		{typed("stations", "code TEXT, stationNumber INT", ""), typed("trips", "station_code VARCHAR(3), stationNumber REAL",
			""),
			"stations.stationNumber = trips.stationNumber 0.73; stations.code = trips.station_code 0.71",
			"codes and numbers; types by family"},
		{typed("makers", "id INT", "id"), typed("models", "maker INT", ""), "makers.id = models.maker 0.88",
			"the bare name of the table"},
		{typed("t", "day DATE", ""), typed("u", "day TIMESTAMP, days DECIMAL", ""), "t.day = u.day 0.53",
			"times are of one family, numbers of another"},
		{typed("trips", "length INT", ""), typed("users", "id INT", "id"), "", "too little in common"},
		{typed("teams", "fk_players INT", ""), typed("players", "id INT", "id"), "players.id = teams.fk_players 0.88",
			"fk in front"},
		{typed("t", "", ""), typed("u", "", ""), "", "no columns"},
		{typed("a", "colour TEXT, size TEXT", ""), typed("b", "size TEXT, colour TEXT", ""),
			"a.colour = b.colour 0.53; a.size = b.size 0.53", "ties by name"},
	} {
		for range 2 {
			var got []string
			for _, j := range (linker.Joins{}).Candidates(tt.a, tt.b) {
				got = append(got, fmt.Sprintf("%s %.2f", j.Join, j.Confidence))
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("%s: %s; want %s", tt.why, strings.Join(got, "; "), tt.want)
			}
			tt.a, tt.b = tt.b, tt.a // the same whichever stands first
		}
	}
}

// TestCandidatesShown: a prompt about a pair shows the ten best candidates of names.
func TestCandidatesShown(t *testing.T) {
	names := []string{"alpha", "bravo", "carol", "delta", "echoe", "foxtr", "golfx", "hotel", "india", "julie", "kilos",
		"limas"}
	s := tables(append([]string{"left_side"}, names...), append([]string{"other"}, names...))
	shown := -1
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		shown = strings.Count(req.Messages[1].Text, "Candidate: ")
		return llm.Response{
			Text: `{"found_joins": true, "joins": [{"left_column": "alpha", "right_column": "alpha", "confidence": 0.9}]}`}, nil
	})
	in := linker.Input{Question: "?", Schema: s}
	if _, err := (linker.Joins{Model: model}).Connect(t.Context(), in, tableNames("left_side", "other")); err != nil ||
		shown != 10 {
		t.Errorf("%d candidates are shown, want 10; %v", shown, err)
	}
}
