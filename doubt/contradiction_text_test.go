package doubt_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestSpelledOtherwise: where a column stores a value in two ways, the contradiction says how they differ.
func TestSpelledOtherwise(t *testing.T) {
	for _, tt := range []struct{ why, stored, asked, want string }{
		{"letters", "('Norway'), ('NORWAY')", "Norway", `guests.country also holds "NORWAY" in other letters than "Norway".`},
		{"blanks, as in the customers of ClassicModels", "('Norway'), ('Norway  ')", "Norway",
			`guests.country also holds "Norway  ", with other blanks than "Norway".`},
		{"one way", "('Norway'), ('Sweden')", "Norway", ""},
	} {
		pool := testutil.Value(sql.Open("sqlite3", "file:"+t.TempDir()+"/guests.db"))(t)
		t.Cleanup(func() { pool.Close() })
		testutil.Value(pool.Exec("CREATE TABLE guests (country TEXT); INSERT INTO guests VALUES " + tt.stored))(t)
		db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
		known := testutil.Value(db.Profile(t.Context(), testutil.Value(db.Schema(t.Context()))(t), exec.ProfileOptions{}))(t)
		statement := "SELECT count(*) FROM guests WHERE country = '" + tt.asked + "'"
		got := ""
		for _, f := range (doubt.Rules{}).Read("How many guests are from "+tt.asked+"?", "").Contradictions(contradict.Answer{
			Statement: db.Language().Text.Parse(statement), Schema: known, Values: (*snapshot.Snapshot)(nil).Words(known),
			Table: testutil.Value(db.Query(t.Context(), statement))(t),
		}) {
			got += f.Detail
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}
