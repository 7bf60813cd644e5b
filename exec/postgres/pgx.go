package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/exec"
)

// longestMessage is how long one message of the server may be: a row in most cases, whose bytea come as two digits a
// byte. Without it a value of 32 MiB is in memory before anybody can count it.
const longestMessage = 8 << 20

// longest is longestMessage, or more where cells may be longer.
func (g *guarding) longest() int { return max(longestMessage, 4*g.config.CellBytes) }

// protocol is what the guard uses of github.com/jackc/pgx below database/sql: pipelines, and a limit on messages.
type protocol struct {
	conn *pgconn.PgConn
	old  int // the limit on messages that the connection was made with
}

// reach finds pgx in what database/sql has of a connection. wrapped says that a library stands between.
func (g *guarding) reach(dc any) (p *protocol, wrapped bool, err error) {
	if outer := dc; g.config.Unwrap != nil {
		dc = g.config.Unwrap(dc)
		wrapped = dc != outer
	}
	known, ok := dc.(*stdlib.Conn)
	if !ok || known == nil {
		return nil, wrapped, &exec.UnguardedError{Reason: fmt.Sprintf("a connection of the driver is a %T", dc),
			Remedy: "open the pool with github.com/jackc/pgx/v5/stdlib; where a library wraps it, " +
				"Config.Unwrap or the second argument of texttosql.WithDialect returns its connection"}
	}
	conn := known.Conn()
	return &protocol{conn: conn.PgConn(), old: conn.Config().MaxProtocolMessageBodyLen}, wrapped, nil
}

// idle reports whether no transaction is open.
func (p *protocol) idle() bool { return p.conn.TxStatus() == 'I' }

// aborted reports whether a statement failed, and the transaction with it.
func (p *protocol) aborted() bool { return p.conn.TxStatus() == 'E' }

// cap limits the messages of the server to n bytes, or to what the connection has, if that is less.
func (p *protocol) cap(n int) {
	if p.old > 0 {
		n = min(n, p.old)
	}
	p.conn.Frontend().SetMaxBodyLen(n)
}

// uncap takes the limit off.
func (p *protocol) uncap() { p.conn.Frontend().SetMaxBodyLen(p.old) }

// ask lets the server parse a text, as the unnamed statement, behind some settings, and lists the locks then, which are
// the first of the results; "": neither. Then it runs the others, the last one with args. All goes in one message, each
// by the protocol that takes one statement, and the server stops at the first that fails.
func (p *protocol) ask(ctx context.Context, settings []string, parsed string, args []any,
	others ...string) (results [][]row, err error) {
	line := p.conn.StartPipeline(ctx)
	n := len(settings) + len(others)
	for _, setting := range settings {
		line.SendQueryParams(setting, nil, nil, nil, nil)
	}
	if parsed != "" {
		n += 2
		line.SendPrepare("", parsed, nil)
		line.SendQueryPrepared(locksName, nil, nil, nil)
	}
	for i, other := range others {
		if i < len(others)-1 || len(args) == 0 {
			line.SendQueryParams(other, nil, nil, nil, nil)
		} else {
			line.SendQueryParams(other, values(args), nil, nil, nil)
		}
	}
	err = line.Sync()
	for i := 0; err == nil && i < n; i++ {
		var result any
		if result, err = line.GetResults(); err != nil {
			break
		}
		if reader, ok := result.(*pgconn.ResultReader); ok { // to parse a text has no rows
			var rows []row
			rows, err = rowsOf(reader.Read())
			results = append(results, rows)
		}
	}
	if closed := line.Close(); err == nil {
		err = closed
	}
	return results[min(len(settings), len(results)):], err
}

// script runs texts of ours in one message and returns the rows of each.
func (p *protocol) script(ctx context.Context, texts []string) (results [][]row, err error) {
	found, err := p.conn.Exec(ctx, strings.Join(texts, ";")).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, result := range found {
		rows, err := rowsOf(result)
		if err != nil {
			return nil, err
		}
		results = append(results, rows)
	}
	if len(results) != len(texts) {
		return nil, fmt.Errorf("postgres: %d results of %d statements", len(results), len(texts))
	}
	return results, nil
}

// rowsOf returns the rows of a result.
func rowsOf(result *pgconn.Result) (rows []row, err error) {
	if result.Err != nil {
		return nil, result.Err
	}
	for _, values := range result.Rows {
		texts := make(row, len(values))
		for i := range values {
			texts[i] = string(values[i])
		}
		rows = append(rows, texts)
	}
	return rows, nil
}
