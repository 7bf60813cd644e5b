package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is the PostgreSQL dialect for exec.New and texttosql.WithDialect, with the driver
// github.com/jackc/pgx/v5/stdlib.
//
// A Dialect is safe for concurrent use.
type Dialect struct {
	// KeepRole keeps a superuser's role. Otherwise the guard switches to pg_read_all_data while it holds a connection.
	KeepRole bool
}

var (
	_ exec.Dialect = Dialect{}
	_ exec.Sampler = Dialect{}
)

// Language returns the name of PostgreSQL and the rules for writing its SQL.
func (Dialect) Language() exec.Language {
	return exec.Language{
		Name: "postgres", Title: "PostgreSQL", Text: sqltext.PostgreSQL(), Drivers: []string{"github.com/jackc/pgx"},
		Keywords: keywords, BareFunctions: bareFunctions,
		Instead:   instead,
		Dates:     "Today is CURRENT_DATE. All moments of a day are c >= DATE '2024-04-30' AND c < DATE '2024-05-01'.",
		Parameter: func(n int) string { return "$" + strconv.Itoa(n) },
	}
}

// keywords are the words that quote_ident of version 15 puts in quotes, system_user of version 16, and operator,
// which the guard's parser takes for a keyword.
var keywords = guard.Set(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
char character check coalesce collate collation column concurrently constraint create cross current_catalog
current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable
desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group
grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading
least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric
offset on only operator or order out outer overlaps overlay placing position precision primary real references returning right
row select session_user setof similar smallint some substring symmetric system_user table tablesample then time
timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where window with
xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`)

// bareFunctions are described at exec.Language.
var bareFunctions = guard.Set(`current_catalog current_date current_role current_schema current_time current_timestamp current_user localtime
localtimestamp session_user system_user user`)

// Classify gives a driver error its type, by its SQLSTATE.
func (Dialect) Classify(err error) error { return classify(err) }

// Guard returns the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	g := &guarding{dialect: d, config: c, plain: map[string]bool{}}
	return g.open, nil
}

// guarding holds the data of one DB.
type guarding struct {
	dialect Dialect
	config  exec.GuardConfig

	mu    sync.Mutex
	last  facts           // of the connection opened last: the next one is likely to be the same
	plain map[string]bool // places where no table has row security
}

// open implements exec.Open.
func (g *guarding) open(ctx context.Context, sc *sql.Conn, timeout time.Duration) (o exec.GuardedConn, err error) {
	c := &conn{guarding: g, conn: sc, timeout: timeout}
	defer func() {
		if r := recover(); r != nil {
			c.leave(true)
			err = fmt.Errorf("postgres: guarding a connection: the driver panicked: %v", r)
		}
	}()
	if err := c.install(ctx); err != nil {
		c.leave(ctx.Err() != nil)
		return o, err
	}
	return exec.GuardedConn{Conn: c, Place: c.facts.place(), EndUse: c.endUse}, nil
}

// met notes what a connection is, if f is known, and returns what the next one is likely to be, and whether no table
// that it sees has row security.
func (g *guarding) met(f facts) (last facts, plain bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f != (facts{}) {
		g.last = f
	}
	return g.last, g.plain[g.last.place()]
}

// learn notes whether a table at a place has row security.
func (g *guarding) learn(place string, plain bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plain[place] = plain
}

const (
	// sampleLeast is how many rows a spread sample is chosen from, however few they are: TABLESAMPLE SYSTEM takes whole
	// blocks, which hold a hundred rows each.
	sampleLeast = 2000
	// sampleTries bounds the statements that look for the length of a table. Each tries a tenth of the share before.
	sampleTries = 8
)

// SampleRows reads the first rows of t in the order in which the engine scans it.
//
// With Spread, a table longer than Rows is read by TABLESAMPLE SYSTEM, which reads only some of its blocks and chooses
// them by Seed. SampleRows finds the share by counting the rows of smaller and smaller samples. Each sample has at most
// twice the needed rows, so a table of any length costs the same. If the sample has less than half of Rows, or the
// engine cannot sample the relation (views, foreign tables), the first rows are taken. A table with a rule about
// rows gives its first rows too, because the guard refuses TABLESAMPLE of it. SampleRows does not use
// the statistics of ANALYZE: they may be missing or old, and Profile promises to report what it read.
func (d Dialect) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(d.Language()), t, o, d.Language().Quote, func(kind, column string) string {
		switch kind, _, _ = strings.Cut(kind, "("); { // where a type keeps its meaning
		case kind == "bytea":
			return fmt.Sprintf("pg_catalog.substring(%s, 1, %d)", column, o.Cut)
		case kind == "text" || kind == "character varying":
			return fmt.Sprintf("pg_catalog.left(%s, %d)", column, o.Cut)
		case kind == "json" || kind == "jsonb" || strings.HasSuffix(kind, "[]"):
			return fmt.Sprintf("pg_catalog.left(%s::text, %d)", column, o.Cut)
		}
		return column
	})
	s.Count = "pg_catalog.count"
	s.Spread = func(ctx context.Context, known exec.RowSample) ([][]any, error) {
		if t.Kind != "table" {
			return nil, nil
		}
		rows, err := spread(ctx, run, s, o, known)
		if errors.As(err, new(*exec.InvalidError)) || errors.As(err, new(*exec.RefusedError)) {
			return nil, nil
		}
		return rows, err
	}
	return guard.SampleRows(ctx, run, s, o)
}

// spread reads rows from all over a long table.
func spread(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), s guard.Sampled,
	o exec.SampleOptions, known exec.RowSample,
) ([][]any, error) {
	want := int64(max(o.Rows, sampleLeast))
	of := func(percent float64) string {
		return fmt.Sprintf(" TABLESAMPLE SYSTEM (%.6f) REPEATABLE (%d)", min(percent, 100), o.Seed%(1<<31))
	}
	percent, found := 100., known.Count
	if known.Count == 0 || known.CountAtLeast {
		var err error
		for try := 0; ; try++ {
			if found, err = s.CountRows(ctx, run, of(percent), 2*want+1); err != nil {
				return nil, err
			}
			if found <= 2*want || try == sampleTries {
				break
			}
			percent /= 10
		}
	}
	percent *= float64(want) / float64(max(found, 1))
	text := fmt.Sprintf("SELECT %s FROM %s%s LIMIT %d", s.List, s.From, of(percent), 2*want)
	if step := min(found, want) / int64(o.Rows); step >= 2 { // of more rows than requested, every n-th
		names := make([]string, len(o.Columns))
		for i := range names {
			names[i] = fmt.Sprintf("c%d", i+1)
		}
		list := strings.Join(names, ", ")
		text = fmt.Sprintf("SELECT %s FROM (SELECT %s, pg_catalog.row_number() OVER () FROM %s%s LIMIT %d) AS s(%[1]s, n) "+
			"WHERE s.n %% %[6]d = %[7]d LIMIT %[8]d",
			list, s.List, s.From, of(percent), 2*want, step, 1+o.Seed%uint64(step-1), o.Rows)
	}
	rows, err := run(ctx, text, o.Rows)
	if err != nil {
		return nil, err
	}
	return rows.Rows, nil
}
