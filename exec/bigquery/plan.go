package bigquery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/sqltext"
)

// Explain tells what the dry run told: the tables that the statement reads and the bytes, which are Plan.EngineCost, so
// that exec.Limits.EngineCost bounds them. BigQuery has no plan of a statement that did not run. Of clustered tables the
// bytes are an upper bound.
func (Dialect) Explain(ctx context.Context, q bridge.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	h, err := heldBy(q)
	if err != nil {
		return exec.Plan{}, err
	}
	a, err := h.admit(ctx, s, nil)
	if err != nil {
		return exec.Plan{}, err
	}
	var p exec.Plan
	if a.dry != nil {
		p.EngineCost = float64(a.dry.TotalBytesProcessed)
		text := fmt.Sprintf("%d bytes are read", a.dry.TotalBytesProcessed)
		if how := a.dry.TotalBytesProcessedAccuracy; how != "" {
			text += " (" + strings.ToLower(how) + ")"
		}
		p.Rows = append(p.Rows, exec.PlanRow{ID: 1, Detail: text})
	}
	tables := slices.Clone(a.named.tables)
	slices.SortFunc(tables, func(a, b *table) int { return strings.Compare(a.schema+"."+a.name, b.schema+"."+b.name) })
	for i, t := range tables {
		p.Rows = append(p.Rows, exec.PlanRow{ID: i + 2, Detail: "read " + t.schema + "." + t.name})
		p.Nodes = append(p.Nodes, exec.PlanNode{Kind: exec.PlanScan, Table: strings.ToLower(t.name), Access: exec.AccessFull})
	}
	return p, nil
}
