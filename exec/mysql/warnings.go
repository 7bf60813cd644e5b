package mysql

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/trace"
)

var (
	_ bridge.Warner = Dialect{}
)

// Warnings tells of a user who may do more than read.
func (Dialect) Warnings(ctx context.Context, q bridge.Queryer) ([]trace.Warning, error) {
	var most string
	err := each(ctx, q, "SHOW GRANTS", func(scan func(...any) error) error {
		var grant string
		err := scan(&grant)
		if more := beyondReading(grant); most == "" && more != "" {
			most = more
		}
		return err
	})
	if err != nil || most == "" {
		return nil, err
	}
	return []trace.Warning{{
		Code: "privileged-user",
		Message: "the database user may do more than read (" + most + "): the guard holds all the same, but use a user with " +
			"SELECT and SHOW VIEW on this database and nothing else",
	}}, nil
}

// readingPrivileges are those of a user who only reads.
var readingPrivileges = []string{"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES"}

var (
	columnLists = regexp.MustCompile(`\([^)]*\)`)
	grantParts  = regexp.MustCompile("^GRANT (.*?) ON (?:(?:TABLE|FUNCTION|PROCEDURE|PACKAGE|PACKAGE BODY) )?(\\S+) TO ")
)

// beyondReading returns the first privilege of a line of SHOW GRANTS by which more can be done than read, and on what.
// The line of a role that was granted names none.
func beyondReading(grant string) string {
	m := grantParts.FindStringSubmatch(columnLists.ReplaceAllString(grant, ""))
	if m == nil {
		return ""
	}
	for privilege := range strings.SplitSeq(m[1], ",") {
		if privilege = strings.TrimSpace(privilege); !slices.Contains(readingPrivileges, privilege) {
			return privilege + " ON " + m[2]
		}
	}
	return ""
}

// statementWarnings returns what the server warned of while it ran the last statement, whose rows are closed.
func statementWarnings(ctx context.Context, q bridge.Queryer) (warnings []string, err error) {
	err = each(ctx, q, "SHOW WARNINGS LIMIT 5", func(scan func(...any) error) error {
		var level, code, message string
		err := scan(&level, &code, &message)
		if level != "Note" {
			warnings = append(warnings, message)
		}
		return err
	})
	return warnings, err
}
