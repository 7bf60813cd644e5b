package mysql

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
)

// Explain implements exec.Conn: what EXPLAIN FORMAT=JSON says, without conditions. MariaDB tells a cost from 11.0.
func (h *held) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	statement, err := h.conn.PrepareContext(ctx, "EXPLAIN FORMAT=JSON "+s.SQL())
	if err != nil {
		return exec.Plan{}, err
	}
	defer statement.Close()
	var text string
	if err := statement.QueryRowContext(ctx).Scan(&text); err != nil {
		return exec.Plan{}, err
	}
	return readPlan(text), nil
}

// costs match what each query block costs. The text of a statement may add to their sum, and takes nothing away.
var costs = regexp.MustCompile(`"(?:select_id": \d+,\s+"(?:operation": "\w+",\s+")?cost": ([\d.e+-]+)|query_cost": "([\d.]+)")`)

func readPlan(text string) (p exec.Plan) {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !mayTell(line) {
			kept.WriteString(line)
		}
	}
	p = exec.RawPlan(kept.String())
	for _, m := range costs.FindAllStringSubmatch(text, -1) {
		if cost, err := strconv.ParseFloat(m[1]+m[2], 64); err == nil && cost > 0 {
			p.EngineCost += cost
		}
	}
	return p
}

// mayTell reports whether a line of a plan may hold stored values: where a key finds one row of a table, the server reads
// it first and writes its values into the conditions of the others. A name with a line break carries a condition on to
// the next line, which then has the backtick behind the name.
func mayTell(line string) bool {
	key, _, _ := strings.Cut(strings.TrimSpace(line), `":`)
	return strings.HasSuffix(key, "condition") || key == `"sort_key` || strings.ContainsAny(line, "'`")
}
