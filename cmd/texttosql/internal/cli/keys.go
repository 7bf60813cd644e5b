package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// KeysBeyond lists the foreign keys between the tables of part and the others of all, in both directions:
// "orders (customer_id) REFERENCES customers (id)". Each is one line without hidden characters.
func KeysBeyond(all, part *schema.Schema) (lines []string) {
	shown := func(name string) bool {
		return slices.ContainsFunc(part.Tables, func(t schema.Table) bool { return t.Name == name })
	}
	for _, t := range all.Tables {
		for _, k := range t.ForeignKeys {
			if shown(t.Name) != shown(k.RefTable) {
				from, to := strings.Join(k.Columns, ", "), strings.Join(k.RefColumns, ", ")
				line := fmt.Sprintf("%s (%s) REFERENCES %s (%s)", t.Name, from, k.RefTable, to)
				lines = append(lines, words.Visible(line, "", words.Hidden))
			}
		}
	}
	return lines
}
