package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"
	"github.com/sqlc-dev/marino/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// server is what is known of the server behind one DB.
type server struct {
	dialect Dialect
	policy  exec.Policy
	isMaria atomic.Pointer[bool] // nil: it was not asked yet
	// parsesTime says that the driver makes a time.Time of each date: parseTime in the DSN.
	parsesTime atomic.Bool
	sights     sync.Map               // by exec.GuardedConn.Place: the last sight
	rows       atomic.Pointer[string] // the sql_select_limit of the last statement: the next one will want it too
}

// isMariaDB asks the server what it is, and remembers the answer.
func (s *server) isMariaDB(ctx context.Context, conn *sql.Conn) (bool, error) {
	if known := s.isMaria.Load(); known != nil {
		return *known, nil
	}
	var (
		text string
		day  any
	)
	err := guard.QueryEach(ctx, conn, "SELECT VERSION(), CURRENT_DATE", func(scan func(...any) error) error {
		return scan(&text, &day)
	})
	isMaria := strings.Contains(strings.ToLower(text), "mariadb")
	if err == nil {
		_, parses := day.(time.Time)
		s.parsesTime.Store(parses)
		s.isMaria.Store(&isMaria)
	}
	return isMaria, err
}

// place is where a connection is, and how its server reads text.
type place struct {
	database string
	mode     mysql.SQLMode
	folds    bool   // names of tables are the same in all letters
	zone     string // of the session, "" for UTC; "EST" and "-05:00" are told as they are
}

// first are the first columns of the query of open. The settings stand behind them.
type first struct{ transaction, mode, charset, database, folds, user, role, zone sql.NullString }

const firstColumns = ", @@sql_mode, @@character_set_client, DATABASE(), @@lower_case_table_names, CURRENT_USER(), " +
	"CURRENT_ROLE(), " +
	"IF(@@session.time_zone = 'SYSTEM', @@system_time_zone, @@session.time_zone)"

// open implements exec.Open: it looks at the connection and changes its settings, in two round trips. Everything that
// it sends is ours.
func (s *server) open(ctx context.Context, conn *sql.Conn, timeout time.Duration) (o exec.GuardedConn, err error) {
	h := &held{server: s, conn: conn, rows: noLimit}
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
		settings, transaction, o.Engine = ofMariaDB, "@@in_transaction", "mariadb"
	}
	if len(s.policy.DenyColumns) == 0 {
		settings = slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return s.trace })
	}
	var (
		f     first
		dest  = []any{&f.transaction, &f.mode, &f.charset, &f.database, &f.folds, &f.user, &f.role, &f.zone}
		found = make([]sql.NullString, len(settings))
		query = "SELECT " + transaction + firstColumns
	)
	for i, v := range settings {
		query += ", @@session." + v.name
		dest = append(dest, &found[i])
	}
	if err = guard.QueryEach(ctx, conn, query, func(scan func(...any) error) error { return scan(dest...) }); err != nil {
		s.isMaria.Store(nil) // another server than the one before may be behind the pool
		return o, err
	}
	if !isMaria {
		if f.transaction.String, err = inTransaction(ctx, conn, found[0].String == "1"); err != nil {
			return o, err
		}
	}
	if h.at, err = s.dialect.place(f); err != nil {
		drop = false
		return o, err
	}
	var set []variable
	for i, v := range settings {
		wanted := value(v.wanted(found[i], timeout))
		if last := s.rows.Load(); v.name == "sql_select_limit" && last != nil {
			wanted.String, h.rows = *last, *last
		}
		if v.name == memoryTables {
			h.memory = wanted
		}
		if found[i] != wanted || v.moves {
			h.old = append(h.old, variable{v.name, found[i]})
			set = append(set, variable{v.name, wanted})
		}
	}
	if err := h.set(ctx, set...); err != nil {
		return o, err
	}
	h.where = fmt.Sprintf("%q %d %t %q %q %q", h.at.database, h.at.mode, h.at.folds, h.at.zone, f.user.String,
		f.role.String)
	o.Conn, o.Place, o.EndUse, o.Compared = h, h.where, h.endUse, h.compared
	return o, nil
}

// inTransaction returns "1" for a connection to MySQL with an open transaction: such a one refuses to change the
// characteristics of its next transaction, which stay what they are, readOnly or not.
func inTransaction(ctx context.Context, conn *sql.Conn, readOnly bool) (string, error) {
	access := "READ WRITE"
	if readOnly { // transaction_read_only is the first of ofMySQL
		access = "READ ONLY"
	}
	_, err := conn.ExecContext(ctx, "SET TRANSACTION "+access)
	if e, ok := errors.AsType[*driverpkg.MySQLError](err); ok && e.Number == 1568 {
		return "1", nil
	}
	return "0", err
}

// foreign are the modes of sql_mode in which a server reads text by other rules than ours, and systems the databases of
// a server itself; utc is what no prompt tells as a zone.
var (
	foreign = []string{"ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"}
	utc     = []string{"", "UTC", "UCT", "GMT", "Etc/UTC", "Etc/GMT", "Zulu", "Universal", "+00:00", "-00:00"}
	systems = []string{"mysql", "information_schema", "performance_schema", "sys"}
)

// place reads the first columns of the query of open, and refuses what cannot be guarded.
func (d Dialect) place(f first) (p place, err error) {
	has := func(mode string) bool { return slices.Contains(strings.Split(f.mode.String, ","), mode) }
	p.database, p.folds = f.database.String, f.folds.String != "0"
	if !slices.Contains(utc, f.zone.String) {
		p.zone = f.zone.String
	}
	for name, bit := range map[string]mysql.SQLMode{
		"ANSI_QUOTES": mysql.ModeANSIQuotes, "NO_BACKSLASH_ESCAPES": mysql.ModeNoBackslashEscapes,
		"PIPES_AS_CONCAT": mysql.ModePipesAsConcat, "IGNORE_SPACE": mysql.ModeIgnoreSpace,
		"HIGH_NOT_PRECEDENCE": mysql.ModeHighNotPrecedence,
	} {
		if has(name) {
			p.mode |= bit
		}
	}
	foreignMode := ""
	if i := slices.IndexFunc(foreign, has); i >= 0 {
		foreignMode = foreign[i]
	}
	mode := func(name, field string, want bool) fault {
		if want {
			return fault{!has(name), "mysql.Dialect says " + field + ", and the sql_mode of the connection has not " + name,
				"leave the field out, or set the mode in the DSN with sql_mode=…"}
		}
		return fault{has(name), "the sql_mode of the connection has " + name,
			"give mysql.Dialect{" + field + ": true}, or take the mode out in the DSN with sql_mode=…"}
	}
	for _, f := range []fault{
		{f.transaction.String != "0", "a transaction is open on the connection, which its caller began and did not end",
			"commit it or roll it back before the connection goes back to the pool"},
		{foreignMode != "", "the sql_mode of the connection has " + foreignMode + ", which changes how text is read",
			"take it out of sql_mode, in the DSN with sql_mode=…"},
		mode("ANSI_QUOTES", "ANSIQuotes", d.ANSIQuotes),
		mode("NO_BACKSLASH_ESCAPES", "NoBackslashEscapes", d.NoBackslashEscapes),
		{!strings.HasPrefix(f.charset.String, "utf8"), "the character set of the connection is " + f.charset.String +
			", in which bytes of a letter may be read as a quote", "open it with charset=utf8mb4"},
		{p.database == "", "the connection has no database",
			"name one behind the slash of the DSN: user@tcp(host:3306)/shop"},
		{slices.Contains(systems, schema.FoldCase(p.database)), "the database of the connection is " + p.database +
			", one of the server's own", "name another one behind the slash of the DSN"},
	} {
		if f.is {
			return p, &exec.UnguardedError{Reason: f.reason, Remedy: f.remedy}
		}
	}
	return p, nil
}

// fault is a reason why a connection cannot be guarded, and whether it is there.
type fault struct {
	is             bool
	reason, remedy string
}

// setting is one session variable that a hold changes and puts back.
type setting struct {
	name  string
	value string // "" is the time that a statement may take
	lower bool   // a value of the caller's that is less stays; 0 is none
	trace bool   // only where the policy denies columns
	moves bool   // statements change it, so it is put back even where it was the same
}

// The settings of a hold. Each statement is a transaction of its own, read-only by the session's own variable: unlike
// START TRANSACTION READ ONLY that refuses CREATE and DROP too, frees no table that the caller locked, and shows each
// statement of a session what is committed by then.
var (
	everywhere = []setting{
		{name: "autocommit", value: "1"},
		{name: "sql_auto_is_null", value: "0"},
		{name: "character_set_results", value: "utf8mb4"},
		{name: "sql_select_limit", value: noLimit, moves: true},
		{name: "group_concat_max_len", value: "4194304"}, // JSON_ARRAYAGG too; what is over it is cut, with a warning
		{name: "lock_wait_timeout", value: "1", lower: true},
		{name: "innodb_lock_wait_timeout", value: "1", lower: true},
		{name: "optimizer_trace_max_mem_size", value: "1048576", trace: true},
		{name: "optimizer_trace", value: "enabled=off", trace: true, moves: true}, // on while a statement is prepared
	}
	ofMariaDB = append([]setting{
		{name: "tx_read_only", value: "1"},
		{name: "max_statement_time", lower: true},
		{name: "max_recursive_iterations", value: "1000000"}, // its default of 1,000 ends a recursion without a word
		{name: "max_session_mem_used", value: "134217728", lower: true},
		{name: memoryTables, value: "16777216", lower: true, moves: true}, // 0 behind a fence
		{name: "tmp_disk_table_size", value: "268435456", lower: true},
	}, everywhere...)
	ofMySQL = append([]setting{
		{name: "transaction_read_only", value: "1"},
		{name: "max_execution_time", lower: true},
		{name: "cte_max_recursion_depth", value: "1000000"},
		{name: "tmp_table_size", value: "16777216", lower: true},
	}, everywhere...)
)

// memoryTables is how large a temporary table may be in memory.
const memoryTables = "tmp_memory_table_size"

const noLimit = "18446744073709551615"

// wanted is the value of a setting in a hold, the session having old. A statement may take nine tenths of its time, so
// that the server ends it before anybody has to drop the connection.
func (s setting) wanted(old sql.NullString, timeout time.Duration) string {
	value := s.value
	switch {
	case s.name == "max_statement_time":
		value = strconv.FormatFloat(max(timeout*9/10, time.Millisecond).Seconds(), 'f', 6, 64)
	case s.name == "max_execution_time":
		value = strconv.FormatInt(max(timeout*9/10, time.Millisecond).Milliseconds(), 10)
	}
	if was, err := strconv.ParseFloat(old.String, 64); s.lower && err == nil && was > 0 {
		if ours, _ := strconv.ParseFloat(value, 64); was <= ours {
			return old.String
		}
	}
	return value
}

// assignment writes one part of SET.
func assignment(name string, value sql.NullString) string {
	text := value.String
	switch _, err := strconv.ParseFloat(text, 64); {
	case !value.Valid:
		text = "NULL"
	case err != nil:
		text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return "@@session." + name + " = " + text
}
