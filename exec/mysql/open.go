package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqlc-dev/marino/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// server is what is known of the server behind one DB.
type server struct {
	dialect Dialect
	policy  exec.Policy

	mu      sync.Mutex
	known   bool // the server was asked what it is
	isMaria bool
	rows    string // the sql_select_limit of the last statement, which the next one will want too; "" is none yet
}

// isMariaDB asks the server what it is, and remembers the answer.
func (s *server) isMariaDB(ctx context.Context, conn *sql.Conn) (isMaria bool, err error) {
	s.mu.Lock()
	known, isMaria := s.known, s.isMaria
	s.mu.Unlock()
	if known {
		return isMaria, nil
	}
	err = guard.Each(ctx, conn, "SELECT VERSION()", func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		isMaria = strings.Contains(strings.ToLower(text), "mariadb")
		return err
	})
	s.learn(isMaria, err == nil)
	return isMaria, err
}

func (s *server) learn(isMaria, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.isMaria = known, isMaria
}

// limit returns the sql_select_limit of the last statement. With rows it becomes that.
func (s *server) limit(rows string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rows != "" {
		s.rows = rows
	}
	return s.rows
}

// place is where a connection is, and how its server reads text.
type place struct {
	database string
	mode     mysql.SQLMode
	folds    bool // names of tables are the same in all letters
}

// The columns of the first query of open. The settings stand behind them.
const (
	atTransaction = iota
	atMode
	atCharset
	atDatabase
	atCase
	atUser
	atRole
	atSettings
)

const placeQuery = "@@sql_mode, @@character_set_client, DATABASE(), @@lower_case_table_names, CURRENT_USER(), CURRENT_ROLE()"

// open implements exec.Open: it looks at the connection and changes its settings, in two round trips. Everything that it
// sends is ours.
func (s *server) open(ctx context.Context, conn *sql.Conn, timeout time.Duration) (o exec.Opened, err error) {
	h := &held{server: s, conn: conn}
	drop := true // where the driver panics too
	defer func() {
		if o.Conn == nil {
			err = errors.Join(err, h.Close(drop))
		}
	}()
	isMaria, err := s.isMariaDB(ctx, conn)
	if err != nil {
		return o, err
	}
	settings, transaction := ofMySQL, "0"
	if isMaria {
		settings, transaction = ofMariaDB, "@@in_transaction"
	}
	if len(s.policy.DenyColumns) == 0 {
		settings = slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return s.trace })
	}
	query := "SELECT " + transaction + ", " + placeQuery
	for _, v := range settings {
		query += ", @@session." + v.name
	}
	found := make([]sql.NullString, atSettings+len(settings))
	err = guard.Each(ctx, conn, query, func(scan func(...any) error) error {
		dest := make([]any, len(found))
		for i := range found {
			dest[i] = &found[i]
		}
		return scan(dest...)
	})
	if err != nil {
		s.learn(false, false) // another server than the one before may be behind the pool
		return o, err
	}
	if !isMaria {
		if err := idle(ctx, conn, found); err != nil {
			return o, err
		}
	}
	if h.at, err = s.dialect.place(found); err != nil {
		drop = false
		return o, err
	}
	var set []variable
	for i, v := range settings {
		old := found[atSettings+i]
		value := sql.NullString{String: v.wanted(old, timeout), Valid: true}
		if v.name == "sql_select_limit" {
			if last := s.limit(""); last != "" {
				value.String = last
			}
			h.rows = value.String
		}
		if old != value || v.moves {
			h.old = append(h.old, variable{v.name, old})
			set = append(set, variable{v.name, value})
		}
	}
	if err := h.set(ctx, set...); err != nil {
		return o, err
	}
	o.Conn, o.Place = h, fmt.Sprintf("%q %d %t %q %q", h.at.database, h.at.mode, h.at.folds, found[atUser].String, found[atRole].String)
	return o, nil
}

// idle refuses a connection to MySQL with an open transaction: such a one refuses to change the characteristics of its
// next transaction, which stay what they are.
func idle(ctx context.Context, conn *sql.Conn, found []sql.NullString) error {
	access := "READ WRITE"
	if found[atSettings].String == "1" { // transaction_read_only is the first of ofMySQL
		access = "READ ONLY"
	}
	_, err := conn.ExecContext(ctx, "SET TRANSACTION "+access)
	if e, ok := serverErrorOf(err); ok && e.number == 1568 {
		found[atTransaction].String = "1"
		return nil
	}
	return err
}

// foreign are the modes of sql_mode in which a server reads text by other rules than ours.
var foreign = []string{"ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"}

// systems are the databases of a server itself.
var systems = []string{"mysql", "information_schema", "performance_schema", "sys"}

// modes are those of sql_mode that the parser has to know.
var modes = []struct {
	name string
	bit  mysql.SQLMode
}{
	{"ANSI_QUOTES", mysql.ModeANSIQuotes}, {"NO_BACKSLASH_ESCAPES", mysql.ModeNoBackslashEscapes},
	{"PIPES_AS_CONCAT", mysql.ModePipesAsConcat}, {"IGNORE_SPACE", mysql.ModeIgnoreSpace},
	{"HIGH_NOT_PRECEDENCE", mysql.ModeHighNotPrecedence},
}

// place reads the first columns of the query of open, and refuses what cannot be guarded.
func (d Dialect) place(found []sql.NullString) (p place, err error) {
	has := func(mode string) bool { return slices.Contains(strings.Split(found[atMode].String, ","), mode) }
	unguarded := func(reason, remedy string) error { return &exec.UnguardedError{Reason: reason, Remedy: remedy} }
	p.database, p.folds, p.mode = found[atDatabase].String, found[atCase].String != "0", mysql.ModeNone
	for _, m := range modes {
		if has(m.name) {
			p.mode |= m.bit
		}
	}
	if found[atTransaction].String != "0" {
		return p, unguarded("a transaction is open on the connection, which its caller began and did not end",
			"commit it or roll it back before the connection goes back to the pool")
	}
	if i := slices.IndexFunc(foreign, has); i >= 0 {
		return p, unguarded("the sql_mode of the connection has "+foreign[i]+", which changes how text is read",
			"take it out of sql_mode, in the DSN with sql_mode=…")
	}
	for _, m := range []struct {
		name, field string
		want        bool
	}{{"ANSI_QUOTES", "ANSIQuotes", d.ANSIQuotes}, {"NO_BACKSLASH_ESCAPES", "NoBackslashEscapes", d.NoBackslashEscapes}} {
		switch {
		case has(m.name) && !m.want:
			return p, unguarded("the sql_mode of the connection has "+m.name,
				"give mysql.Dialect{"+m.field+": true}, or take the mode out in the DSN with sql_mode=…")
		case !has(m.name) && m.want:
			return p, unguarded("mysql.Dialect says "+m.field+", and the sql_mode of the connection has not "+m.name,
				"leave the field out, or set the mode in the DSN with sql_mode=…")
		}
	}
	switch charset := found[atCharset].String; {
	case !strings.HasPrefix(charset, "utf8"):
		return p, unguarded("the character set of the connection is "+charset+", in which bytes of a letter may be read as a quote",
			"open it with charset=utf8mb4")
	case p.database == "":
		return p, unguarded("the connection has no database", "name one behind the slash of the DSN: user@tcp(host:3306)/shop")
	case slices.Contains(systems, schema.Fold(p.database)):
		return p, unguarded("the database of the connection is "+p.database+", one of the server's own",
			"name another one behind the slash of the DSN")
	}
	return p, nil
}
