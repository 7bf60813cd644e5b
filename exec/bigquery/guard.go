package bigquery

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// guard is the bridge.Guard of one DB.
type guard struct {
	config exec.GuardConfig
	added  map[string]bool // functions of the policy

	mu      sync.Mutex
	tables  map[ref]*table
	checked bool // the names of the policy were looked up
	known   []*table
	asked   time.Time // when known was all
}

// strictAge is how old a table of a statement may be where a policy denies columns.
const strictAge = time.Second

// Guard makes the guard of a DB. See the package comment for what it does.
func (Dialect) guarded(c exec.GuardConfig) (bridge.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("bigquery: GuardConfig.CellBytes is negative")
	}
	g := &guard{config: c, added: map[string]bool{}, tables: map[ref]*table{}}
	for _, name := range c.Policy.AllowFunctions {
		g.added[strings.ToLower(strings.ReplaceAll(name, `"`, ""))] = true
	}
	return g, nil
}

// Hold implements bridge.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	h, err := g.hold(conn, timeout)
	if err != nil {
		return nil, err
	}
	if err := g.check(ctx, h.service); err != nil {
		return nil, unblamed(err)
	}
	return h, nil
}

// Catalog implements bridge.Guard.
func (g *guard) Catalog(_ context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	h, err := g.hold(conn, timeout)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (g *guard) hold(sc *sql.Conn, timeout time.Duration) (*held, error) {
	h := &held{guard: g, conn: sc, timeout: timeout}
	err := sc.Raw(func(dc any) error {
		if g.config.Unwrap != nil {
			dc = g.config.Unwrap(dc)
		}
		c, ok := dc.(*conn)
		if !ok {
			return &exec.UnguardedError{
				Reason: fmt.Sprintf("the driver connection %T is not that of this package", dc),
				Remedy: "open the pool with bigquery.Open",
			}
		}
		h.service = c.connector
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// check looks up the names of the policy, once.
func (g *guard) check(ctx context.Context, c *connector) error {
	g.mu.Lock()
	checked := g.checked
	g.mu.Unlock()
	p := g.config.Policy
	if checked || !p.Restricts() && len(p.Reveal) == 0 {
		return nil
	}
	all, err := g.snapshot(ctx, c)
	if err != nil {
		return err
	}
	var unknown []string
	look := func(field string, entries []string, names func(t *table, entry string) bool) {
		for _, entry := range entries {
			if slices.ContainsFunc(all, func(t *table) bool { return names(t, entry) }) {
				continue
			}
			text := fmt.Sprintf("%s: %q", field, entry)
			if strings.HasPrefix(entry, c.client.Project()+".") {
				text += " (leave the project out where it is that of the client)"
			}
			unknown = append(unknown, text)
		}
	}
	isTable := func(t *table, entry string) bool {
		return !exec.Policy{DenyTables: []string{entry}}.AllowsTable(t.schema, t.name)
	}
	isColumn := func(t *table, entry string) bool {
		return slices.ContainsFunc(t.columns, func(c column) bool {
			return !exec.Policy{DenyColumns: []string{entry}}.AllowsColumn(t.schema, t.name, c.name)
		})
	}
	look("AllowTables", p.AllowTables, isTable)
	look("DenyTables", p.DenyTables, isTable)
	look("DenyColumns", p.DenyColumns, isColumn)
	look("Reveal", p.Reveal, func(t *table, entry string) bool { return entry == "*" || isColumn(t, entry) })
	if len(unknown) > 0 {
		return &exec.PolicyError{Unknown: unknown}
	}
	g.mu.Lock()
	g.checked = true
	g.mu.Unlock()
	return nil
}

// snapshot is all tables, asked for again where that was longer ago than Config.Refresh.
func (g *guard) snapshot(ctx context.Context, c *connector) ([]*table, error) {
	g.mu.Lock()
	known, asked := g.known, g.asked
	g.mu.Unlock()
	if known != nil && time.Since(asked) < c.config.Refresh {
		return known, nil
	}
	start := time.Now()
	known, err := g.all(ctx, c, c.config.Refresh)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.asked = append([]*table{}, known...), start
	return known, nil
}

// held is a connection under guard.
type held struct {
	guard   *guard
	conn    *sql.Conn
	service *connector
	timeout time.Duration
	last    admitted

	statement *sql.Stmt
	rows      *sql.Rows
}

// Release implements bridge.Held. There is nothing to put back.
func (h *held) Release(drop bool) error {
	h.close()
	if !drop {
		return nil
	}
	if err := h.conn.Raw(func(any) error { return driver.ErrBadConn }); err != nil && !errors.Is(err, driver.ErrBadConn) {
		return err
	}
	return nil
}

// Classify implements bridge.Held.
func (h *held) Classify(err error) error { return h.classify(err, exec.FaultRun) }

// classify is classify without the names that the service knows and a policy hides.
func (h *held) classify(err error, fault exec.Fault) error {
	err = classify(err, fault)
	var invalid *exec.InvalidError
	if errors.As(err, &invalid) && h.guard.config.Policy.Restricts() {
		return &exec.InvalidError{Fault: invalid.Fault, Message: suggestion.ReplaceAllString(invalid.Message, ""), Name: invalid.Name}
	}
	return err
}

// Converter implements exec.Converter.
func (h *held) Converter(column *sql.ColumnType) func(any) (any, error) { return converter(column) }
