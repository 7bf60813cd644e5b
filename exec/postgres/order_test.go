package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
)

// TestOrder: the order of a tenant's own rows does not depend on hidden rows. The greatest value of an index counts
// without ANALYZE, which reads all rows here.
func TestOrder(t *testing.T) {
	n := attack.Order(t, engine("", "reader"), "SET default_statistics_target = 1000; ANALYZE", false)
	if t.Logf("%+v", n); n.Answered < attack.OrderAnswers() {
		t.Error("too few answers")
	}
}
