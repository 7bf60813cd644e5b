package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/schema"
)

// columns makes columns of pairs of a name and a type.
func columns(pairs ...string) (all []schema.Column) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, schema.Column{Name: pairs[i], Type: pairs[i+1]})
	}
	return all
}

// refers is a foreign key of one column.
func refers(column, to string) schema.ForeignKey {
	return schema.ForeignKey{Columns: []string{column}, RefTable: to, RefColumns: []string{"id"}}
}

// TestSuggestedWords: questions are right English on schemas of real databases, and no lookup table is their subject.
func TestSuggestedWords(t *testing.T) {
	for _, tt := range []struct {
		why    string
		tables []schema.Table
		want   []string
	}{
		{"names in the singular, lookup tables, a linking table", []schema.Table{
			{Name: "gender", Columns: columns("id", "INTEGER", "gender", "TEXT")},
			{Name: "publisher", Columns: columns("id", "INTEGER", "publisher_name", "TEXT")},
			{Name: "hero_power", Columns: columns("hero_id", "INTEGER", "power_id", "INTEGER"),
				ForeignKeys: []schema.ForeignKey{refers("hero_id", "superhero"), refers("power_id", "power")}},
			{Name: "power", Columns: columns("id", "INTEGER", "power_name", "TEXT")},
			{Name: "superhero", Columns: columns("id", "INTEGER", "superhero_name", "TEXT", "weight_value", "INTEGER",
				"gender_id", "INTEGER", "publisher_id", "INTEGER"),
				ForeignKeys: []schema.ForeignKey{refers("gender_id", "gender"), refers("publisher_id", "publisher")}},
		}, []string{"Which 10 publishers have the most superheroes?", "Which 10 superheroes have the highest weight value?", "How many superheroes are there?",
			"How many genders are there?"}},
		{"names in capitals, a column in two words", []schema.Table{
			{Name: "Track", Columns: columns("TrackId", "INTEGER", "Name", "TEXT", "UnitPrice", "NUMERIC", "AlbumId", "INTEGER"),
				ForeignKeys: []schema.ForeignKey{refers("AlbumId", "Album")}},
			{Name: "Album", Columns: columns("AlbumId", "INTEGER", "Title", "TEXT", "Released", "TEXT")},
			{Name: "MediaStaff", Columns: columns("Id", "INTEGER", "Name", "TEXT", "Country", "TEXT")},
		}, []string{"Which 10 albums have the most tracks?", "Which 10 tracks have the highest unit price?", "How many tracks are there?",
			"How many albums are there?",
			"How many rows does media staff have?"}},
	} {
		if diff := cmp.Diff(tt.want, suggested(&schema.Schema{Tables: tt.tables})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
