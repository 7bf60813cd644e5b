package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
)

// held is a connection under guard.
type held struct {
	server *server
	conn   *sql.Conn

	at    place
	where string     // what it sees, see exec.GuardedConn.Place
	old   []variable // what Close sets back, in order
	rows  string     // sql_select_limit now

	memory sql.NullString // tmp_memory_table_size, but for a statement that is pinned; NULL: the server has none
	onDisk bool           // it is 0 now

	statement *sql.Stmt
	text      *sql.Stmt       // a statement around it, that writes its dates; nil: there is none
	of        *exec.Statement // that statement was prepared for, and confirmed
}

type variable struct {
	name  string
	value sql.NullString
}

func value(text string) sql.NullString { return sql.NullString{String: text, Valid: true} }

// set changes variables. Its error blames no statement from outside.
func (h *held) set(ctx context.Context, variables ...variable) error {
	parts := make([]string, len(variables))
	for i, v := range variables {
		parts[i] = assignment(v.name, v.value)
	}
	_, err := h.conn.ExecContext(ctx, "SET "+strings.Join(parts, ", "))
	return ours(err)
}

// ours is the error of a statement of the guard's own. It has lost its type, so that it blames no statement from
// outside and exec closes the connection.
func ours(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mysql: guarding a connection: %v", err) // not wrapped, on purpose
}

func (h *held) Read(ctx context.Context, s *exec.Statement) (*guard.Names, error) {
	own := s.Catalog.Own.(*catalog)
	names, err := own.read(s.Statement, h.at.mode, len(s.Args) > 0)
	var invalid *exec.InvalidError
	if errors.As(err, &invalid) && invalid.Fault == "syntax" && !h.server.policy.Restricts() &&
		own.callsOnlyListed(s.Statement) {
		return nil, h.unparsed(ctx, s, err)
	}
	return names, err
}

// unparsed is the error of a statement that our parser does not take: a refusal where the server prepares it, so that
// nobody repairs a statement which is right, and the server's own words where it does not. To prepare it runs nothing
// of it, and all that it calls is on the list.
func (h *held) unparsed(ctx context.Context, s *exec.Statement, err error) error {
	statement, perr := h.conn.PrepareContext(ctx, s.SQL())
	if perr == nil {
		perr = statement.Close()
	}
	var invalid *exec.InvalidError
	switch own := h.server.dialect.Classify(perr); {
	case own == nil:
		return guard.Refuse("statement", "the guard's parser cannot read it, though the server can: "+
			"write it in another way%s", nearIn(err))
	case errors.As(own, &invalid) && invalid.Fault == "syntax":
		return own
	}
	return err
}

// Confirm implements exec.Conn: the server prepares the statement. COM_STMT_PREPARE takes one statement, whatever
// multiStatements says, so text from outside is never sent in another way.
func (h *held) Confirm(ctx context.Context, s *exec.Statement) (guard.EngineReport, error) {
	return guard.EngineReport{}, h.prepare(ctx, s)
}

// prepare has the server prepare a statement, and looks at how it resolved the names where a column may not be read.
func (h *held) prepare(ctx context.Context, s *exec.Statement) (err error) {
	h.close()
	// A rule may read what a statement may not, and the statement was looked at without it.
	traces := len(h.server.policy.DenyColumns) > 0 && len(s.Names.Relations()) > 0 && s.Splice == nil
	trace := func(enabled string) error {
		return h.set(ctx, variable{"optimizer_trace", value("enabled=" + enabled)})
	}
	if traces {
		if err := trace("on"); err != nil {
			return err
		}
	}
	h.statement, err = h.conn.PrepareContext(ctx, s.SQL())
	err = s.Unspliced(err, h.server.dialect)
	if traces {
		off := trace("off")
		if err = cmp.Or(err, off); err == nil {
			err = h.traced(ctx, s)
		}
	}
	if err == nil {
		h.of = s
	}
	return err
}

func (h *held) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	if h.of != s { // another one was confirmed since
		if err := h.prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	limit := strconv.Itoa(b.Rows + 1)
	h.server.rows.Store(&limit)
	limited, _ := s.Names.Own.(bool) // a LIMIT of the statement beats sql_select_limit
	look := limit
	if !limited && (h.server.parsesTime.Load() || b.Rows > mostLooked) { // no row of the first run is used
		look = "0"
	}
	rows, types, err := h.start(ctx, h.statement, look, s.Args)
	if err != nil {
		return nil, err
	}
	if text := h.server.asWritten(s.SQL(), types, limit); look != limit || text != nil {
		if err := rows.Close(); err != nil {
			return nil, err
		}
		statement, err := h.around(ctx, text)
		if err != nil {
			return nil, err
		}
		if rows, _, err = h.start(ctx, statement, limit, s.Args); err != nil {
			return nil, err
		}
	}
	// Where sql_select_limit holds, there are no more rows to read than those wanted. Else only the end of the connection
	// stops the server from sending.
	stop := func(tooLarge bool) bool {
		if !tooLarge && !limited {
			return false
		}
		_ = h.conn.Raw(func(dc any) error {
			_ = dc.(driver.Conn).Close() // says that rows are left
			return nil
		})
		return true
	}
	return &exec.Rows{
		Rows: rows, Warnings: h.warnings, Stop: stop,
		Convert: func(i int, _ *sql.ColumnType) func(any) (any, error) { return converter(types[i]) },
		Type:    func(i int, _ *sql.ColumnType) result.Type { return typeOf(types[i]) },
	}, nil
}

// mostLooked is how many rows a run may have that is given up for another one.
const mostLooked = 100_000

// start runs a prepared statement, and tells the types of its columns.
func (h *held) start(ctx context.Context, statement *sql.Stmt, limit string, args []any) (*sql.Rows, []*sql.ColumnType,
	error) {
	if err := h.limit(ctx, limit); err != nil {
		return nil, nil, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		rows.Close()
	}
	return rows, types, err
}

// asWritten returns texts of which the first one that the server takes gives the same rows, with values that the driver
// does not change; nil where the statement itself does.
//
// With parseTime the driver makes a time.Time of each date, so that 2024-02-00 is another day, and an hour that its
// zone skips is another hour. The server writes such dates as text in a statement around this one, and a BIT as a
// number: MAX of one has the bytes of its digits. There the order of rows stays where a LIMIT stands behind it, as
// MariaDB and MySQL document.
func (s *server) asWritten(text string, types []*sql.ColumnType, limit string) []string {
	inner, outer, changed := make([]string, len(types)), make([]string, len(types)), false
	for i, t := range types {
		inner[i] = fmt.Sprintf("c%d", i)
		outer[i] = inner[i]
		switch kind := valueKinds[t.DatabaseTypeName()]; {
		case kind == result.KindBits:
			outer[i], changed = inner[i]+" + 0", true
		case s.parsesTime.Load() && (kind == result.KindDate || kind == result.KindDateTime || kind == result.KindInstant):
			outer[i], changed = "CAST("+inner[i]+" AS CHAR)", true
		}
		outer[i] += " AS " + s.dialect.Language().Quote(t.Name())
	}
	if !changed {
		return nil
	}
	// The text may end in a comment, and it may have a LIMIT.
	begin, end := "WITH stored("+strings.Join(inner, ", ")+") AS ("+text+"\n", ") SELECT "+strings.Join(outer, ", ")+
		" FROM stored"
	return []string{begin + "LIMIT " + limit + end, begin + end}
}

// around prepares the first of texts that the server can read; the statement itself of none.
func (h *held) around(ctx context.Context, texts []string) (_ *sql.Stmt, err error) {
	if texts == nil {
		return h.statement, nil
	}
	for _, text := range texts {
		h.text, err = h.conn.PrepareContext(ctx, text)
		if e, ok := errors.AsType[*driverpkg.MySQLError](err); !ok || e.Number != syntaxError {
			break
		}
	}
	return h.text, err
}

// syntaxError is the number of ER_PARSE_ERROR.
const syntaxError = 1064

// limit sets sql_select_limit. Behind a fence without a unique order no temporary table is in memory: there MariaDB
// sorts rows that are alike by their addresses, so that the first of them is another one each time.
func (h *held) limit(ctx context.Context, rows string) (err error) {
	var set []variable
	if rows != h.rows {
		set = append(set, variable{"sql_select_limit", value(rows)})
	}
	onDisk := h.memory.Valid && h.of != nil && h.of.Splice != nil && h.of.Splice.Fenced && h.of.Splice.Pinned
	switch {
	case onDisk && !h.onDisk:
		set = append(set, variable{memoryTables, value("0")})
	case !onDisk && h.onDisk:
		set = append(set, variable{memoryTables, h.memory})
	}
	if len(set) > 0 {
		err = h.set(ctx, set...)
		h.rows, h.onDisk = rows, onDisk
	}
	return err
}

// warnings returns what the server warned of while it ran the last statement, whose rows are closed.
func (h *held) warnings(ctx context.Context) (warnings []string, err error) {
	err = guard.QueryEach(ctx, h.conn, "SHOW WARNINGS LIMIT 5", func(scan func(...any) error) error {
		var level, code, message string
		err := scan(&level, &code, &message)
		if level != "Note" {
			warnings = append(warnings, message)
		}
		return err
	})
	return warnings, err
}

// close ends the last statement.
func (h *held) close() {
	for _, statement := range []*sql.Stmt{h.statement, h.text} {
		if statement != nil {
			statement.Close()
		}
	}
	h.statement, h.text, h.of = nil, nil, nil
}

// endUse implements exec.GuardedConn.EndUse. It reports whether the connection is open, as far as its driver knows.
func (h *held) endUse(context.Context) (fit bool, err error) {
	h.close()
	err = h.conn.Raw(func(dc any) error {
		if v, ok := dc.(driver.Validator); ok && !v.IsValid() {
			return driver.ErrBadConn
		}
		return nil
	})
	return err == nil, nil
}

func (h *held) Close(drop bool) error {
	fit := false
	defer func() {
		if !fit { // also where the driver panics
			_ = guard.Discard(h.conn)
		}
	}()
	if drop {
		return nil
	}
	h.close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // exec waits for less
	defer cancel()
	fit = len(h.old) == 0 || h.set(ctx, h.old...) == nil
	return nil
}
