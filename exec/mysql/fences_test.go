package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestFences: a statement whose answer depends on the order of rows has a fence, and an ordinary one has none.
func TestFences(t *testing.T) {
	dialecttest.Fences(t, engine("", "reader"),
		dialecttest.Fence{Why: "a list of values", SQL: "SELECT group_concat(id) AS x FROM log", Fenced: false},
		dialecttest.Fence{Why: "a sum of floats", SQL: "SELECT sum(f), avg(f) FROM log", Fenced: true},
		dialecttest.Fence{Why: "a sum of integers", SQL: "SELECT val, sum(id), avg(val) FROM log GROUP BY val"},
		dialecttest.Fence{Why: "groups of texts that equal others", SQL: "SELECT city, count(*) FROM log GROUP BY city",
			Fenced: true},
		dialecttest.Fence{Why: "the greatest of them", SQL: "SELECT max(city) FROM log", Fenced: true},
		dialecttest.Fence{Why: "a column beside an aggregate", SQL: "SELECT val, city, count(*) FROM log GROUP BY val",
			Fenced: true},
	)
}
