package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// held is a connection under guard.
type held struct {
	server *server
	conn   *sql.Conn

	at    place
	where string     // what it sees, see exec.Opened.Place
	old   []variable // what Close sets back, in order
	rows  string     // sql_select_limit now

	statement *sql.Stmt
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

// ours is the error of a statement of the guard's own. It has lost its type, so that it blames no statement from outside
// and exec closes the connection.
func ours(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mysql: guarding a connection: %v", err) // not wrapped, on purpose
}

func (h *held) Read(_ context.Context, s *exec.Statement) (*guard.Names, error) {
	return s.Catalog.Own.(*catalog).read(s.Statement, h.at.mode, len(s.Args) > 0)
}

// Confirm implements exec.Conn: the server prepares the statement. COM_STMT_PREPARE takes one statement, whatever
// multiStatements says, so text from outside is never sent in another way.
func (h *held) Confirm(ctx context.Context, s *exec.Statement) (guard.Seen, error) {
	return guard.Seen{}, h.prepare(ctx, s)
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
	if err := h.limit(ctx, limit); err != nil {
		return nil, err
	}
	rows, err := h.statement.QueryContext(ctx, s.Args...)
	if err != nil {
		return nil, err
	}
	limited, _ := s.Names.Own.(bool)
	// Where sql_select_limit holds, there are no more rows to read than those wanted. A LIMIT of the statement beats it.
	// Then only the end of the connection stops the server from sending.
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
	return &exec.Rows{Rows: rows, Convert: converter, Warnings: h.warnings, Stop: stop}, nil
}

// limit sets sql_select_limit.
func (h *held) limit(ctx context.Context, rows string) (err error) {
	if rows != h.rows {
		err = h.set(ctx, variable{"sql_select_limit", value(rows)})
		h.rows = rows
	}
	return err
}

// warnings returns what the server warned of while it ran the last statement, whose rows are closed.
func (h *held) warnings(ctx context.Context) (warnings []string, err error) {
	err = guard.Each(ctx, h.conn, "SHOW WARNINGS LIMIT 5", func(scan func(...any) error) error {
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
	if h.statement != nil {
		h.statement.Close()
	}
	h.statement, h.of = nil, nil
}

// Finish implements exec.Finisher. It reports whether the connection is open, as far as its driver knows.
func (h *held) Finish(context.Context) (fit bool, err error) {
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
			_ = guard.Drop(h.conn)
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
