package trino

import (
	"context"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// Look is what the guard decides before it asks the server, on a connection at memory.default where no table is.
func Look(d Dialect, p exec.Policy, s *sqltext.Statement) error {
	c := conn{pool: &pool{dialect: d, config: exec.GuardConfig{Policy: p}}, at: home{"memory", "default"}}
	catalog := &exec.Catalog{Own: &known{}, Catalog: guard.Catalog{Text: sqltext.Trino()}}
	_ = catalog.Apply(p)
	if _, err := catalog.Weigh(s); err != nil {
		return err
	}
	n, err := c.Read(context.Background(), &exec.Statement{Statement: s, Catalog: catalog})
	if err == nil {
		err = catalog.Permit(n)
	}
	return err
}

// Refs are the places where a column may be named.
func Refs(text string) []guard.Ref {
	w := speller{}
	for t := range sqltext.Trino().Parse(text).Tokens() {
		w.tokens = append(w.tokens, t)
	}
	return w.refs()
}

var (
	Limits    = limits
	Unshifted = unshifted
	Bound     = bound
)
