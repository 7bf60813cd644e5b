package trino

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// held is a connection under guard. Each statement of Trino carries its session with it, so nothing has to be put back.
type held struct {
	guard   *guard
	conn    *sql.Conn
	reads   bool  // it reads the catalog, so no statement from outside comes
	at      home  // where unqualified names are looked for
	session []any // arguments that the driver sends as headers of each statement

	last      *admitted
	rows      *sql.Rows
	statement *sql.Stmt // of rows
	judging   []table   // views whose definitions are looked at
}

// home is the catalog and the schema of a connection, in lower case.
type home struct{ catalog, schema string }

// Hold implements bridge.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn}, timeout)
}

// Catalog implements bridge.Guard.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, reads: true}, timeout)
}

func (g *guard) hold(ctx context.Context, h *held, timeout time.Duration) (bridge.Held, error) {
	err := h.install(timeout)
	if err == nil && !h.reads {
		err = g.known(ctx, h)
	}
	if err == nil {
		return h, nil
	}
	return nil, errors.Join(unblamed(err), h.Release(errors.Is(err, driver.ErrBadConn)))
}

// unblamed gives an error of a statement of our own a type that blames no statement of a caller.
func unblamed(err error) error {
	switch {
	case errors.Is(err, exec.ErrUnguarded), errors.As(err, new(*exec.PolicyError)):
		return err
	case exec.IsRejection(err):
		return fmt.Errorf("trino: guarding a connection: %v", err)
	}
	return err
}

// The headers by which a client tells the server of its session.
const (
	sessionHeader     = "X-Trino-Session"
	pathHeader        = "X-Trino-Path"
	catalogHeader     = "X-Trino-Catalog"
	schemaHeader      = "X-Trino-Schema"
	transactionHeader = "X-Trino-Transaction-Id"
)

// install reads the session of the connection, which asks the server nothing, and makes the one of the statements.
func (h *held) install(timeout time.Duration) error {
	var headers map[string][]string
	err := h.conn.Raw(func(c any) error {
		if unwrap := h.guard.config.Unwrap; unwrap != nil {
			c = unwrap(c)
		}
		var ok bool
		if headers, ok = headersOf(c); !ok {
			return &exec.UnguardedError{
				Reason: fmt.Sprintf("the driver connection %T does not tell the session of its statements", c),
				Remedy: "open the pool with github.com/trinodb/trino-go-client; where another driver wraps it, find its connection with exec.Config.Unwrap",
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	first := func(name string) string { return strings.ToLower(strings.Join(headers[name], "")) }
	h.at = home{first(catalogHeader), first(schemaHeader)}
	switch transaction := first(transactionHeader); {
	case transaction != "" && transaction != "none":
		return &exec.UnguardedError{Reason: "a transaction is open on the connection, which its caller began and did not end", Remedy: "commit it or roll it back before the connection goes back to the pool"}
	case h.at.catalog == "" || h.at.schema == "":
		return &exec.UnguardedError{Reason: "the connection has no catalog or no schema", Remedy: "name both in the DSN: ?catalog=hive&schema=shop"}
	case h.at.catalog == "system" || !visible(h.at.schema, ""):
		return &exec.UnguardedError{Reason: "the catalog and schema of the connection, " + h.at.catalog + "." + h.at.schema + ", are the server's own", Remedy: "name others in the DSN"}
	}
	h.session = []any{
		sql.Named(sessionHeader, strings.Join(limits(headers[sessionHeader], timeout), ",")),
		sql.Named(pathHeader, "system.builtin"), // where functions without a schema are looked for, and nowhere else
	}
	return nil
}

// headersOf reads the headers that a connection of trino-go-client sends with each statement. An argument of a statement
// takes the place of a header, so what the DSN says has to be sent again with it.
func headersOf(c any) (map[string][]string, bool) {
	v := reflect.ValueOf(c)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	v = v.Elem().FieldByName("httpHeaders")
	if !v.IsValid() || v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String || v.Type().Elem() != reflect.TypeFor[[]string]() {
		return nil, false
	}
	headers := map[string][]string{}
	for entries := v.MapRange(); entries.Next(); {
		for i := range entries.Value().Len() {
			headers[entries.Key().String()] = append(headers[entries.Key().String()], entries.Value().Index(i).String())
		}
	}
	return headers, true
}

// runTime is the session property that ends a statement. Queueing and planning count, and EXPLAIN is a statement too.
const runTime = "query_max_run_time"

// leastTime is the shortest time that a statement may have. The server looks about once a second, and a plan that was
// never made takes seconds. A shorter time-out is that of the context, with which the driver ends a statement.
const leastTime = 5 * time.Second

// limits are the session properties of statements that take timeout at most, properties being those of the connection. A
// lower limit of theirs stays.
func limits(properties []string, timeout time.Duration) []string {
	most := max(timeout, leastTime)
	var out []string
	for _, p := range strings.Split(strings.Join(properties, ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if name != runTime {
			if p != "" {
				out = append(out, p)
			}
		} else if d, ok := duration(value); ok && d < most {
			most = d
		}
	}
	return append(out, fmt.Sprintf("%s=%dms", runTime, most.Milliseconds()))
}

// duration reads a duration as the server writes it: 1.50m, 100d.
func duration(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * float64(24*time.Hour)), err == nil && n > 0 && n < 1e5
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// Release implements bridge.Held.
func (h *held) Release(drop bool) error {
	h.close()
	if !drop {
		return nil
	}
	err := h.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// close ends the last statement.
func (h *held) close() {
	if h.rows != nil {
		h.rows.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.rows, h.statement = nil, nil
}
