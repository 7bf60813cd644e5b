package attack

import (
	_ "embed" // of the statements
	"slices"
	"strings"
)

//go:embed hidden.txt
var hidden string

// Hidden returns the statements of a tenant who looks for hidden rows on an engine ("sqlite"), for
// [exectest.Engine.Hidden].
func Hidden(engine string) (all []string) {
	var engines []string
	for line := range strings.Lines(hidden) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "== "):
			engines = strings.Fields(line[3:])
		case !strings.HasPrefix(line, "#") && slices.Contains(engines, engine):
			all = append(all, line)
		}
	}
	return all
}

// HiddenRule is a rule that an engine thinks costs more than a condition on a column.
const HiddenRule = "team IN (:team, 11, 12, 13, 14, 15, 16, 17)"

// HiddenViews makes views over the table parcels. value is an expression that can fail.
func HiddenViews(value string) string {
	return "CREATE VIEW plain AS SELECT id, bad, s FROM parcels WHERE n IS NOT NULL;\n" +
		"CREATE VIEW risky AS SELECT id, bad, " + value + " AS v FROM parcels;\n" +
		"CREATE VIEW grouped AS SELECT bad, count(*) AS n, max(" + value + ") AS m FROM parcels GROUP BY bad;\n" +
		"CREATE VIEW layered AS SELECT p.id, r.v FROM plain p JOIN risky r ON r.id = p.id;\n"
}
