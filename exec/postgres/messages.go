package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// longestMessage is how long one message of the server may be: a row in most cases, whose bytea come as two digits a
// byte. Without it a value of 32 MiB is in memory before anybody can count it.
const longestMessage = 8 << 20

// longest is longestMessage, or more where cells may be longer.
func (g *guard) longest() int { return max(longestMessage, 4*g.config.CellBytes) }

// pgx reaches what github.com/jackc/pgx has below database/sql: by the names of methods, so that nothing here imports
// it. A guard works without, as it does with other drivers, with more messages to the server.
type pgx struct {
	conn  interface{ TxStatus() byte } // *pgconn.PgConn
	limit interface{ SetMaxBodyLen(int) }
	old   int // the limit on messages that the connection was made with
	mode  any // pgx.QueryExecModeExec as an argument: one unnamed statement, which is in no cache

	exec, startPipeline reflect.Value // methods of conn
}

// pgxKept is how many connections of a pool are remembered: to look for methods by their names takes as long as a message.
const pgxKept = 64

// pgxOf is the function of that name, once a connection.
func (g *guard) pgxOf(dc any) *pgx {
	if t := reflect.TypeOf(dc); t == nil || t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), "github.com/jackc/pgx/") {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.reached[dc]
	if !ok {
		if len(g.reached) >= pgxKept {
			clear(g.reached)
		}
		p = pgxOf(dc)
		g.reached[dc] = p
	}
	return p
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

// cap limits the messages of the server to n bytes, or to what the connection has, if that is less.
func (p *pgx) cap(n int) {
	if p.old > 0 {
		n = min(n, p.old)
	}
	p.limit.SetMaxBodyLen(n)
}

// uncap takes the limit off.
func (p *pgx) uncap() { p.limit.SetMaxBodyLen(p.old) }

// pipeline is what look needs of a *pgconn.Pipeline.
type pipeline interface {
	SendPrepare(name, text string, types []uint32)
	SendQueryPrepared(name string, values [][]byte, formats, formatsOfResult []int16)
	SendQueryParams(text string, values [][]byte, types []uint32, formats, formatsOfResult []int16)
	Sync() error
	GetResults() (any, error)
	Close() error
}

// look lets the server parse a text, as the unnamed statement, and lists the locks then. others are run after that. All
// goes in one message, each by the protocol that takes one statement, and the server stops at the first that fails.
func (p *pgx) look(ctx context.Context, text string, others ...string) (rows [][]string, err error) {
	line := p.startPipeline.Call([]reflect.Value{reflect.ValueOf(ctx)})[0].Interface().(pipeline)
	line.SendPrepare("", text, nil)
	line.SendQueryPrepared("texttosql_locks", nil, nil, nil)
	for _, other := range others {
		line.SendQueryParams(other, nil, nil, nil, nil)
	}
	err = line.Sync()
	for i := 0; err == nil && i < 2+len(others); i++ {
		var result any
		if result, err = line.GetResults(); err == nil && i > 0 {
			rows, err = appended(rows, method(reflect.ValueOf(result), "Read").Call(nil)[0])
		}
	}
	if closed := line.Close(); err == nil {
		err = closed
	}
	return rows, err
}

// script runs texts of ours in one message and returns all rows.
func (p *pgx) script(ctx context.Context, texts []string) (rows [][]string, err error) {
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(strings.Join(texts, ";"))}
	out := method(p.exec.Call(in)[0], "ReadAll").Call(nil)
	if err, _ := out[1].Interface().(error); err != nil {
		return nil, err
	}
	for i := range out[0].Len() {
		if rows, err = appended(rows, out[0].Index(i)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// methods are the numbers of methods by type and name.
var methods sync.Map

// method is MethodByName, which takes long.
func method(v reflect.Value, name string) reflect.Value {
	type key struct {
		reflect.Type
		name string
	}
	n, ok := methods.Load(key{v.Type(), name})
	if !ok {
		m, _ := v.Type().MethodByName(name)
		n = m.Index
		methods.Store(key{v.Type(), name}, n)
	}
	return v.Method(n.(int))
}

// appended adds the rows of a *pgconn.Result.
func appended(rows [][]string, result reflect.Value) ([][]string, error) {
	if err, _ := result.Elem().FieldByName("Err").Interface().(error); err != nil {
		return nil, err
	}
	for _, row := range result.Elem().FieldByName("Rows").Interface().([][][]byte) {
		texts := make([]string, len(row))
		for i := range row {
			texts[i] = string(row[i])
		}
		rows = append(rows, texts)
	}
	return rows, nil
}

// textsOf reads the rows of all results, as texts.
func textsOf(rows *sql.Rows) (all [][]string, err error) {
	for {
		names, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		row, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return nil, err
			}
			texts := make([]string, len(row))
			for i := range row {
				texts[i] = row[i].String
			}
			all = append(all, texts)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if !rows.NextResultSet() {
			return all, rows.Err()
		}
	}
}
