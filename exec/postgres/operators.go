package postgres

import (
	"context"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// readOperators finds the symbols that a user gave a meaning to, in a schema of the path, by a function that is not on
// the list. Which operator of a symbol the engine takes depends on types, so none of that symbol may stand in a
// statement.
func (c *catalog) readOperators(ctx context.Context, q bridge.Queryer) error {
	return read(ctx, q, `SELECT o.oprname::text, n.nspname::text, p.proname::text FROM pg_catalog.pg_operator o
 JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
 WHERE `+users("n")+` AND o.oid NOT IN (`+ofExtensions("pg_operator")+`) ORDER BY 1, 2, 3`, func(scan func(...any) error) error {
		var symbol, schemaName, name string
		err := scan(&symbol, &schemaName, &name)
		if err == nil && c.onPath(schemaName) && !c.policyAllows(name) {
			c.operators[symbol] = name
		}
		return err
	})
}

// operator refuses a symbol that is not the engine's own.
func (c *catalog) operator(symbol string) error {
	if name, user := c.operators[symbol]; user {
		return refuse(exec.ReasonFunction, "the operator "+symbol+" may call the function "+name+", which is not on the list; Policy.AllowFunctions adds to it")
	}
	return nil
}
