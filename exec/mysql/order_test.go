package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
)

// TestOrder: the order of a tenant's own rows does not depend on hidden rows, which the server counts in an index.
func TestOrder(t *testing.T) {
	n := attack.Order(t, engine("", "reader"), "ANALYZE TABLE log, items, loose, maybe, nums, spread PERSISTENT FOR ALL",
		false)
	if t.Logf("%+v", n); n.Answered < attack.OrderAnswers() {
		t.Error("too few answers")
	}
}
