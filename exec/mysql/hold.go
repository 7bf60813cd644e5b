package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sqlc-dev/marino/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
)

// releaseTimeout bounds putting a connection back; exec waits for less.
const releaseTimeout = 2 * time.Second

// held is a connection under guard.
type held struct {
	guard   *guard
	conn    *sql.Conn
	timeout time.Duration // of a statement
	reads   bool          // it reads the catalog, so no statement from outside comes

	at      place
	old     []variable // what release sets back, in order
	rows    string     // sql_select_limit now
	catalog *catalog
	lost    bool // the connection is closed, or may be

	statement *sql.Stmt
	open      *sql.Rows
	limited   bool // the statement has a LIMIT of its own
}

type variable struct {
	name  string
	value sql.NullString
}

// place is where a connection is, and how its server reads text.
type place struct {
	database string
	mode     mysql.SQLMode
	folds    bool // names of tables are the same in all letters
}

// Hold implements bridge.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout})
}

// Catalog implements bridge.Guard.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout, reads: true})
}

func (g *guard) hold(ctx context.Context, h *held) (bridge.Held, error) {
	err := h.install(ctx)
	if err == nil && !h.reads {
		h.catalog, err = g.catalogOf(ctx, h, false)
	}
	if err == nil {
		return h, nil
	}
	err = unblamed(err)
	return nil, errors.Join(err, h.Release(errors.Is(err, driver.ErrBadConn)))
}

// unblamed gives an error of a statement of our own a type that blames no statement of a caller.
func unblamed(err error) error {
	switch typed := classify(err); {
	case exec.IsRejection(typed):
		return fmt.Errorf("mysql: guarding a connection: %v", typed)
	case isTyped(typed):
		return typed
	}
	return fmt.Errorf("mysql: guarding a connection: %w", err)
}

// install looks at the connection and changes its settings, in two round trips. Everything that it sends is ours.
func (h *held) install(ctx context.Context) error {
	isMaria, err := h.guard.server(ctx, h.conn)
	if err != nil {
		return err
	}
	settings, transaction := ofMySQL, "0"
	if isMaria {
		settings, transaction = ofMariaDB, "@@in_transaction"
	}
	if len(h.guard.config.Policy.DenyColumns) == 0 {
		settings = slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return s.trace })
	}
	query := "SELECT " + transaction + ", @@sql_mode, @@character_set_client, DATABASE(), @@lower_case_table_names"
	for _, s := range settings {
		query += ", @@session." + s.name
	}
	found := make([]sql.NullString, 5+len(settings))
	err = each(ctx, h.conn, query, func(scan func(...any) error) error {
		dest := make([]any, len(found))
		for i := range found {
			dest[i] = &found[i]
		}
		return scan(dest...)
	})
	if err != nil {
		h.guard.forget() // another server than the one before may be behind the pool
		return err
	}
	if !isMaria {
		if err := h.idle(ctx, found); err != nil {
			return err
		}
	}
	if h.at, err = h.guard.dialect.place(found); err != nil {
		return err
	}
	var set []string
	for i, s := range settings {
		old := found[5+i]
		value := sql.NullString{String: s.wanted(old, h.timeout), Valid: true}
		if s.name == "sql_select_limit" {
			h.rows = value.String
		}
		if old != value || s.moves {
			h.old = append(h.old, variable{s.name, old})
			set = append(set, assignment(s.name, value))
		}
	}
	_, err = h.conn.ExecContext(ctx, "SET "+strings.Join(set, ", "))
	return err
}

// idle refuses a connection to MySQL with an open transaction: such a one refuses to change the characteristics of its
// next transaction, which stay what they are.
func (h *held) idle(ctx context.Context, found []sql.NullString) error {
	access := "READ WRITE"
	if found[5].String == "1" { // transaction_read_only is the first of ofMySQL
		access = "READ ONLY"
	}
	_, err := h.conn.ExecContext(ctx, "SET TRANSACTION "+access)
	if e, ok := serverErrorOf(err); ok && e.number == 1568 {
		found[0].String = "1"
		return nil
	}
	return err
}

// foreign are the modes of sql_mode in which a server reads text by other rules than ours.
var foreign = []string{"ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"}

// systems are the databases of a server itself.
var systems = []string{"mysql", "information_schema", "performance_schema", "sys"}

// place reads the first columns of the query of install, and refuses what cannot be guarded.
func (d Dialect) place(found []sql.NullString) (p place, err error) {
	modes := strings.Split(found[1].String, ",")
	has := func(mode string) bool { return slices.Contains(modes, mode) }
	unguarded := func(reason, remedy string) error { return &exec.UnguardedError{Reason: reason, Remedy: remedy} }
	p.database, p.folds = found[3].String, found[4].String != "0"
	p.mode = mysql.ModeNone
	for _, m := range []struct {
		name string
		bit  mysql.SQLMode
	}{
		{"ANSI_QUOTES", mysql.ModeANSIQuotes}, {"NO_BACKSLASH_ESCAPES", mysql.ModeNoBackslashEscapes}, {"PIPES_AS_CONCAT", mysql.ModePipesAsConcat},
		{"IGNORE_SPACE", mysql.ModeIgnoreSpace}, {"HIGH_NOT_PRECEDENCE", mysql.ModeHighNotPrecedence},
	} {
		if has(m.name) {
			p.mode |= m.bit
		}
	}
	if found[0].String != "0" {
		return p, unguarded("a transaction is open on the connection, which its caller began and did not end", "commit it or roll it back before the connection goes back to the pool")
	}
	if i := slices.IndexFunc(foreign, has); i >= 0 {
		return p, unguarded("the sql_mode of the connection has "+foreign[i]+", which changes how text is read", "take it out of sql_mode, in the DSN with sql_mode=…")
	}
	for _, m := range []struct {
		name, field string
		want        bool
	}{{"ANSI_QUOTES", "ANSIQuotes", d.ANSIQuotes}, {"NO_BACKSLASH_ESCAPES", "NoBackslashEscapes", d.NoBackslashEscapes}} {
		switch {
		case has(m.name) && !m.want:
			return p, unguarded("the sql_mode of the connection has "+m.name, "give mysql.Dialect{"+m.field+": true}, or take the mode out in the DSN with sql_mode=…")
		case !has(m.name) && m.want:
			return p, unguarded("mysql.Dialect says "+m.field+", and the sql_mode of the connection has not "+m.name, "leave the field out, or set the mode in the DSN with sql_mode=…")
		}
	}
	switch charset := found[2].String; {
	case !strings.HasPrefix(charset, "utf8"):
		return p, unguarded("the character set of the connection is "+charset+", in which bytes of a letter may be read as a quote", "open it with charset=utf8mb4")
	case p.database == "":
		return p, unguarded("the connection has no database", "name one behind the slash of the DSN: user@tcp(host:3306)/shop")
	case slices.Contains(systems, schema.Fold(p.database)):
		return p, unguarded("the database of the connection is "+p.database+", one of the server's own", "name another one behind the slash of the DSN")
	}
	return p, nil
}

// Release implements bridge.Held.
func (h *held) Release(drop bool) error {
	fit := false
	defer func() {
		if !fit { // also where the driver panics
			h.conn.Raw(func(any) error { return driver.ErrBadConn }) // database/sql closes it
		}
	}()
	h.close()
	if !drop && h.fit() {
		ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
		defer cancel()
		var set []string
		for _, v := range h.old {
			set = append(set, assignment(v.name, v.value))
		}
		var err error
		if len(set) > 0 {
			_, err = h.conn.ExecContext(ctx, "SET "+strings.Join(set, ", "))
		}
		fit = err == nil
	}
	return nil
}

// fit reports whether the connection is open, as far as its driver knows.
func (h *held) fit() bool {
	valid := !h.lost
	err := h.conn.Raw(func(dc any) error {
		if v, ok := dc.(driver.Validator); ok {
			valid = valid && v.IsValid()
		}
		return nil
	})
	return err == nil && valid
}

// Finish implements exec.Finisher.
func (h *held) Finish(context.Context) (bool, error) {
	h.close()
	return h.fit(), nil
}

// Stop implements exec.Stopper. Where sql_select_limit holds, there are no more rows to read than those wanted. A LIMIT
// of the statement beats it. Then only the end of the connection stops the server from sending.
func (h *held) Stop(tooLarge bool) bool {
	if !tooLarge && !h.limited {
		return false
	}
	h.lost = true
	_ = h.conn.Raw(func(dc any) error {
		_ = dc.(driver.Conn).Close() // says that rows are left
		return nil
	})
	return true
}
