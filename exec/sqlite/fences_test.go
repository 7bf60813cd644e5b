package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestFences: a statement whose answer depends on the order of rows has a fence, and an ordinary one has none.
func TestFences(t *testing.T) {
	dialecttest.Fences(t, engine(),
		dialecttest.Fence{Why: "a list of values", SQL: "SELECT group_concat(id) AS x FROM log", Fenced: true},
		dialecttest.Fence{Why: "a sum of floats", SQL: "SELECT sum(f), avg(f) FROM log", Fenced: false},
		dialecttest.Fence{Why: "a sum of integers, which may be anything",
			SQL: "SELECT city, sum(val * 2) FROM log GROUP BY city"},
		dialecttest.Fence{Why: "a sum of ones", SQL: "SELECT sum(CASE WHEN val > 1 THEN 1 ELSE 0 END) FROM log"},
		dialecttest.Fence{Why: "groups of texts", SQL: "SELECT city, count(*) FROM log GROUP BY city"},
		dialecttest.Fence{Why: "the greatest text", SQL: "SELECT max(city) FROM log"},
		dialecttest.Fence{Why: "a column beside an aggregate", SQL: "SELECT city, max(val) FROM log", Fenced: true},
		dialecttest.Fence{Why: "DISTINCT, by another column", SQL: "SELECT DISTINCT city FROM log ORDER BY log.val",
			Fenced: true},
	)
}
