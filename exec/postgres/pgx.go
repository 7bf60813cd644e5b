package postgres

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/texttosql/texttosql/exec"
)

// longestMessage is how long one message of the server may be: a row in most cases, whose bytea come as two digits a
// byte. Without it a value of 32 MiB is in memory before anybody can count it.
const longestMessage = 8 << 20

// longest is longestMessage, or more where cells may be longer.
func (g *guarding) longest() int { return max(longestMessage, 4*g.config.CellBytes) }

// pgx reaches what github.com/jackc/pgx has below database/sql: by the names of methods, so that nothing here imports it.
type pgx struct {
	conn  interface{ TxStatus() byte } // *pgconn.PgConn
	limit interface{ SetMaxBodyLen(int) }
	old   int // the limit on messages that the connection was made with
	mode  any // pgx.QueryExecModeExec as an argument: one unnamed statement, which is in no cache

	exec, startPipeline reflect.Value // methods of conn
}

// pgxKept is how many connections of a pool are remembered: to look for methods by their names takes as long as a message.
const pgxKept = 64

// reach finds pgx in what database/sql has of a connection. wrapped says that a library stands between.
func (g *guarding) reach(dc any) (p *pgx, wrapped bool, err error) {
	if outer := dc; g.config.Unwrap != nil {
		dc = g.config.Unwrap(dc)
		wrapped = dc != outer
	}
	other := &exec.UnguardedError{Reason: fmt.Sprintf("a connection of the driver is a %T", dc),
		Remedy: "open the pool with github.com/jackc/pgx/v5/stdlib; where a library wraps it, Config.Unwrap or texttosql.WithDriverHook returns its connection"}
	if t := reflect.TypeOf(dc); t == nil || t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), "github.com/jackc/pgx/") {
		return nil, wrapped, other
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if p = g.reached[dc]; p == nil {
		if p = pgxOf(dc); p == nil {
			return nil, wrapped, other
		}
		if len(g.reached) >= pgxKept {
			clear(g.reached)
		}
		g.reached[dc] = p
	}
	return p, wrapped, nil
}

// pgxOf returns what it finds of pgx in one of its connections, nil for a pgx that has changed.
func pgxOf(dc any) (p *pgx) {
	defer func() {
		if recover() != nil { // a method or field that is not there, or has another type
			p = nil
		}
	}()
	outer := reflect.ValueOf(dc).MethodByName("Conn").Call(nil)[0]
	config := outer.MethodByName("Config").Call(nil)[0].Elem()
	conn := outer.MethodByName("PgConn").Call(nil)[0]
	p = &pgx{
		conn: conn.Interface().(interface{ TxStatus() byte }),
		old:  int(config.FieldByName("MaxProtocolMessageBodyLen").Int()),
		exec: conn.MethodByName("Exec"), startPipeline: conn.MethodByName("StartPipeline"),
	}
	p.limit = conn.MethodByName("Frontend").Call(nil)[0].Interface().(interface{ SetMaxBodyLen(int) })
	mode := reflect.New(config.FieldByName("DefaultQueryExecMode").Type()).Elem()
	for n := range int64(16) {
		if mode.SetInt(n); fmt.Sprint(mode.Interface()) == "exec" {
			p.mode = mode.Interface()
		}
	}
	if p.mode == nil || !p.exec.IsValid() || !p.startPipeline.IsValid() {
		return nil
	}
	return p
}

// idle reports whether no transaction is open.
func (p *pgx) idle() bool { return p.conn.TxStatus() == 'I' }

// aborted reports whether a statement failed, and the transaction with it.
func (p *pgx) aborted() bool { return p.conn.TxStatus() == 'E' }

// cap limits the messages of the server to n bytes, or to what the connection has, if that is less.
func (p *pgx) cap(n int) {
	if p.old > 0 {
		n = min(n, p.old)
	}
	p.limit.SetMaxBodyLen(n)
}

// uncap takes the limit off.
func (p *pgx) uncap() { p.limit.SetMaxBodyLen(p.old) }

// pipeline is what ask needs of a *pgconn.Pipeline.
type pipeline interface {
	SendPrepare(name, text string, types []uint32)
	SendQueryPrepared(name string, values [][]byte, formats, formatsOfResult []int16)
	SendQueryParams(text string, values [][]byte, types []uint32, formats, formatsOfResult []int16)
	Sync() error
	GetResults() (any, error)
	Close() error
}

// ask lets the server parse a text, as the unnamed statement, and lists the locks then, which are the first of the
// results; "": neither. Then it runs the others, the last one with args. All goes in one message, each by the protocol that
// takes one statement, and the server stops at the first that fails.
func (p *pgx) ask(ctx context.Context, parsed string, args []any, others ...string) (results [][]row, err error) {
	line := p.startPipeline.Call([]reflect.Value{reflect.ValueOf(ctx)})[0].Interface().(pipeline)
	n := len(others)
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
		if result, err = line.GetResults(); err == nil && (i > 0 || parsed == "") {
			var rows []row
			rows, err = rowsOf(reflect.ValueOf(result).MethodByName("Read").Call(nil)[0])
			results = append(results, rows)
		}
	}
	if closed := line.Close(); err == nil {
		err = closed
	}
	return results, err
}

// script runs texts of ours in one message and returns the rows of each.
func (p *pgx) script(ctx context.Context, texts []string) (results [][]row, err error) {
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(strings.Join(texts, ";"))}
	out := p.exec.Call(in)[0].MethodByName("ReadAll").Call(nil)
	if err, _ := out[1].Interface().(error); err != nil {
		return nil, err
	}
	for i := range out[0].Len() {
		rows, err := rowsOf(out[0].Index(i))
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

// rowsOf returns the rows of a *pgconn.Result.
func rowsOf(result reflect.Value) (rows []row, err error) {
	if err, _ := result.Elem().FieldByName("Err").Interface().(error); err != nil {
		return nil, err
	}
	for _, values := range result.Elem().FieldByName("Rows").Interface().([][][]byte) {
		texts := make(row, len(values))
		for i := range values {
			texts[i] = string(values[i])
		}
		rows = append(rows, texts)
	}
	return rows, nil
}
