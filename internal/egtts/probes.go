package egtts

import (
	"strings"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// PublishedProbing is the check of M13 as published: it probes in the first table that has a column of the literal's
// name, looks at the first member of an IN alone, and a failed look-up counts as stored.
func PublishedProbing() *Probing { return &Probing{Published: true} }

// publishedProbes lists what M13 of galah92/egtts looks up: name = '…', name LIKE '…' and the first member of name IN
// ('…', whatever table the name is of. A name that no table has is not looked up.
func publishedProbes(s *schema.Schema, statement *sqltext.Statement) []checks.TextLiteral {
	var probes []checks.TextLiteral
	for _, c := range statement.Comparisons() {
		if c.Op != "=" && c.Op != "LIKE" && c.Op != "IN" {
			continue
		}
		lit := c.Literals[0]
		if lit.Kind != sqlshape.String || lit.Pos < c.Pos || strings.Contains(lit.Value, "%") || onlyDigits(lit.Value) {
			continue
		}
		for _, t := range s.Tables {
			if column, ok := t.Column(c.Column); ok {
				probes = append(probes, checks.TextLiteral{Schema: t.Schema, Table: t.Name, Column: column.Name, Value: lit.Value})
				break
			}
		}
	}
	return probes
}

func onlyDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
