package planvote

import (
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// publishedProbes lists what M13 of galah92/egtts looks up: name = '…', name LIKE '…' and the first member of name IN
// ('…', whatever table the name is of. A name that no table has is not looked up.
func publishedProbes(s *schema.Schema, statement *sqltext.Statement) []exec.TextLiteral {
	var probes []exec.TextLiteral
	for _, c := range statement.Comparisons() {
		if c.Op != "=" && c.Op != "LIKE" && c.Op != "IN" {
			continue
		}
		lit := c.Literals[0]
		if lit.Kind != sqltext.String || lit.Pos < c.Pos || strings.Contains(lit.Value, "%") || onlyDigits(lit.Value) {
			continue
		}
		for _, t := range s.Tables {
			if column, ok := t.Column(c.Column); ok {
				probes = append(probes, exec.TextLiteral{Schema: t.Schema, Table: t.Name, Column: column.Name, Value: lit.Value})
				break
			}
		}
	}
	return probes
}

func onlyDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
