package bigquery_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/option"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
)

const (
	project = "shop-project"
	home    = "suite_data"
)

// fake is the REST API of BigQuery as far as this module calls it, over HTTP. A statement runs on SQLite, unless an
// answer was recorded for it. It proves nothing about the service itself.
type fake struct {
	t      testing.TB
	db     *sql.DB
	lite   *exec.DB // tells what db has
	path   string
	server *httptest.Server

	mu       sync.Mutex
	jobs     map[string]*fakeJob
	calls    map[string]int       // of each kind of request
	bodies   []insertBody         // of jobs.insert, in order
	answers  map[string]answer    // of statements, instead of SQLite's
	tables   map[string]fakeTable // by "project.dataset.table", beside those of SQLite
	before   func(call, what string) *refusal
	always   *answer         // of each statement that has no other
	bytes    int64           // of each dry run
	mentions []string        // tables that each dry run tells of, as "project.dataset.table"; nil: the true ones
	kind     string          // StatementType of each dry run; "": the true one
	cut      map[string]bool // kinds of requests whose connection is cut in the middle of the answer
}

type fakeTable struct {
	meta string   // JSON of tables.get, without its reference
	rows []string // JSON rows of tabledata.list
}

// answer is a recorded one.
type answer struct {
	schema string // JSON of a TableSchema
	rows   []string
}

// refusal is an answer that is an error.
type refusal struct {
	code            int
	reason, message string
}

type insertBody struct {
	JobReference  struct{ JobID, Location string }
	Configuration struct {
		DryRun       bool
		JobTimeoutMs string
		Labels       map[string]string
		Query        struct {
			Query              string
			MaximumBytesBilled string
			UseLegacySQL       *bool
			DefaultDataset     struct{ ProjectID, DatasetID string }
			QueryParameters    []struct {
				ParameterType  struct{ Type string }
				ParameterValue struct{ Value string }
			}
		}
	}
}

type fakeJob struct {
	body    insertBody
	cancel  context.CancelFunc
	done    chan struct{}
	failed  *refusal
	answer  answer
	stopped bool
}

// newFake starts the API over an empty database.
func newFake(t testing.TB) *fake {
	f := &fake{
		t: t, path: filepath.Join(t.TempDir(), "fake.db"), jobs: map[string]*fakeJob{}, calls: map[string]int{},
		answers: map[string]answer{},
		tables:  map[string]fakeTable{}, cut: map[string]bool{}, bytes: 1000,
	}
	f.db = sql.OpenDB(liteConnector{f.dsn()})
	f.lite = testutil.Value(exec.New(f.db, sqlite.Dialect{}, exec.Config{Policy: open}))(t)
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() {
		f.mu.Lock()
		for _, j := range f.jobs {
			j.cancel()
		}
		f.mu.Unlock()
		f.server.CloseClientConnections()
		f.server.Close()
		f.db.Close()
	})
	return f
}

func (f *fake) dsn() string { return "file:" + f.path + "?_busy_timeout=5000&_journal_mode=WAL" }

// client is the real client, talking to f.
func (f *fake) client(options ...option.ClientOption) *bigquery.Client {
	f.t.Helper()
	options = append([]option.ClientOption{option.WithEndpoint(f.server.URL), option.WithoutAuthentication()}, options...)
	c, err := bigquery.NewClient(context.Background(), project, options...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	return c
}

// connector is a pool's, whose tables are asked for anew each time.
func (f *fake) connector() driver.Connector {
	return bq.NewConnector(f.client(), bq.Config{Dataset: home, Refresh: time.Nanosecond})
}

// pool is one of a Config whose Dataset is home.
func (f *fake) pool(c bq.Config) *sql.DB {
	f.t.Helper()
	c.Dataset = home
	pool := bq.Open(f.client(), c)
	f.t.Cleanup(func() { pool.Close() })
	return pool
}

func (f *fake) script(text string) {
	f.t.Helper()
	for statement := range strings.SplitSeq(text, ";\n") {
		if _, err := f.db.Exec(statement); err != nil {
			f.t.Fatalf("%s: %v", statement, err)
		}
	}
}

func (f *fake) count(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// cuts says whether the connection is cut in the middle of an answer to a kind of request.
func (f *fake) cuts(call string, cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut[call] = cut
}

// callOf names a request.
func callOf(r *http.Request, dry bool) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // projects P …
	tail := strings.Join(parts[2:], "/")
	switch {
	case tail == "jobs" && dry:
		return "dry"
	case tail == "jobs":
		return "insert"
	case strings.HasSuffix(tail, "/cancel"):
		return "cancel"
	case strings.HasPrefix(tail, "jobs/"):
		return "job"
	case strings.HasPrefix(tail, "queries/"):
		return "results"
	case strings.HasSuffix(tail, "/tables"):
		return "list"
	case strings.HasSuffix(tail, "/data"):
		return "data"
	case strings.Contains(tail, "/tables/"):
		return "table"
	}
	return tail
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	var body insertBody
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &body)
	call := callOf(r, body.Configuration.DryRun)
	f.mu.Lock()
	f.calls[call]++
	before, cut := f.before, f.cut[call]
	f.mu.Unlock()
	what := body.Configuration.Query.Query
	if what == "" {
		what = r.URL.Path
	}
	if before != nil {
		if refused := before(call, what); refused != nil {
			refused.write(w)
			return
		}
	}
	if cut {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"kind":`))
		panic(http.ErrAbortHandler)
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var out any
	var refused *refusal
	switch call {
	case "dry":
		f.note(body)
		out, refused = f.dry(body)
	case "insert":
		f.note(body)
		out, refused = f.insert(body)
	case "job", "cancel":
		out, refused = f.job(parts[3], call == "cancel")
	case "results":
		out, refused = f.results(r, parts[3])
	case "list":
		out, refused = f.list(r, parts[1], parts[3])
	case "table":
		out, refused = f.table(parts[1], parts[3], parts[5])
	case "data":
		out, refused = f.data(r, parts[1], parts[3], parts[5])
	default:
		refused = &refusal{404, "notFound", "Not found: " + r.URL.Path}
	}
	if refused != nil {
		refused.write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

func (f *fake) note(body insertBody) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies = append(f.bodies, body)
}

func (e *refusal) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.code)
	item := map[string]any{"reason": e.reason, "message": e.message, "location": "query"}
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": e.code, "message": e.message,
		"errors": []any{item}}})
}

func invalid(format string, args ...any) *refusal {
	return &refusal{400, "invalidQuery", fmt.Sprintf(format, args...)}
}

// reference is what names a table in an answer.
func reference(name string) map[string]any {
	parts := strings.SplitN(name, ".", 3)
	return map[string]any{"projectId": parts[0], "datasetId": parts[1], "tableId": parts[2]}
}

// dry answers a dry run: SQLite compiles the statement and tells the tables that it reads.
func (f *fake) dry(body insertBody) (any, *refusal) {
	text := body.Configuration.Query.Query
	f.mu.Lock()
	_, recorded := f.answers[text]
	recorded = recorded || f.always != nil
	kind, bytes, mentioned := f.kind, f.bytes, f.mentions
	f.mu.Unlock()
	q := body.Configuration.Query
	if most, _ := strconv.ParseInt(q.MaximumBytesBilled, 10, 64); most <= 0 || q.UseLegacySQL == nil || *q.UseLegacySQL {
		return nil, invalid("the fake refuses a job without a cap or in legacy SQL")
	}
	var tables []any
	if !recorded {
		read, err := f.reads(text)
		if err != nil {
			return nil, liteError(err)
		}
		for _, name := range read {
			tables = append(tables, reference(project+"."+home+"."+name))
		}
	}
	if mentioned != nil {
		tables = nil
		for _, name := range mentioned {
			tables = append(tables, reference(name))
		}
	}
	if kind == "" {
		switch kind = strings.ToUpper(strings.Fields(strings.Trim(text, "( \n"))[0]); kind {
		case "WITH", "FROM":
			kind = "SELECT"
		}
	}
	return map[string]any{
		"jobReference":  map[string]any{"projectId": project, "jobId": body.JobReference.JobID, "location": "US"},
		"status":        map[string]any{"state": "DONE"},
		"configuration": map[string]any{"dryRun": true, "query": map[string]any{"query": text}},
		"statistics": map[string]any{"totalBytesProcessed": strconv.FormatInt(bytes, 10), "query": map[string]any{
			"statementType": kind, "totalBytesProcessed": strconv.FormatInt(bytes, 10), "totalBytesProcessedAccuracy": "PRECISE",
			"referencedTables": tables,
		}},
	}, nil
}

// insert starts a job.
func (f *fake) insert(body insertBody) (any, *refusal) {
	if _, refused := f.dry(body); refused != nil {
		return nil, refused
	}
	ctx, cancel := context.WithCancel(context.Background())
	if ms, _ := strconv.Atoi(body.Configuration.JobTimeoutMs); ms > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	}
	j := &fakeJob{body: body, cancel: cancel, done: make(chan struct{})}
	f.mu.Lock()
	recorded, ok := f.answers[body.Configuration.Query.Query]
	if !ok && f.always != nil {
		recorded, ok = *f.always, true
	}
	f.jobs[body.JobReference.JobID] = j
	f.mu.Unlock()
	go func() {
		defer close(j.done)
		if ok {
			j.answer = recorded
			return
		}
		j.answer, j.failed = f.run(ctx, body)
	}()
	return f.describe(body.JobReference.JobID, j), nil
}

func (f *fake) describe(id string, j *fakeJob) any {
	return map[string]any{
		"jobReference":  map[string]any{"projectId": project, "jobId": id, "location": "US"},
		"status":        map[string]any{"state": "RUNNING"},
		"configuration": map[string]any{"query": map[string]any{"query": j.body.Configuration.Query.Query}},
	}
}

func (f *fake) job(id string, cancel bool) (any, *refusal) {
	f.mu.Lock()
	j := f.jobs[id]
	f.mu.Unlock()
	if j == nil {
		return nil, &refusal{404, "notFound", "Not found: Job " + id}
	}
	if cancel {
		f.mu.Lock()
		j.stopped = true
		f.mu.Unlock()
		j.cancel()
		return map[string]any{"job": f.describe(id, j)}, nil
	}
	return f.describe(id, j), nil
}

func (f *fake) results(r *http.Request, id string) (any, *refusal) {
	f.mu.Lock()
	j := f.jobs[id]
	f.mu.Unlock()
	if j == nil {
		return nil, &refusal{404, "notFound", "Not found: Job " + id}
	}
	wait := time.NewTimer(20 * time.Millisecond)
	defer wait.Stop()
	select {
	case <-j.done:
	case <-wait.C:
		return map[string]any{"jobReference": map[string]any{"projectId": project, "jobId": id}, "jobComplete": false}, nil
	}
	if j.failed != nil {
		return nil, j.failed
	}
	out := page(r, j.answer.rows)
	out["jobReference"] = map[string]any{"projectId": project, "jobId": id, "location": "US"}
	out["jobComplete"], out["schema"] = true, json.RawMessage(j.answer.schema)
	return out, nil
}

const mostPage = 500 // rows of one answer

// page cuts rows as maxResults, startIndex and pageToken say. The service may give fewer than asked for: so does this.
func page(r *http.Request, rows []string) map[string]any {
	most, start := mostPage, 0
	if text := r.URL.Query().Get("maxResults"); text != "" {
		n, _ := strconv.Atoi(text)
		most = min(n, mostPage)
	}
	for _, name := range []string{"startIndex", "pageToken"} {
		if text := r.URL.Query().Get(name); text != "" {
			start, _ = strconv.Atoi(text)
		}
	}
	start = min(start, len(rows))
	end := min(start+most, len(rows))
	out := map[string]any{"totalRows": strconv.Itoa(len(rows))}
	var some []json.RawMessage
	for _, row := range rows[start:end] {
		some = append(some, json.RawMessage(row))
	}
	if len(some) > 0 {
		out["rows"] = some
	}
	if end < len(rows) && most > 0 {
		out["pageToken"] = strconv.Itoa(end)
	}
	return out
}

// names are the tables of a dataset, sorted.
func (f *fake) names(ref string) (out []string) {
	if ref == project+"."+home {
		for _, t := range f.schema().Tables {
			out = append(out, t.Name)
		}
	}
	f.mu.Lock()
	for name := range f.tables {
		if table, ok := strings.CutPrefix(name, ref+"."); ok {
			out = append(out, table)
		}
	}
	f.mu.Unlock()
	slices.Sort(out)
	return out
}

func (f *fake) list(r *http.Request, in, set string) (any, *refusal) {
	var rows []string
	for _, name := range f.names(in + "." + set) {
		text, _ := json.Marshal(map[string]any{"tableReference": reference(in + "." + set + "." + name), "type": "TABLE"})
		rows = append(rows, string(text))
	}
	if rows == nil && set != home {
		return nil, &refusal{404, "notFound", "Not found: Dataset " + in + ":" + set}
	}
	out := page(r, rows)
	out["tables"] = out["rows"]
	delete(out, "rows")
	if token, ok := out["pageToken"]; ok {
		out["nextPageToken"] = token
	}
	return out, nil
}

func (f *fake) table(in, set, name string) (any, *refusal) {
	full := in + "." + set + "." + name
	f.mu.Lock()
	recorded, ok := f.tables[full]
	f.mu.Unlock()
	out := map[string]any{}
	if ok {
		if err := json.Unmarshal([]byte(recorded.meta), &out); err != nil {
			f.t.Errorf("%s: %v", full, err)
		}
	} else {
		t, ok := f.schema().Lookup("", name)
		if in+"."+set != project+"."+home || !ok {
			return nil, &refusal{404, "notFound", "Not found: Table " + in + ":" + set + "." + name}
		}
		describe(t, out)
	}
	out["tableReference"], out["id"] = reference(full), full
	text, _ := json.Marshal(out)
	out["etag"] = fmt.Sprintf("%x", sha256.Sum256(text))[:12]
	return out, nil
}
