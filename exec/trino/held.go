package trino

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// admitted is a statement that may run.
type admitted struct {
	text   string
	at     time.Time
	spelt  *spelt
	tables []table // that it reads, views and what lies under them included
	named  []table // those of them that the text names
}

// QueryContext implements the held connection. The plan of a statement that may run itself may be asked for.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if !h.reads {
		statement := strings.TrimPrefix(text, explainPrefix)
		if _, err := h.admit(ctx, h.guard.dialect.Text().Parse(statement), args...); err != nil {
			return nil, err
		}
	}
	return h.run(ctx, text, args...)
}

// Query implements the held connection.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, _ exec.Bounds) (*sql.Rows, error) {
	if _, err := h.admit(ctx, s); err != nil {
		return nil, err
	}
	return h.run(ctx, s.SQL())
}

// run sends a text with the session of the hold.
func (h *held) run(ctx context.Context, text string, args ...any) (rows *sql.Rows, err error) {
	h.close()
	if h.statement, h.rows, err = h.send(ctx, text, append(slices.Clip(args), h.session...)...); err != nil {
		return nil, h.Classify(err)
	}
	return h.rows, nil
}

// send runs a text. It is prepared first, which asks the server nothing, because database/sql loses the connection of a
// driver that panics while it prepares a text on its way to be run.
func (h *held) send(ctx context.Context, text string, args ...any) (s *sql.Stmt, rows *sql.Rows, err error) {
	if s, err = h.conn.PrepareContext(ctx, text); err != nil {
		return nil, nil, err
	}
	if rows, err = s.QueryContext(ctx, args...); err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, rows, nil
}

// admit decides on a statement: its words first, then the server says which tables it reads. It runs nothing of it. A
// text with arguments is one of ours.
func (h *held) admit(ctx context.Context, s *sqltext.Statement, args ...any) (*admitted, error) {
	h.close()
	if l := h.last; l != nil && l.text == s.SQL() && len(args) == 0 && time.Since(l.at) < statementTime {
		return l, nil
	}
	g := h.guard
	a, err := h.look(s, len(args) > 0)
	if err != nil {
		return nil, err
	}
	if a.tables, err = h.inputs(ctx, bound(s, args)); err != nil {
		return nil, h.told(a, err)
	}
	if g.without != "tables" {
		if err := h.permit(ctx, a); err != nil {
			return nil, err
		}
	}
	for _, t := range a.named {
		if !slices.Contains(a.tables, t) {
			a.tables = append(a.tables, t)
		}
	}
	if len(args) == 0 {
		h.last = a
	}
	return a, nil
}

// told is what a server's refusal of a statement says to whoever asked. Where a policy is set, a table that is not there has
// the error of a denied one; and Trino calls a table denied of which a column is.
func (h *held) told(a *admitted, err error) error {
	p := h.guard.config.Policy
	var invalid *exec.InvalidError
	var refused *exec.RefusedError
	for _, t := range a.named {
		switch {
		case p.Restricts() && errors.As(err, &invalid) && invalid.Fault == exec.FaultSchema && strings.EqualFold(invalid.Name, t.name):
			return hidden(t.name)
		case len(p.DenyColumns) > 0 && errors.As(err, &refused) && refused.Reason == exec.ReasonTable && strings.HasSuffix(refused.Detail, "."+t.name):
			return refuse(exec.ReasonColumn, t.name+" has columns that may not be read: name the columns that you need, and no other")
		}
	}
	return err
}

// look is the part of admit that asks nobody.
func (h *held) look(s *sqltext.Statement, ours bool) (a *admitted, err error) {
	g := h.guard
	a = &admitted{text: s.SQL(), at: time.Now(), spelt: &spelt{}}
	if g.without != "words" {
		if a.spelt, err = spell(s, g.config.Policy.AllowFunctions, ours); err == nil {
			err = weigh(s)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, r := range s.Tables() {
		if !r.Base() {
			continue
		}
		t := h.at.resolve(r)
		if !h.may(t) && g.without != "tables" {
			return nil, hidden(t.name)
		}
		if !slices.Contains(a.named, t) {
			a.named = append(a.named, t)
		}
	}
	return a, nil
}

// bound writes arguments into a text of ours: EXPLAIN takes none.
func bound(s *sqltext.Statement, args []any) string {
	text, out, from := s.SQL(), "", 0
	for t := range s.Tokens() {
		if t.Kind != sqltext.Placeholder || len(args) == 0 {
			continue
		}
		value := "NULL"
		switch v := args[0].(type) {
		case string:
			value = literal(v)
		case []byte:
			value = fmt.Sprintf("X'%X'", v)
		case int64:
			value = strconv.FormatInt(v, 10)
		case float64:
			value = strconv.FormatFloat(v, 'E', -1, 64)
		}
		out, from, args = out+text[from:t.Pos]+value, t.Pos+len(t.Text), args[1:]
	}
	return out + text[from:]
}

// Analyze implements the held connection.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	a, err := h.admit(ctx, s)
	if err != nil {
		return exec.Analysis{}, err
	}
	return h.analysis(ctx, a)
}

// analysis is what a statement reads. The server does not tell columns: every column of a name in the text counts, and
// every one where a * stands, or where the text does not name the table but a view over it.
func (h *held) analysis(ctx context.Context, a *admitted) (exec.Analysis, error) {
	columns, err := h.columnsOf(ctx, a.tables)
	if err != nil {
		return exec.Analysis{}, err
	}
	out := exec.Analysis{Kind: "select", Functions: a.spelt.calls, Inexact: true}
	for _, t := range a.tables {
		if len(columns[t]) == 0 {
			continue // a name that the server took for another thing
		}
		read := exec.TableRead{Schema: h.at.label(t), Table: t.name, Columns: []string{}}
		for _, c := range columns[t] {
			if a.spelt.names[strings.ToLower(c)] || a.spelt.starred || !slices.Contains(a.named, t) {
				read.Columns = append(read.Columns, c)
			}
		}
		slices.Sort(read.Columns)
		out.Tables = append(out.Tables, read)
	}
	slices.SortFunc(out.Tables, func(a, b exec.TableRead) int {
		return strings.Compare(a.Schema+"\x00"+a.Table, b.Schema+"\x00"+b.Table)
	})
	return out, nil
}

// Classify implements the held connection.
func (h *held) Classify(err error) error { return classify(err) }

// Converter implements exec.Converter.
func (h *held) Converter(column *sql.ColumnType) func(any) (any, error) { return converter(column) }
