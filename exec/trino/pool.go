package trino

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// believed is how long the guard believes what the server told it about the session, a view or a denied column.
const believed = time.Minute

// pool is what the guard of one DB learns of its connections.
type pool struct {
	dialect Dialect
	config  exec.GuardConfig

	mu      sync.Mutex
	version version
	answers map[string]any // what the server said of the session, of views and of denied columns
	since   time.Time      // of answers
}

// session is what the DSN sets for each statement. The driver puts a connection back to it before database/sql hands the
// connection out, so all connections of the pool have the same.
type session struct {
	user       string
	at         home
	properties []string // of the header, as the driver writes them
}

// The headers by which a client tells the server of its session. An argument of that name takes the place of a header.
const (
	sessionHeader     = "X-Trino-Session"
	pathHeader        = "X-Trino-Path"
	catalogHeader     = "X-Trino-Catalog"
	schemaHeader      = "X-Trino-Schema"
	transactionHeader = "X-Trino-Transaction-Id"
)

// open puts the guard on a connection. Each statement of Trino carries its session with it, so nothing is changed that
// would have to be put back.
func (p *pool) open(ctx context.Context, sqlConn *sql.Conn, timeout time.Duration) (exec.Opened, error) {
	s, err := remembered(p, "session", func() (session, error) { return askSession(ctx, sqlConn) })
	if err != nil {
		return exec.Opened{}, err
	}
	place := fmt.Sprintf("%q %q %q", s.user, s.at.catalog, s.at.schema)
	c := &conn{pool: p, conn: sqlConn, place: place, at: s.at, properties: strings.Join(limits(s.properties, timeout), ",")}
	return exec.Opened{Conn: c, Place: place}, nil
}

// askSession asks the server for user, catalog and schema. The session properties are those that the question carried:
// SHOW SESSION hides some, and does not tell those of the DSN from those that the server sets by itself, which this user
// may not be allowed to set.
func askSession(ctx context.Context, conn *sql.Conn) (session, error) {
	var s session
	var sent headers
	var catalog, schema sql.NullString
	err := guard.Each(httptrace.WithClientTrace(ctx, sent.trace()), conn, "SELECT current_user, current_catalog, current_schema",
		func(scan func(...any) error) error { return scan(&s.user, &catalog, &schema) })
	sent.mu.Lock()
	defer sent.mu.Unlock()
	s.at = home{strings.ToLower(catalog.String), strings.ToLower(schema.String)}
	s.properties = sent.values[sessionHeader]
	unplaced := sent.values != nil && (sent.values[catalogHeader] == nil || sent.values[schemaHeader] == nil)
	switch {
	case err != nil && !unplaced: // to a question without both the server may answer with an error
		return s, err
	case s.at.catalog == "" || s.at.schema == "":
		return s, &exec.UnguardedError{
			Reason: "the connection has no catalog or no schema",
			Remedy: "name both in the DSN: https://user@host:8443?catalog=hive&schema=shop",
		}
	case s.at.catalog == "system" || !visible(s.at.schema, ""):
		return s, &exec.UnguardedError{
			Reason: "the catalog and schema of the connection, " + s.at.catalog + "." + s.at.schema + ", are the server's own",
			Remedy: "name others in the DSN",
		}
	case sent.values == nil:
		return s, &exec.UnguardedError{
			Reason: "the HTTP client of the driver does not tell which session properties it sends (net/http/httptrace)",
			Remedy: "open the pool with github.com/trinodb/trino-go-client, and give it a client that sends with net/http.Transport",
		}
	}
	return s, nil
}

// headers are those of the first request that a statement makes.
type headers struct {
	mu     sync.Mutex
	values map[string][]string
	whole  bool
}

func (h *headers) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteHeaderField: func(key string, values []string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.values == nil {
				h.values = map[string][]string{}
			}
			key = http.CanonicalHeaderKey(key)
			for _, value := range values {
				if !h.whole && !slices.Contains(h.values[key], value) { // a request that is sent again writes them again
					h.values[key] = append(h.values[key], value)
				}
			}
		},
		WroteHeaders: func() { h.mu.Lock(); h.whole = true; h.mu.Unlock() },
	}
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

// remembered returns the answer to a question that was asked within the last minute, and else asks it. An error is asked
// for again.
func remembered[T any](p *pool, question string, ask func() (T, error)) (T, error) {
	p.mu.Lock()
	if p.answers == nil || time.Since(p.since) > believed {
		p.answers, p.since = map[string]any{}, time.Now()
	}
	answers := p.answers
	known, ok := answers[question].(T)
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	answer, err := ask()
	if err == nil {
		p.mu.Lock()
		answers[question] = answer
		p.mu.Unlock()
	}
	return answer, err
}
