package recorded_test

import (
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestPublishedSchemaData: the lengths that the published code gives.
func TestPublishedSchemaData(t *testing.T) {
	for path, length := range map[string]int{
		"chinook/Chinook_Sqlite.sqlite":              7856,
		"classicmodels/classicmodels.sqlite":         6902,
		"spider/student_transcripts_tracking.sqlite": 6221,
		"bird/superhero.sqlite":                      3940,
	} {
		env := envOf(t, openAt(t, evaldata.Path(t, "db", path), reveal))
		text, err := egtts.PublishedSchema(t.Context(), env, env.Schema, 0)
		if n := len([]rune(text + "\n")); err != nil || n != length {
			t.Errorf("%s: %d characters, want %d: %v", path, n, length, err)
		}
	}
}
