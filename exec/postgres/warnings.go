package postgres

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/trace"
)

// Warnings looks at the user of one connection of the pool, whether a role with fewer rights would serve as well, and
// at its driver.
func (Dialect) Warnings(ctx context.Context, q bridge.Queryer) (warnings []trace.Warning, err error) {
	const role = "; the guard holds all the same, but connect as a role that may only SELECT (docs/safety.md)"
	err = each(ctx, q, `SELECT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user), session_user::text,
			(SELECT pg_catalog.count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid = c.relowner
				WHERE r.rolname = session_user AND c.relkind IN ('r', 'p', 'm', 'v', 'f') AND c.oid > 16383),
			pg_catalog.current_setting('temp_file_limit') = '-1'`, 4, func(row []any) {
		super, _ := row[0].(bool)
		owned := integer(row[2])
		switch {
		case super:
			warnings = append(warnings, trace.Warning{Code: "privileged-user", Message: "the database user " + text(row[1]) + " is a superuser" + role})
		case owned > 0:
			warnings = append(warnings, trace.Warning{Code: "privileged-user",
				Message: fmt.Sprintf("the database user %s owns %d tables and views%s", text(row[1]), owned, role)})
		}
		if open, _ := row[3].(bool); open && !super {
			warnings = append(warnings, trace.Warning{Code: "temp-files-unbounded",
				Message: "PostgreSQL lets only a superuser bound temporary files: ALTER ROLE " + text(row[1]) + " SET temp_file_limit = '256MB' as one"})
		}
	})
	if h, ok := q.(*held); ok && err == nil && h.pgx == nil {
		warnings = append(warnings, trace.Warning{Code: "messages-unbounded",
			Message: "the driver takes messages of any length, so an error that repeats a value is in memory whole; github.com/jackc/pgx/v5/stdlib can be bounded"})
	}
	return warnings, err
}
