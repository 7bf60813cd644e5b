package trino

import (
	"context"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/trace"
)

var _ bridge.Warner = Dialect{}

// Warnings reports a user who may make tables in the schema of the connection. The server is asked, at most once a minute,
// whether it would let him, by EXPLAIN (TYPE VALIDATE), which makes nothing.
func (Dialect) Warnings(ctx context.Context, q bridge.Queryer) ([]trace.Warning, error) {
	h, ok := q.(*held)
	if !ok {
		return nil, nil
	}
	g := h.guard
	g.mu.Lock()
	g.fresh()
	writes, known := g.writes[h.at]
	g.mu.Unlock()
	if !known {
		t := table{h.at.catalog, h.at.schema, "texttosql_writes"}
		err := each(ctx, q, "EXPLAIN (TYPE VALIDATE) CREATE TABLE "+t.quoted()+" AS SELECT 1 AS a", func(scan func(...any) error) error { return scan(new(any)) })
		if err != nil && !exec.IsRejection(err) {
			return nil, err
		}
		writes = err == nil
		g.mu.Lock()
		g.writes[h.at] = writes
		g.mu.Unlock()
	}
	if !writes {
		return nil, nil
	}
	return []trace.Warning{{
		Code: "privileged-user",
		Message: "the user may make tables in " + h.at.catalog + "." + h.at.schema + ": the guard holds all the same, but use a user under " +
			"the rules that trino.AccessRules makes",
	}}, nil
}
