package mysql

import "github.com/texttosql/texttosql/exec"

// Lax is the Dialect without one of its walls.
type Lax struct {
	Dialect
	Without string // "tree": and all that depends on it; "policy": what the tree says of denied tables and columns
}

// Guard makes a guard that lacks the wall.
func (d Lax) Guard(c exec.GuardConfig) (exec.Guard, error) {
	g, err := d.Dialect.Guard(c)
	if err == nil {
		g.(*guard).without = d.Without
	}
	return g, err
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
