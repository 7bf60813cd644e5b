package exec_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
)

// BenchmarkPoint compares a point query of the engine with one of database/sql on the same pool.
func BenchmarkPoint(b *testing.B) {
	const text = "SELECT name, age FROM users WHERE id = 7"
	pool, db := open(b, "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, age INTEGER); INSERT INTO users "+
		"VALUES (7, 'ann', 40)", exec.Config{})

	b.Run("sql", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rows := testutil.Value(pool.Query(text))(b)
			for rows.Next() {
				var name string
				var age int
				testutil.OK(b, rows.Scan(&name, &age))
			}
			testutil.OK(b, rows.Close())
		}
	})

	b.Run("engine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			testutil.Value(db.Query(b.Context(), text))(b)
		}
	})
}
