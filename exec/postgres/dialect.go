package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is PostgreSQL for exec.New and texttosql.WithDialect, by the driver github.com/jackc/pgx/v5/stdlib.
//
// Safe for concurrent use.
type Dialect struct {
	// KeepRole leaves a superuser's role as it is. Otherwise the guard gives it up for pg_read_all_data while it holds
	// a connection.
	KeepRole bool
}

var (
	_ exec.Dialect  = Dialect{}
	_ exec.Sampler  = Dialect{}
	_ exec.Finisher = (*conn)(nil)
)

// Language says how PostgreSQL is named and how its SQL is written.
func (Dialect) Language() exec.Language {
	return exec.Language{
		Name: "postgres", Title: "PostgreSQL", Text: sqltext.PostgreSQL(), Drivers: []string{"github.com/jackc/pgx"},
		Parameter: func(n int) string { return "$" + strconv.Itoa(n) },
	}
}

// Classify gives an error of the driver its type, by its SQLSTATE.
func (Dialect) Classify(err error) error { return classify(err) }

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	g := &guarding{dialect: d, config: c, plain: map[string]bool{}, reached: map[any]*pgx{}}
	return g.open, nil
}

// guarding is what is kept for one DB.
type guarding struct {
	dialect Dialect
	config  exec.GuardConfig

	mu      sync.Mutex
	last    facts           // of the connection opened last: the next one is likely to be the same
	plain   map[string]bool // places where no table has row security
	reached map[any]*pgx    // by driver connection
}

// open implements exec.Open.
func (g *guarding) open(ctx context.Context, sc *sql.Conn, timeout time.Duration) (o exec.Opened, err error) {
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
	return exec.Opened{Conn: c, Place: c.facts.place()}, nil
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
