package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
)

// catalog is what the guard knows of a database. It does not change.
type catalog struct {
	search         []string                        // schemas in which the engine looks for a name: pg_catalog and the path
	relations      map[string]map[string]*relation // by schema and name; those of pg_catalog are there to be refused
	byOID          map[uint32]*relation            // without those of pg_catalog
	columns        map[string]bool                 // names of all columns
	functions      map[string]function             // by name, those of pg_catalog and of the path
	operators      map[string]string               // symbols of users, with their function
	types          map[string]map[string]string    // by schema and name; see readTypes
	domains        map[uint32]string               // the same for domains, by OID
	allowFunctions map[string]bool                 // Policy.AllowFunctions, folded
	hides          bool                            // the policy is about tables: which ones there are is not told
	rowSecurity    bool                            // a table has row security
	unknown        []string                        // entries of the policy that name nothing
}

// relation is what a statement may name in a FROM.
type relation struct {
	oid          uint32
	schema, name string
	kind         string // of pg_class
	refusal      error  // why it may not be read; nil if it may
	columns      map[string]bool
	reads        *reads.Relation
	under        []part // of a view: what it reads directly

	numbers map[int]string    // columns by their number
	denied  map[string]bool   // columns that may not be read
	types   map[string]uint32 // of columns, by OID
	traps   map[string]string // columns beside which a text calls a function; see readTraps
	names   []string          // as the table has them
}

// part is what a view reads of one relation.
type part struct {
	relation *relation
	columns  map[string]bool
}

// read calls row for each row of a query of ours. The names in it have their schemas.
func read(ctx context.Context, q bridge.Queryer, query string, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// users is the condition that a schema is not the engine's own.
func users(namespace string) string {
	return namespace + ".nspname <> 'information_schema' AND " + namespace + ".nspname !~ '^pg_'"
}

// ofExtensions selects the objects of a catalog that belong to an extension.
func ofExtensions(class string) string {
	return "SELECT objid FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog." + class + "'::regclass AND deptype = 'e'"
}

// readCatalog reads what the guard has to know of a database whose path is path, outside of the transaction of a
// statement: the locks that it takes would be on the list of permit. The search_path of q begins with pg_catalog.
func readCatalog(ctx context.Context, q bridge.Queryer, path []string, p exec.Policy) (*catalog, error) {
	c := newCatalog(path, p)
	var stored stored
	for _, step := range []func() error{
		func() error { return c.readRelations(ctx, q) },
		func() error { return c.readColumns(ctx, q) },
		func() error { return c.readFunctions(ctx, q) },
		func() error { return c.readOperators(ctx, q) },
		func() (err error) { stored, err = c.readStored(ctx, q); return err },
		func() error { return c.readTypes(ctx, q, stored) },
		func() error { return c.readTraps(ctx, q, stored) },
		func() error { return c.deny(ctx, q, p) },
		func() error { return c.readViews(ctx, q, stored) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, r := range c.byOID {
		r.reads = reads.NewRelation(r.schema, r.name, r.names, func(column string) bool { return r.denied[column] || r.traps[column] != "" })
	}
	c.unknown = c.missing(p)
	return c, nil
}

func newCatalog(path []string, p exec.Policy) *catalog {
	c := &catalog{
		search:    []string{"pg_catalog"},
		relations: map[string]map[string]*relation{}, byOID: map[uint32]*relation{}, columns: map[string]bool{},
		functions: map[string]function{}, operators: map[string]string{}, types: map[string]map[string]string{}, domains: map[uint32]string{},
		allowFunctions: map[string]bool{},
		hides:          len(p.AllowTables) > 0 || len(p.DenyTables) > 0,
	}
	for _, name := range path {
		if name != "pg_catalog" {
			c.search = append(c.search, name)
		}
	}
	for _, entry := range p.AllowFunctions {
		c.allowFunctions[schema.Fold(strings.Trim(entry, `"`))] = true
	}
	return c
}

func (c *catalog) onPath(schemaName string) bool {
	return schemaName != "pg_catalog" && slices.Contains(c.search, schemaName)
}

func (c *catalog) readRelations(ctx context.Context, q bridge.Queryer) error {
	return read(ctx, q, `SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, c.relrowsecurity FROM pg_catalog.pg_class c
 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND (n.nspname = 'pg_catalog' OR `+users("n")+`)`,
		func(scan func(...any) error) error {
			r := &relation{columns: map[string]bool{}, numbers: map[int]string{}, denied: map[string]bool{}, types: map[string]uint32{}}
			var secured bool
			if err := scan(&r.oid, &r.schema, &r.name, &r.kind, &secured); err != nil {
				return err
			}
			c.rowSecurity = c.rowSecurity || secured
			if c.relations[r.schema] == nil {
				c.relations[r.schema] = map[string]*relation{}
			}
			c.relations[r.schema][r.name] = r
			if r.schema == "pg_catalog" || r.kind == "S" {
				r.refusal = refuse(exec.ReasonTable, r.name+" is no table of the schema")
				return nil
			}
			c.byOID[r.oid] = r
			return nil
		})
}

func (c *catalog) readColumns(ctx context.Context, q bridge.Queryer) error {
	return read(ctx, q, `SELECT a.attrelid::bigint, a.attnum::int, a.attname::text, a.atttypid::bigint FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND `+users("n")+` ORDER BY 1, 2`,
		func(scan func(...any) error) error {
			var oid, of uint32
			var number int
			var name string
			if err := scan(&oid, &number, &name, &of); err != nil {
				return err
			}
			c.columns[name] = true
			if r := c.byOID[oid]; r != nil {
				r.columns[name], r.numbers[number], r.types[name] = true, name, of
				r.names = append(r.names, name)
			}
			return nil
		})
}

func (c *catalog) readFunctions(ctx context.Context, q bridge.Queryer) error {
	return read(ctx, q, `SELECT s.name, s.nspname, s.extension, pg_catalog.bool_or(s.single), pg_catalog.bool_or(s.single AND s.changing) FROM (
 SELECT p.proname::text AS name, n.nspname::text AS nspname, p.oid IN (`+ofExtensions("pg_proc")+`) AS extension,
 p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 AND p.proargtypes[0] <> 2281 AS single, p.provolatile <> 'i' AS changing
 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'pg_catalog' OR `+users("n")+`) s GROUP BY 1, 2, 3`,
		func(scan func(...any) error) error {
			var name, schemaName string
			var extension, single, changing bool
			if err := scan(&name, &schemaName, &extension, &single, &changing); err != nil {
				return err
			}
			builtin := schemaName == "pg_catalog"
			if !builtin && !c.onPath(schemaName) {
				return nil
			}
			f := c.functions[name]
			f.builtin = f.builtin || builtin
			f.user = f.user || !builtin && !extension
			f.row = f.row || single
			f.strict = f.strict || changing || single && !builtin
			c.functions[name] = f
			return nil
		})
}

// find returns the relation that the engine means by a name; nil where there is none, or one of another kind.
func (c *catalog) find(schemaName, name string) *relation {
	if schemaName != "" {
		return c.relations[schemaName][name]
	}
	for _, s := range c.search {
		if r := c.relations[s][name]; r != nil {
			return r
		}
	}
	return nil
}

// named returns the relation that a statement names, if it may be read. Where the policy keeps tables from being read,
// one that is not there is refused in the same words.
func (c *catalog) named(schemaName, name string) (*relation, error) {
	r := c.find(schemaName, name)
	switch own := schemaName == "information_schema" || strings.HasPrefix(schemaName, "pg_"); {
	case r != nil && (r.refusal == nil || !c.hides):
		return r, r.refusal
	case c.hides:
		return nil, c.unreadable(schemaName, name)
	case own:
		return nil, refuse(exec.ReasonTable, qualified(schemaName, name)+" is no table of the schema")
	}
	return nil, &exec.InvalidError{Fault: exec.FaultSchema, Message: "relation " + strconv.Quote(qualified(schemaName, name)) + " does not exist", Name: name}
}

func (c *catalog) unreadable(schemaName, name string) error {
	return refuse(exec.ReasonTable, qualified(schemaName, name)+" is no table that may be read")
}
