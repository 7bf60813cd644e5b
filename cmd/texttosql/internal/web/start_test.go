package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
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
		}, []string{"How many superheroes are there for each publisher?",
			"Which 10 superheroes have the highest weight value?",
			"How many superheroes are there?"}},
		{"names in capitals, a column in two words", []schema.Table{
			{Name: "Track", Columns: columns("TrackId", "INTEGER", "Name", "TEXT", "UnitPrice", "NUMERIC", "AlbumId", "INTEGER"),
				ForeignKeys: []schema.ForeignKey{refers("AlbumId", "Album")}},
			{Name: "Album", Columns: columns("AlbumId", "INTEGER", "Title", "TEXT", "Released", "TEXT")},
			{Name: "MediaStaff", Columns: columns("Id", "INTEGER", "Name", "TEXT", "Country", "TEXT")},
		}, []string{"Which 10 albums have the most tracks?", "Which 10 tracks have the highest unit price?",
			"How many tracks are there?",
			"How many albums are there?",
			"How many entries does media staff have?"}},
		{"a hospital: a birth is no event of patients, and an admission is one of admissions", []schema.Table{
			{Name: "lkp_ward", Columns: columns("id", "INTEGER", "ward_name", "TEXT", "floor", "INTEGER")},
			{Name: "patients", Columns: columns("id", "INTEGER", "full_name", "TEXT", "birth_date", "DATE", "balance_amount",
				"NUMERIC")},
			{Name: "admissions", Columns: columns("id", "INTEGER", "patient_id", "INTEGER", "ward_id", "INTEGER", "admitted_on",
				"DATE", "total_cost", "NUMERIC"),
				ForeignKeys: []schema.ForeignKey{refers("patient_id", "patients"), refers("ward_id", "lkp_ward")}},
		}, []string{"Which 10 patients have the most admissions?", "What is the total cost of admissions by month?",
			"Which 10 patients have the highest balance amount?", "How many admissions are there?",
			"How many patients are there?"}},
		{"a school: the price of one meal and the start of a class are not added up by month", []schema.Table{
			{Name: "CourseTypes", Columns: columns("Code", "TEXT", "Label", "TEXT", "SortOrder", "INTEGER")},
			{Name: "Pupils", Columns: columns("PupilId", "INTEGER", "FullName", "TEXT", "StartDate", "DATE", "MealUnitCost",
				"NUMERIC", "TypeCode", "TEXT"),
				ForeignKeys: []schema.ForeignKey{refers("TypeCode", "CourseTypes")}},
		}, []string{"How many pupils are there for each course type?", "Which 10 pupils have the highest meal unit cost?",
			"How many pupils are there?"}},
	} {
		if diff := cmp.Diff(tt.want, suggested(&schema.Schema{Tables: tt.tables})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestUnasked: a question is not offered again, in its own words or in others.
func TestUnasked(t *testing.T) {
	share := "What share of the total does each have?"
	for _, tt := range []struct {
		why   string
		turns []string
		want  []string
	}{
		{"nothing was asked of it", []string{"How many trucks are there?"}, []string{"And by month?", share}},
		{"the same words", []string{"How many trucks are there?", "and by month?"}, []string{share}},
		{"in a question of its own", []string{"Tons of freight by month"}, []string{share}},
		{"a share in other words", []string{"What percentage of freight does each depot have?"}, []string{"And by month?"}},
	} {
		var r session.Record
		for _, text := range tt.turns {
			r.Turns = append(r.Turns, session.Turn{Text: text})
		}
		if diff := cmp.Diff(tt.want, unasked([]string{"And by month?", share}, r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
