package mysql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// The queries of a catalog. Their columns match the function that reads them.
const (
	objectsQuery = `SELECT TABLE_TYPE, TABLE_NAME, CREATE_TIME, TABLE_COMMENT, ENGINE FROM information_schema.TABLES
	WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE <> 'TEMPORARY'
UNION ALL SELECT 'view', TABLE_NAME, NULL, VIEW_DEFINITION, NULL FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()
UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME, LAST_ALTERED, SECURITY_TYPE, NULL FROM information_schema.ROUTINES
	WHERE ROUTINE_SCHEMA = DATABASE()`
	countsQuery = `SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_running', 'wsrep_connected', 'Uptime', 'Com_flush', 'Com_import')
	OR Variable_name LIKE 'Com_create%' OR Variable_name LIKE 'Com_alter%' OR Variable_name LIKE 'Com_drop%' OR Variable_name LIKE 'Com_rename%'
	OR Variable_name LIKE 'Com_grant%' OR Variable_name LIKE 'Com_revoke%'`
	columnsQuery = `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT, GENERATION_EXPRESSION
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`
	keysQuery = `SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, COALESCE(REFERENCED_TABLE_NAME, ''),
	COALESCE(REFERENCED_COLUMN_NAME, ''), ORDINAL_POSITION
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = DATABASE() AND COALESCE(REFERENCED_TABLE_SCHEMA, TABLE_SCHEMA) = TABLE_SCHEMA`
	checksQuery = `SELECT TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()
ORDER BY TABLE_NAME, CONSTRAINT_NAME`
	checksQueryMySQL = `SELECT t.TABLE_NAME, c.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS c
JOIN information_schema.TABLE_CONSTRAINTS t USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)
WHERE CONSTRAINT_SCHEMA = DATABASE() AND t.CONSTRAINT_TYPE = 'CHECK' ORDER BY t.TABLE_NAME, CONSTRAINT_NAME`
)

// objects reads what the database has, tables, views, the definitions of views and routines, and makes a version of it.
// The LIMIT beats the sql_select_limit of a statement that ran before.
func (h *held) objects(ctx context.Context, order string, take func(kind, name, text, engine string)) (version string,
	err error) {
	var lines []string // sorted here: the server would write them into a table for that
	err = h.inspect(ctx, objectsQuery+order+" LIMIT "+noLimit, func(scan func(...any) error) error {
		var kind, name, changed, text, engine sql.NullString
		err := scan(&kind, &name, &changed, &text, &engine)
		take(kind.String, name.String, text.String, engine.String)
		lines = append(lines, strings.Join([]string{kind.String, name.String, changed.String, engine.String, text.String},
			"\x00"))
		return err
	})
	slices.Sort(lines)
	return fmt.Sprintf("%.16x", sha256.Sum256([]byte(strings.Join(lines, "\n")))), err
}

// Version implements exec.Conn. It is a hash of the content of the database. The hash covers the names, kinds, comments
// and CREATE_TIME of its tables, the definitions of its views, and the names and times of its functions and procedures.
// The server updates CREATE_TIME at each ALTER, with a resolution of one second. If a table is altered twice within one
// second and read in between, the new version is visible only after its next change.
//
// To compute the hash, a server reads one file for each table: one second for 10,000 tables. The previous hash is
// reused for at most one minute. During that time MariaDB must not begin a statement that changes a schema. Nothing
// else may have run at the time of that hash: see still. Procedures and events count as clients. The hash is never
// reused if the event scheduler is on, or if the server is a replica or a Galera node.
func (h *held) Version(ctx context.Context) (string, error) {
	now, err := h.count(ctx)
	if err != nil {
		return "", err
	}
	if last, ok := h.server.sights.Load(h.where); ok && last.(sight).still(now) {
		return last.(sight).version, nil
	}
	version, err := h.objects(ctx, "", func(_, _, _, _ string) {})
	if err != nil {
		return "", err
	}
	after, err := h.count(ctx)
	isMaria := h.server.isMaria.Load()
	quiet := isMaria != nil && *isMaria && now.running == "1" && after.running == "1" && now.changes == after.changes
	h.server.sights.Store(h.where, sight{now, version, quiet})
	return version, err
}

// inspect runs a query of a catalog once.
func (h *held) inspect(ctx context.Context, text string, row func(scan func(...any) error) error) error {
	return h.conn.Raw(func(dc any) error { return guard.Inspect(ctx, dc, text, row) })
}

// counters are counters of the server.
type counters struct {
	changes string // statements begun that change a schema, or who sees what of it
	running string // threads that run a statement
	up      int64  // seconds since the start of the server
	at      time.Time
}

// count reads the counters, which any user may, in half a millisecond.
func (h *held) count(ctx context.Context) (c counters, err error) {
	c.at = time.Now()
	var name, value string
	err = guard.QueryEach(ctx, h.conn, countsQuery, func(scan func(...any) error) error {
		err := scan(&name, &value)
		switch {
		case name == "Threads_running": // on MariaDB those among them that apply a replica's changes, or run events
			c.running += value
		case name == "wsrep_connected":
			if value != "OFF" { // changes of other nodes are applied by threads that sleep
				c.running += " and Galera"
			}
		case name == "Uptime":
			c.up, _ = strconv.ParseInt(value, 10, 64)
		case !strings.Contains(name, "_temporary_"): // what one session sees alone
			c.changes += name + value + " "
		}
		return err
	})
	return c, err
}

// sight is a version, and the counters before it was read.
type sight struct {
	counters
	version string
	quiet   bool // nothing else ran then: a statement is counted where it begins, and may take its time
}

const mostStill = time.Minute // for changes that no counter shows: files that are changed by hand

// still reports whether the version of s is valid for a server with the counters now.
func (s sight) still(now counters) bool {
	passed := now.at.Sub(s.at)
	return s.quiet && s.changes != "" && s.changes == now.changes && passed < mostStill &&
		now.up >= s.up+int64(passed/time.Second)-1 // else it was started anew
}

// Catalog implements exec.Conn. It takes five statements, whatever the number of tables, and has the server prepare one
// statement for each of the first 1,000 views.
//
//   - Tables and views are sorted by name and have no Schema, because the guard lets statements read no other database.
//   - Types are as in SHOW COLUMNS, "bigint(20) unsigned". An enum or set is "enum" or "set", with its labels in
//     Values, as SQL strings.
//   - Foreign keys are sorted by name; a key to another database is left out. Unique comes from unique indexes.
//   - Invisible columns are included: a statement may name them, unless their table has a rule about rows.
//
// Sequences and temporary tables are left out. So are views that the server cannot open, because a table or their owner
// is missing, or their owner may not read it. A warning "broken-view" names each such view that the policy allows.
func (h *held) Catalog(ctx context.Context) (*exec.Catalog, error) {
	s := &schema.Schema{Dialect: "mysql", Default: h.at.database, Zone: h.at.zone}
	r := reading{held: h, s: s, at: map[string]int{}, views: map[string]string{}, unruly: map[string]string{},
		faults: map[string]string{}}
	if err := h.limit(ctx, noLimit); err != nil { // a LIMIT would slow the query of the columns down
		return nil, err
	}
	for _, part := range []func(context.Context) error{r.objects, r.columns, r.broken, r.keys, r.checks, r.grants} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	r.finish()
	return &r.out, nil
}

// reading is a catalog that is being read.
type reading struct {
	*held
	out       exec.Catalog
	s         *schema.Schema
	at        map[string]int    // name -> place in s.Tables
	views     map[string]string // definitions
	unruly    map[string]string // tables of other engines than those that keep rows of their own, and what they are
	routines  []string          // functions
	generated [][3]string       // tables, columns and their expressions
	unseen    [][2]string       // tables and their columns that a star leaves out
	faults    map[string]string // views that cannot be opened, and why
}

func (r *reading) objects(ctx context.Context) (err error) {
	r.out.Version, err = r.held.objects(ctx, " ORDER BY TABLE_NAME", func(kind, name, text, engine string) {
		switch kind {
		case "SEQUENCE", "SYSTEM VIEW", "PROCEDURE", "PACKAGE", "PACKAGE BODY":
		case "FUNCTION":
			r.routines = append(r.routines, name)
		case "view":
			r.views[name] = text
		default:
			t := schema.Table{Name: name, Kind: "table", Description: text}
			if kind == "VIEW" {
				t.Kind, t.Description = "view", "" // the server writes "VIEW" there, or why it cannot be opened
			}
			if r.at[name] = len(r.s.Tables); t.Kind == "table" && !engines[lower(engine)] {
				r.unruly[name] = "a table of the engine " + cmp.Or(engine, "that does not open it") +
					", which may read other tables"
			}
			r.s.Tables = append(r.s.Tables, t)
		}
	})
	return err
}

// engines store the rows of their tables themselves. MERGE, FEDERATED, SPIDER, CONNECT and OQGRAPH read rows that
// others store.
var engines = guard.Set("innodb myisam aria memory csv archive blackhole rocksdb tokudb columnstore s3 ndbcluster " +
	"mroonga")

// columns reads the columns of all tables. They come in order, and to ask for it doubles the time.
func (r *reading) columns(ctx context.Context) error {
	var t *schema.Table // of the row before
	return r.inspect(ctx, columnsQuery, func(scan func(...any) error) error {
		var table, name, kind, nullable, standard, extra, comment, expression sql.RawBytes
		if err := scan(&table, &name, &kind, &nullable, &standard, &extra, &comment, &expression); err != nil {
			return err
		}
		if t == nil || t.Name != string(table) {
			i, ok := r.at[string(table)]
			if !ok {
				return nil
			}
			t = &r.s.Tables[i]
		}
		c := schema.Column{Name: string(name), Type: string(kind), NotNull: string(nullable) == "NO",
			Description: string(comment)}
		for _, list := range []string{"enum", "set"} {
			if labels, ok := strings.CutPrefix(c.Type, list+"("); ok {
				c.Values = strings.ReplaceAll(strings.TrimSuffix(labels, ")"), "','", "', '")
				c.Type = list
			}
		}
		// MariaDB writes NULL for no default at all; MySQL writes DEFAULT_GENERATED for an expression. A view has the
		// default of the column under it.
		if string(standard) != "NULL" && t.Kind != "view" {
			c.Default = string(standard)
		}
		c.Generated = strings.HasSuffix(string(extra), " GENERATED")
		if strings.Contains(string(extra), "INVISIBLE") {
			r.unseen = append(r.unseen, [2]string{t.Name, c.Name})
		}
		if len(expression) > 0 {
			r.generated = append(r.generated, [3]string{t.Name, c.Name, string(expression)})
		}
		twice := slices.ContainsFunc(t.Columns, func(other schema.Column) bool {
			return schema.EqualFold(other.Name, c.Name)
		})
		if !twice { // a temporary table of the same name has columns here as well
			t.Columns = append(t.Columns, c)
		}
		return nil
	})
}

const mostProbed = 1000 // views that are tried, at some 0.2 ms each

// broken removes the columns from views that fail when they are used, though the server lists columns for some of them.
// It prepares a statement on each. That checks names and rights, runs nothing, and releases the locks on metadata at
// once. A lock that another client holds ends it.
func (r *reading) broken(ctx context.Context) error {
	probed := 0
	for i := range r.s.Tables {
		t := &r.s.Tables[i]
		if t.Kind != "view" || !r.server.policy.AllowsTable(r.s.Default, t.Name) {
			continue
		}
		if probed++; probed > mostProbed {
			return nil
		}
		statement, err := r.conn.PrepareContext(ctx, "SELECT 1 FROM "+quote(t.Name))
		if err == nil {
			err = statement.Close()
		}
		e, isServers := errors.AsType[*driverpkg.MySQLError](err)
		why := ""
		switch {
		case err == nil:
		case !isServers:
			return err
		case e.Number == 1205:
			return nil
		case e.Number == 1449, e.Number == 1045: // which one depends on the rights of this user
			why = "the user as whom it reads (its DEFINER) is gone"
		case e.Number == 1356:
			why = "a table, column or function of it is gone, or the user as whom it reads has no right to it"
		}
		if why != "" {
			t.Columns, r.faults[t.Name] = nil, why
		}
	}
	return nil
}

// checks reads which values a CHECK allows. Its condition is written by the rules of the default sql_mode.
func (r *reading) checks(ctx context.Context) error {
	query := checksQueryMySQL
	if isMaria, err := r.server.isMariaDB(ctx, r.conn); err != nil {
		return err
	} else if isMaria {
		query = checksQuery
	}
	return r.inspect(ctx, query, func(scan func(...any) error) error {
		var table, condition string
		err := scan(&table, &condition)
		if i, ok := r.at[table]; ok && err == nil {
			guard.NewText(sqltext.MySQL().Parse(condition)).AllowValues(&r.s.Tables[i])
		}
		return err
	})
}

// keys reads the unique indexes, the primary key among them, and the foreign keys, each by name. The server may write a
// name in the case of the declaration.
func (r *reading) keys(ctx context.Context) error {
	type constraint struct{ table, name, target string }
	type part struct {
		constraint
		number      int
		column, key string
	}
	var parts []part
	err := r.inspect(ctx, keysQuery, func(scan func(...any) error) error {
		var p part
		err := scan(&p.table, &p.name, &p.column, &p.target, &p.key, &p.number)
		to, known := r.s.Lookup("", p.target)
		if i, ok := r.at[p.table]; ok && (known || p.target == "") {
			p.column = proper(&r.s.Tables[i], p.column)
			if known {
				p.target, p.key = to.Name, proper(to, p.key)
			}
			parts = append(parts, p)
		}
		return err
	})
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(strings.Compare(a.table, b.table), strings.Compare(a.name, b.name), strings.Compare(a.target, b.target),
			a.number-b.number)
	})
	for len(parts) > 0 {
		first := parts[0]
		var columns, keys []string
		for ; len(parts) > 0 && parts[0].constraint == first.constraint; parts = parts[1:] {
			columns, keys = append(columns, parts[0].column), append(keys, parts[0].key)
		}
		t := &r.s.Tables[r.at[first.table]]
		switch {
		case first.target != "":
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{RefTable: first.target, Columns: columns, RefColumns: keys})
		case first.name == "PRIMARY":
			t.PrimaryKey = columns
		case !slices.ContainsFunc(t.Unique, func(other []string) bool { return slices.Equal(other, columns) }):
			t.Unique = append(t.Unique, columns)
		}
	}
	return err
}

// proper returns the name of a column as t writes it.
func proper(t *schema.Table, name string) string {
	if c, ok := t.Column(name); ok {
		return c.Name
	}
	return name
}

// grants warns of a user who may do more than read.
func (r *reading) grants(ctx context.Context) error {
	var most string
	err := r.inspect(ctx, "SHOW GRANTS", func(scan func(...any) error) error {
		var grant string
		err := scan(&grant)
		most = cmp.Or(most, beyondReading(grant))
		return err
	})
	if most != "" {
		r.out.Warnings = append(r.out.Warnings, trace.Warning{
			Code: "privileged-user",
			Message: "the database user may do more than read (" + most +
				"): the guard holds all the same, but use a user with " +
				"SELECT and SHOW VIEW on this database and nothing else",
		})
	}
	return err
}

// readingPrivileges are the privileges of a user who only reads.
var readingPrivileges = []string{"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES"}

var (
	columnLists = regexp.MustCompile(`\([^)]*\)`)
	grantParts  = regexp.MustCompile(`^GRANT (.*?) ON (?:(?:TABLE|FUNCTION|PROCEDURE|PACKAGE|PACKAGE BODY) )?(\S+) TO `)
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

// mostExpanded is how many tokens a statement may grow by where views are written out: the server merges views by
// reference, and plans so large ones within 20 ms and 4 MB. See BenchmarkCompile.
const mostExpanded = 2_000_000

// finish puts together what was read. The schema lacks what has no columns, which is a view that the server cannot
// open, and keys on columns that the user may not see.
func (r *reading) finish() {
	policy := r.server.policy
	taken := r.routines
	if policy.Scoped() {
		taken = slices.Concat(taken, clocks)
	}
	own := newCatalog(r.held.at, taken, policy.AllowFunctions)
	r.out.Own, r.out.MostExpanded = own, mostExpanded
	for _, t := range r.s.Tables {
		relation := guard.RelationOf(r.s.Default, &t)
		relation.Compares(func(name string) string { c, _ := t.Column(name); return familyOf(c) })
		relation.Orders(guard.KeyOf(&t, inKey), func(name string) guard.Trait { c, _ := t.Column(name); return traitOf(c) })
		relation.View, relation.Unruly, relation.Own = t.Kind == "view", r.unruly[t.Name], &t
		relation.Hidden = relation.Unruly != "" && policy.Restricts()
		own.relations[own.key(t.Name)] = relation
		r.out.Relations = append(r.out.Relations, relation)
		if len(t.Columns) == 0 && policy.AllowsTable(r.s.Default, t.Name) {
			reason := "the server cannot open it"
			if why := r.faults[t.Name]; why != "" {
				reason += ": " + why
			}
			r.s.LeftOut = append(r.s.LeftOut, schema.Omitted{Item: "view", Table: t.TableName(), Reason: reason})
			r.out.Warnings = append(r.out.Warnings, trace.Warning{
				Code: "broken-view", Message: "the view " + t.Name + " is left out of the schema, since " + reason,
			})
		}
	}
	for _, c := range r.unseen {
		relation := own.relations[own.key(c[0])]
		relation.Unseen = append(relation.Unseen, c[1])
	}
	for _, g := range r.generated {
		r.out.Flows = append(r.out.Flows, flows(own.relations[own.key(g[0])], g[1], g[2])...)
	}
	for _, relation := range r.out.Relations { // all are known now
		if relation.View {
			own.define(relation, r.views[relation.Name])
		}
	}
	r.out.Schema = r.s.Project(nil, nil)
	r.out.Schema.Tables = slices.Grow(r.out.Schema.Tables, 1) // no tables are a list too
}
