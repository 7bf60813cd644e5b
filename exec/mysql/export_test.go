package mysql

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/sqlc-dev/marino/ast"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// What tests of the package's parts need.
var (
	BeyondReading = beyondReading
	ConverterOf   = converter
	ReadPlan      = readPlan
)

// Functions are those of the list.
func Functions() []string { return slices.Clone(functions) }

// Compared is held.compared without a server.
func Compared(t *schema.Table, rule string, params []string) error {
	_, err := (&held{server: &server{}}).compared(&guard.Relation{Own: t}, rule, params)
	return err
}

// Moment converts a value of a column of that type.
func Moment(kind string, v any) (any, error) { return conversion(kind)(v) }

// StatementWarnings are those of the last statement on a connection.
func StatementWarnings(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return (&held{conn: conn}).warnings(ctx)
}

// Fields is how many columns the parser sees in a SELECT without FROM.
func Fields(text string) (n int, err error) {
	err = guard.RecoverWalk(func() {
		tree, _ := parse(sqltext.MySQL().Parse(text), 0)
		if s, ok := tree.(*ast.SelectStmt); ok {
			n = len(s.Fields.Fields)
		}
	})
	if err == nil && n == 0 {
		err = errors.New("no SELECT")
	}
	return n, err
}

// Parse parses a text as the guard does, and walks it as a statement on a database without tables or views.
func Parse(text string) error {
	_, err := newCatalog(place{}, nil, nil).read(sqltext.MySQL().Parse(text), 0, false)
	return err
}
