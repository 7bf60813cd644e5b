package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
)

// longestMessage is how long one message of the server may be: a row in most cases, whose bytea come as two digits a
// byte. Without it a value of 32 MiB is in memory before anybody can count it.
const longestMessage = 8 << 20

// pgx reaches what github.com/jackc/pgx has below database/sql: by the names of methods, so that nothing here imports
// it. A guard works without, as it does with other drivers, with more messages to the server.
type pgx struct {
	conn  reflect.Value // *pgconn.PgConn
	limit interface{ SetMaxBodyLen(int) }
	old   int // the limit on messages that the connection was made with
	mode  any // pgx.QueryExecModeExec as an argument: one unnamed statement, which is in no cache
}

// pgxOf returns what it finds of pgx in a driver connection, nil for another driver and for a pgx that has changed.
func pgxOf(dc any) (p *pgx) {
	if t := reflect.TypeOf(dc); t == nil || t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), "github.com/jackc/pgx/") {
		return nil
	}
	defer func() {
		if recover() != nil { // a method or field that is not there, or has another type
			p = nil
		}
	}()
	outer := reflect.ValueOf(dc).MethodByName("Conn").Call(nil)[0]
	config := outer.MethodByName("Config").Call(nil)[0].Elem()
	p = &pgx{
		conn: outer.MethodByName("PgConn").Call(nil)[0],
		old:  int(config.FieldByName("MaxProtocolMessageBodyLen").Int()),
	}
	p.limit = p.conn.MethodByName("Frontend").Call(nil)[0].Interface().(interface{ SetMaxBodyLen(int) })
	mode := reflect.New(config.FieldByName("DefaultQueryExecMode").Type()).Elem()
	for n := range int64(16) {
		if mode.SetInt(n); fmt.Sprint(mode.Interface()) == "exec" {
			p.mode = mode.Interface()
		}
	}
	_ = p.conn.Interface().(interface{ TxStatus() byte })
	if p.mode == nil || !p.conn.MethodByName("Exec").IsValid() || !p.conn.MethodByName("Prepare").IsValid() {
		return nil
	}
	return p
}

// idle reports whether no transaction is open.
func (p *pgx) idle() bool { return p.conn.Interface().(interface{ TxStatus() byte }).TxStatus() == 'I' }

// cap limits the messages of the server to n bytes, or to what the connection has, if that is less.
func (p *pgx) cap(n int) {
	if p.old > 0 {
		n = min(n, p.old)
	}
	p.limit.SetMaxBodyLen(n)
}

// uncap takes the limit off.
func (p *pgx) uncap() { p.limit.SetMaxBodyLen(p.old) }

// parse lets the server parse and analyse text, which may be from outside, as the unnamed statement.
func (p *pgx) parse(ctx context.Context, text string) error {
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(""), reflect.ValueOf(text), reflect.ValueOf([]uint32(nil))}
	err, _ := p.conn.MethodByName("Prepare").Call(in)[1].Interface().(error)
	return err
}

// script runs texts of ours in one message and returns the rows of the first that has some.
func (p *pgx) script(ctx context.Context, texts []string) (rows [][]string, err error) {
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(strings.Join(texts, ";"))}
	out := p.conn.MethodByName("Exec").Call(in)[0].MethodByName("ReadAll").Call(nil)
	if err, _ := out[1].Interface().(error); err != nil {
		return nil, err
	}
	for i := range out[0].Len() {
		found := out[0].Index(i).Elem().FieldByName("Rows").Interface().([][][]byte)
		for _, row := range found {
			texts := make([]string, len(row))
			for j := range row {
				texts[j] = string(row[j])
			}
			rows = append(rows, texts)
		}
		if len(rows) > 0 {
			break
		}
	}
	return rows, nil
}

// textsOf reads rows of texts and closes them.
func textsOf(rows *sql.Rows) (all [][]string, err error) {
	defer rows.Close()
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
	return all, rows.Close()
}
