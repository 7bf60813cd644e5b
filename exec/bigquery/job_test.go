package bigquery_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// database is a DB on f.
func database(t testing.TB, f *fake, c bq.Config, e exec.Config) *exec.DB {
	t.Helper()
	return dbtest.NewDB(t, f.pool(c), bq.Dialect{}, e)
}

// TestJob looks at what is sent for a statement: a dry run and a job, both with the cap, and neither in legacy SQL.
func TestJob(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{MaxBytesBilled: 12345, Labels: map[string]string{"app": "texttosql"}}, exec.Config{})
	testutil.Value(db.QueryWithin(t.Context(), "SELECT a FROM t", exec.Bounds{Timeout: 7 * time.Second}))(t)
	if len(f.bodies) != 2 || !f.bodies[0].Configuration.DryRun || f.bodies[1].Configuration.DryRun {
		t.Fatalf("sent were %+v, want a dry run and a job", f.bodies)
	}
	for i, b := range f.bodies {
		q := b.Configuration.Query
		switch {
		case q.MaximumBytesBilled != "12345", q.UseLegacySQL == nil || *q.UseLegacySQL, q.DefaultDataset.DatasetID != home,
			q.DefaultDataset.ProjectID != project, b.Configuration.Labels["app"] != "texttosql", q.Query != "SELECT a FROM t":
			t.Errorf("job %d is %+v", i, b)
		case i == 1 && b.Configuration.JobTimeoutMs != "7000":
			t.Errorf("the job has the time-out %q", b.Configuration.JobTimeoutMs)
		case i == 1 && !strings.HasPrefix(b.JobReference.JobID, "texttosql_"):
			t.Errorf("the job is called %q", b.JobReference.JobID)
		}
	}
	// Without a Config of bytes there is a cap too, also for the caller's own statements.
	pool := f.pool(bq.Config{})
	if _, err := pool.Exec("SELECT 1"); err == nil {
		t.Error("the pool has an Exec")
	}
	rows := testutil.Value(pool.Query("SELECT a FROM t"))(t)
	rows.Close()
	if last := f.bodies[len(f.bodies)-1].Configuration.Query; last.MaximumBytesBilled != "1073741824" {
		t.Errorf("the cap of the caller's own statement is %q", last.MaximumBytesBilled)
	}
}

// TestDryRun: what the dry run says decides, whatever the text looks like.
func TestDryRun(t *testing.T) {
	const text = "SELECT a FROM t"
	in := project + "." + home + "."
	for _, test := range []struct {
		why    string
		change func(f *fake)
		policy exec.Policy
		ok     func(error) bool
	}{
		{"a SELECT of its tables", func(f *fake) { f.mentions = []string{in + "t"} }, open, func(err error) bool {
			return err == nil
		}},
		{"the service takes it for a script", func(f *fake) { f.kind = "SCRIPT" }, open, isRefused("statement")},
		{"the service takes it for DML", func(f *fake) { f.kind = "INSERT" }, open, func(err error) bool {
			return errors.Is(err, exec.ErrNotReadOnly)
		}},
		{"the service says nothing of its kind", func(f *fake) { f.kind = "?" }, open, isRefused("statement")},
		{"a table that the text does not name, allowed", func(f *fake) { f.mentions = []string{in + "keys"} }, open,
			func(err error) bool { return err == nil }},
		{"a denied one", func(f *fake) { f.mentions = []string{in + "users"} }, noUsers, isRefused("table")},
		{"one with a denied column", func(f *fake) { f.mentions = []string{in + "users"} }, noPass, isRefused("table")},
		{"one of no dataset of the Config", func(f *fake) { f.mentions = []string{project + ".hidden.t"} }, open,
			isRefused("table")},
		{"one that is not there", func(f *fake) { f.mentions = []string{in + "gone"} }, open, isRefused("table")},
		{"over the cap", func(f *fake) { f.bytes = 5<<30 + 1 }, open, isLimit("scanned bytes")},
		{"exactly the cap", func(f *fake) { f.bytes = 5 << 30 }, open, func(err error) bool { return err == nil }},
	} {
		f := hostileFake(t)
		db := database(t, f, bq.Config{MaxBytesBilled: 5 << 30}, exec.Config{Policy: test.policy})
		test.change(f)
		_, err := db.Query(t.Context(), text)
		if !test.ok(err) {
			t.Errorf("%s: %v", test.why, err)
		}
		if n := f.count("insert"); (n == 0) == (err == nil) {
			t.Errorf("%s: %d jobs, and the error %v", test.why, n, err)
		}
	}
}

// TestEngineCost: the bytes of a plan are bounded by exec too.
func TestEngineCost(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{}, exec.Config{Limits: exec.Limits{EngineCost: 500}})
	f.bytes = 501
	if _, err := db.Query(t.Context(), "SELECT a FROM t"); !isLimit("engine-cost")(err) {
		t.Errorf("501 bytes where 500 are allowed: %v", err)
	}
	f.bytes, f.mentions = 500, []string{project + "." + home + ".users", project + "." + home + ".t"}
	p, err := db.Explain(t.Context(), "SELECT a FROM t JOIN users ON true")
	want := "0 bytes are read (precise)\nread suite_data.t\nread suite_data.users"
	if diff := cmp.Diff(want, p.Signature()); err != nil || p.EngineCost != 500 || p.Cost() != 500 || diff != "" {
		t.Errorf("the plan is %+v, %v: %s", p, err, diff)
	}
	scans := []schema.TableName{{Name: "t"}, {Name: "users"}}
	if diff := cmp.Diff(scans, p.Scans()); diff != "" {
		t.Errorf("scans: %s", diff)
	}
	if n := f.count("insert"); n > 0 {
		t.Errorf("%d jobs", n)
	}
}

// TestRoundTrips: an examination reads a new statement once, and asks the service once what it would do.
func TestRoundTrips(t *testing.T) {
	for _, test := range []struct {
		why    string
		policy exec.Policy
		tables int // looks at a table
	}{
		{"what is known of the tables is not a minute old", open, 0},
		{"where columns are denied, the table of the statement may not be older than a second", noPass, 1},
	} {
		f := hostileFake(t)
		reads, confirms := 0, 0
		d := exectest.Change(bq.Dialect{}, exectest.Changes{
			Read: func(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
				reads++
				return read()
			},
			Confirm: func(_ *exec.Statement, confirm func() (guard.EngineReport, error)) (guard.EngineReport, error) {
				confirms++
				return confirm()
			},
		})
		db := dbtest.NewDB(t, f.pool(bq.Config{}), d, exec.Config{Policy: test.policy})
		testutil.OK(t, db.Ready(t.Context()))
		time.Sleep(1100 * time.Millisecond) // the age of tables where columns are denied
		before := map[string]int{}
		for _, call := range []string{"dry", "insert", "table", "list"} {
			before[call] = f.count(call)
		}
		testutil.Value(db.Examine(t.Context(), "SELECT a FROM t"))(t)
		got := map[string]int{"read": reads, "confirm": confirms}
		for call, n := range before {
			got[call] = f.count(call) - n
		}
		want := map[string]int{"read": 1, "confirm": 1, "dry": 1, "insert": 1, "table": test.tables, "list": 0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
}

func isRefused(reason any) func(error) bool {
	return func(err error) bool {
		var r *exec.RefusedError
		return errors.As(err, &r) && r.Reason == reason
	}
}

func isLimit(limit string) func(error) bool {
	return func(err error) bool {
		var l *exec.LimitError
		return errors.As(err, &l) && l.Limit == limit
	}
}

func isInvalid(fault string, name string) func(error) bool {
	return func(err error) bool {
		var e *exec.InvalidError
		return errors.As(err, &e) && e.Fault == fault && e.Name == name
	}
}

// isOther is an error that says nothing about the statement.
func isOther(err error) bool {
	return err != nil && !exec.IsRejection(err) && !errors.Is(err, exec.ErrBusy)
}

func TestErrors(t *testing.T) {
	busy := func(err error) bool { return errors.Is(err, exec.ErrBusy) && !exec.IsRejection(err) }
	for _, test := range []struct {
		why, call string
		refusal   refusal
		ok        func(error) bool
	}{
		{"an unknown column", "dry", *invalid("Unrecognized name: nmae; Did you mean name? at [1:8]"),
			isInvalid("schema", "nmae")},
		{"an unknown column of an alias", "dry", *invalid("Name nmae not found inside u at [1:10]"),
			isInvalid("schema", "nmae")},
		{"an unknown function", "dry", *invalid("Function not found: foo at [1:8]"), isInvalid("schema", "foo")},
		{"an unknown column of USING", "dry",
			*invalid("Column nmae in USING clause not found on left side of join at [1:40]"),
			isInvalid("schema", "nmae")},
		{"an ambiguous column", "dry", *invalid("Column name id is ambiguous at [1:8]"), isInvalid("schema", "id")},
		{"an unknown table", "dry", refusal{404, "notFound", "Not found: Table p:d.nosuch was not found in location US"},
			isInvalid("schema", "nosuch")},
		{"a syntax error", "dry", *invalid("Syntax error: Unexpected keyword FROM at [1:8]"), isInvalid("syntax", "")},
		{"a type error", "dry", *invalid("No matching signature for operator = for argument types: STRING, INT64 at [1:8]"),
			isInvalid("compile", "")},
		{"a division by zero", "insert", *invalid("division by zero: 1 / 0"), isInvalid("run", "")},
		{"a bad cast while it runs", "results", *invalid("Bad int64 value: x"), isInvalid("run", "")},
		{"a table that the account may not read", "dry",
			refusal{403, "accessDenied", "Access Denied: Table p:d.t: User does not have permission to query table p:d.t"},
			isRefused("table")},
		{"no right to run jobs", "dry",
			refusal{403, "accessDenied", "Access Denied: Project p: User does not have bigquery.jobs.create permission"},
			isOther},
		{"wrong credentials", "dry", refusal{401, "authError", "Invalid Credentials"}, isOther},
		{"no rights at all", "table", refusal{403, "forbidden", "The caller does not have permission"}, isOther},
		{"the quota of the project", "insert",
			refusal{403, "quotaExceeded", "Quota exceeded: Your project exceeded quota for free query bytes scanned"}, isOther},
		{"too many requests", "dry", refusal{403, "rateLimitExceeded", "Exceeded rate limits"}, busy},
		{"too many jobs", "insert", refusal{403, "jobRateLimitExceeded", "Job exceeded rate limits"}, busy},
		{"the service is down", "dry", refusal{503, "backendError", "Service unavailable"}, busy},
		{"down at the look at a table", "table", refusal{503, "backendError", "Service unavailable"}, busy},
		{"over the cap while it runs", "insert",
			refusal{400, "bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 1. 2 or higher required."},
			isLimit("scanned bytes")},
		{"over the memory of the service", "results",
			refusal{400, "resourcesExceeded", "Resources exceeded during query execution"}, isLimit("memory")},
		{"an answer that is too large", "results", refusal{403, "responseTooLarge", "Response too large to return"},
			isLimit("memory")},
		{"the time-out of the job", "results", refusal{400, "timeout", "Job timed out after 1s"}, isLimit("time")},
		{"somebody else ended the job", "results", refusal{400, "stopped", "Job execution was cancelled"}, isOther},
	} {
		t.Run(test.why, func(t *testing.T) {
			t.Parallel()
			f := hostileFake(t)
			db := database(t, f, bq.Config{}, exec.Config{})
			f.before = func(call, _ string) *refusal {
				if call == test.call {
					return &test.refusal
				}
				return nil
			}
			bounds := exec.Bounds{Timeout: time.Minute}
			switch test.refusal.reason {
			case "rateLimitExceeded", "jobRateLimitExceeded", "backendError": // the client tries again until the end
				bounds.Timeout = 3 * time.Second
			}
			_, err := db.QueryWithin(t.Context(), "SELECT a FROM t", bounds)
			if !test.ok(err) {
				t.Errorf("%T %v", err, err)
			}
			if isInvalid("syntax", "")(err) && !strings.Contains(err.Error(), "[1:8]") {
				t.Errorf("the error does not say where: %v", err)
			}
		})
	}
}

// TestHidden: what the service suggests instead of an unknown name may be what a policy hides.
func TestHidden(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{}, exec.Config{Policy: noPass})
	f.before = func(call, _ string) *refusal {
		if call == "dry" {
			return invalid("Unrecognized name: passwort; Did you mean password? at [1:8]")
		}
		return nil
	}
	_, err := db.Query(t.Context(), "SELECT passwort FROM users") // as that of a denied column, which may be there
	var refused *exec.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "column" || strings.Contains(err.Error(), "password") {
		t.Errorf("the error is %v", err)
	}
}

// TestSecrets: an error of the way to the service repeats no credential.
func TestSecrets(t *testing.T) {
	f := hostileFake(t)
	const secret = "ya29.s3cret-token"
	gone := failing("oauth2: cannot fetch token: access_token=" + secret + " refused, Authorization: Bearer " + secret)
	client := f.client(option.WithHTTPClient(&http.Client{Transport: gone}))
	pool := bq.Open(client, bq.Config{Dataset: home})
	t.Cleanup(func() { pool.Close() })
	db := dbtest.NewDB(t, pool, bq.Dialect{}, exec.Config{})
	_, err := db.Query(t.Context(), "SELECT a FROM t")
	_, err2 := db.Schema(t.Context())
	for _, err := range []error{err, err2} {
		if err == nil || exec.IsRejection(err) || strings.Contains(err.Error(), secret) {
			t.Errorf("the error is %v", err)
		}
	}
}

type failing string

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New(string(f)) }

// TestCancel: a job whose context ends is cancelled at the service, whatever answer it waits for.
func TestCancel(t *testing.T) {
	for _, during := range []string{"insert", "results"} {
		f := hostileFake(t)
		pool := f.pool(bq.Config{})
		db := dbtest.NewDB(t, pool, bq.Dialect{}, exec.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		f.before = func(call, _ string) *refusal {
			if call == during {
				cancel()
				<-release // the answer never comes
			}
			return nil
		}
		_, err := db.Query(ctx, "SELECT a FROM t")
		if !errors.Is(err, context.Canceled) || exec.IsRejection(err) {
			t.Errorf("cancelled during %s: %v", during, err)
		}
		close(release) // now it does, and nobody is there
		pool.Close()   // waits for the cancellation
		if n := f.count("cancel"); n != 1 {
			t.Errorf("%s: %d cancellations", during, n)
		}
		cancel()
	}
}

// TestConnectionCut: an answer that ends in the middle blames no statement, and the next statement runs.
func TestConnectionCut(t *testing.T) {
	for _, call := range []string{"dry", "insert", "results", "table"} {
		f := hostileFake(t)
		db := database(t, f, bq.Config{}, exec.Config{})
		f.cuts(call, true)
		_, err := db.QueryWithin(t.Context(), "SELECT a FROM t", exec.Bounds{Timeout: 300 * time.Millisecond})
		if err == nil || errors.As(err, new(*exec.InvalidError)) || errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("cut in the answer of %s: %v", call, err)
		}
		f.cuts(call, false)
		if _, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil {
			t.Errorf("after a cut in %s: %v", call, err)
		}
	}
	// A service that is gone.
	f := hostileFake(t)
	db := database(t, f, bq.Config{},
		exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: 200 * time.Millisecond}}})
	f.server.CloseClientConnections()
	f.server.Close()
	if _, err := db.Query(t.Context(), "SELECT a FROM t"); err == nil || errors.As(err, new(*exec.InvalidError)) ||
		errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("without a service: %v", err)
	}
}

// TestPages reads a result that comes in pages, and no further than wanted.
func TestPages(t *testing.T) {
	f := hostileFake(t)
	many := answer{schema: one.schema}
	for i := range 1800 {
		many.rows = append(many.rows, fmt.Sprintf(`{"f": [{"v": "%d"}]}`, i))
	}
	f.always = &many
	db := database(t, f, bq.Config{}, exec.Config{})
	for _, test := range []struct {
		rows, got int
		truncated bool
		pages     int // requests for rows, beside one that waits for the job
	}{{5000, 1800, false, 4}, {1800, 1800, false, 4}, {1799, 1799, true, 4}, {700, 700, true, 2}, {10, 10, true, 1}} {
		before := f.count("results")
		table, err := db.QueryWithin(t.Context(), "SELECT a FROM t", exec.Bounds{Rows: test.rows})
		if err != nil || len(table.Rows) != test.got || table.Truncated != test.truncated ||
			table.Rows[test.got-1][0] != int64(test.got-1) {
			t.Errorf("%d rows: %d, %v, %v", test.rows, len(table.Rows), table.Truncated, err)
		}
		if n := f.count("results") - before; n != test.pages+1 {
			t.Errorf("%d rows: %d requests, want %d", test.rows, n, test.pages+1)
		}
	}
}

func TestConfig(t *testing.T) {
	f := hostileFake(t)
	for _, test := range []struct {
		why    string
		client *bigquery.Client
		config bq.Config
	}{
		{"no client", nil, bq.Config{Dataset: "d"}},
		{"no dataset", f.client(), bq.Config{}},
		{"a dataset with a blank", f.client(), bq.Config{Dataset: "my data"}},
		{"a dataset that ends its name", f.client(), bq.Config{Dataset: "d`; DROP"}},
		{"no project before the dot", f.client(), bq.Config{Dataset: ".d"}},
		{"a wrong one of the others", f.client(), bq.Config{Dataset: "d", Datasets: []string{"p.d*"}}},
		{"a negative cap", f.client(), bq.Config{Dataset: "d", MaxBytesBilled: -1}},
		{"a negative age", f.client(), bq.Config{Dataset: "d", Refresh: -1}},
	} {
		pool := bq.Open(test.client, test.config)
		if err := pool.PingContext(t.Context()); err == nil {
			t.Errorf("%s: no error", test.why)
		}
		pool.Close()
	}
	// A pool of another driver cannot be guarded.
	other := dbtest.NewDB(t, f.db, bq.Dialect{}, exec.Config{})
	if _, err := other.Query(t.Context(), "SELECT 1"); !errors.As(err, new(*exec.UnguardedError)) ||
		!strings.Contains(err.Error(), "bigquery.Open") {
		t.Errorf("a pool of SQLite: %v", err)
	}
	if !(bq.Dialect{}).Language().BillsScans || (bq.Dialect{FlatRate: true}).Language().BillsScans {
		t.Error("what FlatRate says is not what the language says")
	}
	if !(bq.Dialect{}).Language().Recognises(f.pool(bq.Config{}).Driver()) ||
		(bq.Dialect{}).Language().Recognises(f.db.Driver()) {
		t.Error("the dialect does not know its driver")
	}
}

// googleSQL is what GoogleSQL writes otherwise: a quote in a string has a backslash, UNION says what it is, and a WITH
// names its columns in the query.
var googleSQL = []string{
	"'it''s'", `'it\'s'`, " UNION SELECT", " UNION DISTINCT SELECT",
	"n(i) AS (SELECT 1 ", "n AS (SELECT 1 AS i ",
	"c(x, y) AS (SELECT id, name FROM", "c AS (SELECT id AS x, name AS y FROM",
	"g(password) AS (SELECT 's3cret-1')", "g AS (SELECT 's3cret-1' AS password)",
}

// engine is the fake for the suite.
func engine() exectest.Engine {
	return exectest.Engine{
		Dialect: bq.Dialect{},
		State:   func(context.Context, *sql.Conn) (string, error) { return "", nil }, // a connection has none
		Endless: dbtest.Endless,
		Open: func(t testing.TB, script string) exectest.Database {
			f := newFake(t)
			f.script(script)
			return exectest.Database{User: f.connector(), Owner: liteConnector{f.dsn()}}
		},
		Write:        strings.NewReplacer(googleSQL...).Replace,
		VersionDelay: 5 * time.Millisecond,
		Skip: map[string]string{
			"odd_names": "names of BigQuery have letters, digits and blanks",
			"inspect":   "BigQuery has no unique constraints; TestInspect has what it has",
		},
	}
}

func TestConformance(t *testing.T) { exectest.Conformance(t, engine()) }
