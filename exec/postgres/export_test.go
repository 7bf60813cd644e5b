package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// Of values, errors and plans.
var (
	Converter = func(c *sql.ColumnType) func(any) (any, error) { return converter(c, time.UTC) }
	OnText    = onText
	PlanOf    = planOf
)

// Of the parser.
var Readings = readings

const MostReadings = mostSpliced

// Listed reports whether a function is on the list.
func Listed(name string) bool { return listedFunctions[name] }

// Catalog is a catalog that decides without a connection.
type Catalog struct {
	*exec.Catalog
	Unknown error // of the policy
}

// ReadCatalog reads the catalog of a connection.
func ReadCatalog(ctx context.Context, sc *sql.Conn, p exec.Policy) (c Catalog, err error) {
	open, err := Dialect{}.Guard(exec.GuardConfig{Policy: p})
	if err != nil {
		return c, err
	}
	o, err := open(ctx, sc, time.Minute)
	if err != nil {
		return c, err
	}
	if c.Catalog, err = o.Catalog(ctx); err == nil {
		c.Text = sqltext.PostgreSQL()
		c.Unknown = c.Apply(p)
	}
	if cerr := o.Close(false); err == nil {
		err = cerr
	}
	return c, err
}

// Check decides on a statement by its tree, and says as the server would what is not there.
func (c Catalog) Check(s string) (*guard.Names, error) {
	w, err := c.Own.(*catalog).read(s, false)
	if err != nil {
		return nil, err
	}
	n := w.n
	err = c.Permit(n)
	if err == nil && (n.Own != nil || len(n.Absent) > 0) {
		err = &exec.InvalidError{Fault: "schema", Message: "a name is not there"}
	}
	return n, err
}

// Seen decides on locks, as pairs of an OID and a mode.
func (c Catalog) Seen(n *guard.Names, locks map[uint32]string) error {
	var list []lock
	for oid, mode := range locks {
		list = append(list, lock{oid, mode})
	}
	own := c.Own.(*catalog)
	seen, err := own.seen(own.unpoliced(list, c.Reads(n)))
	if err != nil {
		return err
	}
	return c.Confirm(c.Reads(n), seen)
}

// RowSecurity reports whether a table has it.
func (c Catalog) RowSecurity() bool { return c.Own.(*catalog).secured }

// MadeCatalog is a catalog without a database: a table users with a denied password, a table t and some functions.
func MadeCatalog() Catalog {
	c := newCatalog([]string{"public"}, exec.Policy{})
	out := Catalog{Catalog: &exec.Catalog{Own: c}}
	c.relations["public"] = map[string]any{}
	for i, columns := range [][]string{{"id", "name", "password"}, {"a", "b"}} {
		r := &relation{schema: "public", name: []string{"users", "t"}[i], kind: "r"}
		r.Relation = guard.NewRelation(r.schema, r.name, columns)
		r.Own = r
		for _, column := range columns {
			c.columns[column] = true
		}
		c.relations["public"][r.name] = r
		c.byOID[uint32(20000+i)] = r.Relation
		out.Relations = append(out.Relations, r.Relation)
	}
	for name := range listedFunctions {
		c.functions[name] = function{builtin: true, row: true}
	}
	for _, name := range []string{"pg_sleep", "lo_create", "nextval", "to_regclass"} {
		c.functions[name] = function{builtin: true, row: true, strict: true}
	}
	c.typeNames["pg_catalog"] = map[string]*typ{"regclass": {name: "regclass", refusal: "is not on the list"}}
	for name := range listedTypes {
		c.typeNames["pg_catalog"][name] = &typ{name: name}
	}
	if err := out.Apply(exec.Policy{DenyColumns: []string{"users.password"}}); err != nil {
		panic(err)
	}
	return out
}
