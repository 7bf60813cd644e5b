package mysql

import (
	"errors"

	"github.com/sqlc-dev/marino/ast"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// Lax is the Dialect without one of its walls.
type Lax struct {
	Dialect
	Without string // "tree": and all that depends on it; "policy": what the tree says of denied tables and columns
}

// Guard makes a guard that lacks the wall.
func (d Lax) Guard(c exec.GuardConfig) (exec.Open, error) {
	g, err := d.Dialect.guarded(c)
	if err != nil {
		return nil, err
	}
	g.(*guard).without = d.Without
	return bridge.Open(d, d.Language(), c, g), nil
}

// Fields is how many columns the parser sees in a SELECT without FROM.
func Fields(text string) (int, error) {
	s, err := parse(text, 0)
	if err != nil {
		return 0, err
	}
	if s, ok := s.(*ast.SelectStmt); ok {
		return len(s.Fields.Fields), nil
	}
	return 0, errors.New("no SELECT")
}

// Parse parses a text as the guard does, and walks it as a statement on a database without tables or views.
func Parse(text string) error {
	c := &catalog{relations: map[string]*relation{}, functions: map[string]bool{}}
	for _, name := range functions {
		c.functions[name] = true
	}
	_, err := c.check(text, false)
	return err
}
