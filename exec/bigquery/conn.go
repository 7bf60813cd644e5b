package bigquery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// guarded is a connection under guard.
type guarded struct {
	store     *store
	conn      *sql.Conn
	service   *connector
	timeout   time.Duration
	restricts bool // the policy keeps something from being read

	tables   *snapshot // what Version found last
	suspects []ref     // tables of the last statement, unless it was admitted
}

// mostTables is how many tables of a statement the service tells.
const mostTables = 50

// Version implements exec.Conn. Within Config.Refresh it asks for the tables of a statement that was refused, and else
// for nothing.
func (g *guarded) Version(ctx context.Context) (string, error) {
	tables, err := g.store.current(ctx, g.service, g.suspects)
	if err != nil {
		return "", err
	}
	g.tables = tables
	return tables.version, nil
}

// Catalog implements exec.Conn. It asks for nothing: Version did.
func (g *guarded) Catalog(context.Context) (*exec.Catalog, error) {
	c, of := g.service, map[ref]*guard.Relation{}
	out := &exec.Catalog{Version: g.tables.version, Own: of}
	out.Schema = &schema.Schema{Dialect: "bigquery", Default: c.schemaName(c.datasets[0]), Tables: []schema.Table{}}
	for _, t := range g.tables.all {
		r := guard.RelationOf(t.schema, &t.shown)
		r.Own, r.Refused = t, t.refused
		of[t.ref] = r
		out.Relations = append(out.Relations, r)
		out.Schema.Tables = append(out.Schema.Tables, t.shown)
	}
	for _, t := range g.tables.all {
		if t.view == nil {
			continue
		}
		r, body := of[t.ref], c.bind(t.view, t.project, of)
		if body.outside != "" || len(body.Absent) > 0 {
			r.Refused = guard.NotReadable(t.name)
		} else {
			r.View, r.Body = true, body.Names
		}
		if t.kind == bigquery.ViewTable {
			r.Definition = t.query
		}
	}
	return out, nil
}

func (g *guarded) Read(_ context.Context, s *exec.Statement) (*guard.Names, error) {
	g.suspects = nil
	n, err := read(s.Statement, g.store.added, len(s.Args) > 0)
	if err != nil {
		return nil, err
	}
	b := g.service.bind(n, "", s.Catalog.Own.(map[ref]*guard.Relation))
	g.suspects = slices.Compact(slices.SortedFunc(slices.Values(b.tables), ref.compare))
	switch {
	case b.outside != "":
		return nil, guard.Refuse("table", "%s is in no dataset of the Config", b.outside)
	case len(b.tables) > mostTables:
		return nil, guard.Refuse("too-complex", "it names %d tables; at most %d are allowed", len(b.tables),
			mostTables)
	}
	for _, u := range s.Catalog.Reads(b.Names) { // what lies under views
		if r := u.Relation.Own.(*table).ref; !slices.Contains(g.suspects, r) {
			g.suspects = append(g.suspects, r)
		}
	}
	return b.Names, nil
}

// Confirm implements exec.Conn: what the dry run says decides, whatever the text looks like.
func (g *guarded) Confirm(ctx context.Context, s *exec.Statement) (seen guard.EngineReport, err error) {
	if err := g.fresh(ctx, s, g.suspects); err != nil {
		return seen, err
	}
	reads := s.Catalog.Reads(s.Names)
	if l := listingOf(s, reads); l != nil {
		s.Names.Own, g.suspects = l, nil
		return seen, nil
	}
	dry, err := g.dryRun(ctx, s)
	if err != nil {
		return seen, err
	}
	var chosen []ref // by the service, as a materialized view is
	for _, t := range dry.ReferencedTables {
		if t.TableID == "" {
			continue
		}
		at := ref{dataset{t.ProjectID, t.DatasetID}, t.TableID}
		r := s.Catalog.Own.(map[ref]*guard.Relation)[at]
		switch {
		case slices.ContainsFunc(reads, func(u guard.Read) bool { return u.Relation == r }):
			seen.Relations = append(seen.Relations, r)
		case r != nil && r.Allowed() && r.Refused == nil && !r.Hides():
			chosen = append(chosen, at)
		default:
			return seen, g.unnamed(at)
		}
	}
	if err := g.fresh(ctx, s, chosen); err != nil {
		return seen, err
	}
	if s.Names.Own = dry; len(s.Names.Absent) == 0 {
		g.suspects = nil
	}
	return seen, nil
}

// dryRun asks what a statement would do, and refuses what is no SELECT or reads too much.
func (g *guarded) dryRun(ctx context.Context, s *exec.Statement) (*bigquery.QueryStatistics, error) {
	dry, err := g.service.dryRun(ctx, s.SQL(), s.Args)
	most := g.service.config.MaxBytesBilled
	switch {
	case err != nil && len(s.Args) > 0: // a value that is not of the column's type
		return nil, g.classify(err, "run")
	case err != nil:
		return nil, g.classify(err, "compile")
	case dry.StatementType != "SELECT":
		why := fmt.Sprintf("the service takes it for %q, and no SELECT", dry.StatementType)
		return nil, &exec.RefusedError{Reason: "statement", Detail: why, Writes: true}
	case dry.TotalBytesProcessed > most:
		return nil, tooManyBytes(most)
	}
	return dry, nil
}

// unnamed is the refusal of a table that the service reads and no name of the statement explains.
func (g *guarded) unnamed(at ref) error {
	if slices.Contains(g.service.datasets, at.dataset) {
		g.suspects = append(g.suspects, at)
	}
	if g.restricts {
		return guard.NotReadable("something that the service reads for this statement")
	}
	return guard.NotReadable(at.project + "." + at.dataset.name + "." + at.name)
}

// fresh reports tables of a statement that changed since its catalog was read, where a policy denies columns.
func (g *guarded) fresh(ctx context.Context, s *exec.Statement, tables []ref) error {
	if !g.store.strict || len(tables) == 0 {
		return nil
	}
	found, err := g.store.look(ctx, g.service, tables, time.Now().Add(-strictAge))
	if err != nil {
		return err
	}
	for i, r := range tables {
		known, now := s.Catalog.Own.(map[ref]*guard.Relation)[r], found[i]
		if (known == nil) != (now == nil) || now != nil && known.Own.(*table).sum != now.sum {
			g.suspects = tables
			return guard.ErrStale
		}
	}
	return nil
}

// Explain implements exec.Conn: the plan is what the dry run told, the bytes and the tables. The bytes are
// Plan.EngineCost, so that exec.Limits.EngineCost bounds them. Of clustered tables they are an upper bound.
func (g *guarded) Explain(_ context.Context, s *exec.Statement) (p exec.Plan, err error) {
	dry, ok := s.Names.Own.(*bigquery.QueryStatistics)
	if !ok {
		p.AddText("rows are listed, and no job runs")
		return p, nil
	}
	how := ""
	if dry.TotalBytesProcessedAccuracy != "" {
		how = " (" + strings.ToLower(dry.TotalBytesProcessedAccuracy) + ")"
	}
	tables := make([]schema.TableName, len(dry.ReferencedTables))
	for i, t := range dry.ReferencedTables {
		tables[i] = schema.TableName{Schema: g.service.schemaName(dataset{t.ProjectID, t.DatasetID}), Name: t.TableID}
	}
	slices.SortFunc(tables, func(a, b schema.TableName) int { return strings.Compare(a.String(), b.String()) })
	p.AddText(fmt.Sprintf("%d bytes are read%s", dry.TotalBytesProcessed, how))
	for _, t := range tables {
		p.Rows = append(p.Rows, exec.PlanRow{ID: len(p.Rows) + 1, Detail: "read " + t.String(), Scans: []schema.TableName{t}})
	}
	p.EngineCost = float64(dry.TotalBytesProcessed)
	return p, nil
}

func (g *guarded) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	args := append([]any{job{timeout: g.timeout, rows: b.Rows + 1}}, s.Args...)
	if l, ok := s.Names.Own.(*listing); ok {
		args = []any{l}
	}
	classified := func(err error) error { return g.classify(err, "run") }
	rows, statement, err := guard.Query(ctx, g.conn, s.SQL(), args...)
	return &exec.Rows{Rows: rows, Statement: statement, Convert: converter, Type: typeOf, Classify: classified},
		classified(err)
}

// classify is classify without the names that the service knows and a policy hides.
func (g *guarded) classify(err error, fault string) error {
	err = classify(err, fault)
	var invalid *exec.InvalidError
	if g.restricts && errors.As(err, &invalid) {
		text := suggestion.ReplaceAllString(invalid.Message, "")
		return &exec.InvalidError{Fault: invalid.Fault, Message: text, Name: invalid.Name}
	}
	return err
}

// Close implements exec.Conn. There is nothing to put back.
func (g *guarded) Close(drop bool) error {
	if !drop {
		return nil
	}
	return guard.Discard(g.conn)
}
