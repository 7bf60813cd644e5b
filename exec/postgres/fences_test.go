package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestFences: a statement whose answer depends on the order of rows has a fence, and an ordinary one has none.
func TestFences(t *testing.T) {
	dialecttest.Fences(t, engine("", "reader"),
		dialecttest.Fence{Why: "a list of values", SQL: "SELECT string_agg(id::text, ',') AS x FROM log", Fenced: false},
		dialecttest.Fence{Why: "a sum of floats", SQL: "SELECT sum(f), avg(f) FROM log", Fenced: false},
		dialecttest.Fence{Why: "a sum of integers", SQL: "SELECT city, sum(val), avg(val) FROM log GROUP BY city"},
		dialecttest.Fence{Why: "the greatest text", SQL: "SELECT max(city) FROM log"},
		dialecttest.Fence{Why: "the greatest float, which may be 0 or -0", SQL: "SELECT max(f) FROM log", Fenced: true},
		dialecttest.Fence{Why: "the first one of each", SQL: "SELECT DISTINCT ON (city) city, id FROM log ORDER BY city",
			Fenced: true},
		dialecttest.Fence{Why: "an order that the engine does not take", SQL: "SELECT 5 AS n FROM log HAVING 1 = 1",
			Fenced: true},
	)
}
