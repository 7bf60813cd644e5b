package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
)

// TestOrder: the order of a tenant's own rows does not depend on hidden rows.
func TestOrder(t *testing.T) {
	n := attack.Order(t, engine(), "ANALYZE", true)
	if t.Logf("%+v", n); n.Answered < attack.OrderAnswers() {
		t.Error("too few answers")
	}
}
