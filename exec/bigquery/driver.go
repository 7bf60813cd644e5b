package bigquery

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// Config configures the datasets that a pool reads and what its statements may cost.
type Config struct {
	// Dataset is the default dataset: "dataset" in the project of the client, or "project.dataset". Required.
	Dataset string
	// Datasets are further datasets that statements may read, written like Dataset: "bigquery-public-data.samples".
	Datasets []string
	// MaxBytesBilled is the largest number of bytes that one statement may be billed for. The service rejects a
	// statement that needs more and charges nothing. 0 is 1 GiB. The service bills at least 10 MiB for each table.
	MaxBytesBilled int64
	// Labels are put on each job, so that a bill can be split by label. The service sets the rules for their text.
	Labels map[string]string
	// Refresh is the maximum age of cached table metadata. When it has passed, the next statement reloads all tables:
	// one request for each table, 16 at a time, and one for each 1,000 tables of a dataset. The requests are free. 0 is
	// one minute; use more for datasets with thousands of tables. If a policy denies columns, the metadata of a
	// statement's tables is never older than one second. After a refusal, the statement's tables are reloaded at once.
	Refresh time.Duration
}

const (
	defaultBytes   = 1 << 30
	defaultRefresh = time.Minute
	cancelTimeout  = 3 * time.Second
	cancelAgain    = 200 * time.Millisecond
	mostPage       = 10_000 // rows of one request
)

// Open returns a pool whose statements run as jobs of client. Pass it to [exec.New] with [Dialect]. Open sends nothing:
// an invalid Dataset is reported at the first use of the pool. The caller owns client and closes it after the pool.
// Config.MaxBytesBilled also limits statements that a program runs on the pool directly.
//
// A connection holds only the client, so any number of connections costs nothing. There are no transactions and no
// Exec. Closing the pool waits a few seconds at most for the cancellation of abandoned jobs.
func Open(client *bigquery.Client, c Config) *sql.DB { return sql.OpenDB(newConnector(client, c)) }

// dataset is where tables are.
type dataset struct{ project, name string }

// connector makes connections, which are all the same.
type connector struct {
	client   *bigquery.Client
	config   Config
	datasets []dataset // the default one first
	err      error     // of the Config
	cancels  sync.WaitGroup
}

var (
	isDataset = regexp.MustCompile(`^\w+$`)
	isProject = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`)
)

func newConnector(client *bigquery.Client, config Config) *connector {
	c := &connector{client: client, config: config}
	if client == nil {
		c.err = errors.New("bigquery: Open needs a client")
		return c
	}
	if c.config.MaxBytesBilled == 0 {
		c.config.MaxBytesBilled = defaultBytes
	}
	if c.config.Refresh == 0 {
		c.config.Refresh = defaultRefresh
	}
	if c.config.MaxBytesBilled < 0 || c.config.Refresh < 0 {
		c.err = errors.New("bigquery: Config.MaxBytesBilled or Config.Refresh is negative")
	}
	for _, text := range append([]string{config.Dataset}, config.Datasets...) {
		d := dataset{client.Project(), text}
		if i := strings.LastIndexByte(text, '.'); i >= 0 {
			d = dataset{text[:i], text[i+1:]}
		}
		if !isDataset.MatchString(d.name) || !isProject.MatchString(d.project) {
			c.err = fmt.Errorf(`bigquery: Config: %q is no dataset; write "dataset" or "project.dataset"`, text)
		}
		if !slices.Contains(c.datasets, d) {
			c.datasets = append(c.datasets, d)
		}
	}
	return c
}

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	if c.err != nil {
		return nil, c.err
	}
	return &conn{c}, nil
}

func (c *connector) Driver() driver.Driver { return bigqueryDriver{} }

// Close implements io.Closer. sql.DB.Close calls it.
func (c *connector) Close() error {
	c.cancels.Wait()
	return nil
}

// bigqueryDriver is the driver of a connector. A data source name could not say how to log in.
type bigqueryDriver struct{}

func (bigqueryDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("bigquery: there are no data source names; open the pool with bigquery.Open")
}

// conn is a connection. It has no state.
type conn struct{ *connector }

var errNoTransaction = errors.New("bigquery: statements that write and transactions are not for this driver")

func (c *conn) Prepare(text string) (driver.Stmt, error) { return &stmt{c, text}, nil }
func (c *conn) Begin() (driver.Tx, error)                { return nil, errNoTransaction }
func (c *conn) Close() error                             { return nil }

// CheckNamedValue accepts the guard's information about a statement as one of its arguments.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	switch v.Value.(type) {
	case job, *listing:
		return nil
	}
	return driver.ErrSkip
}

// job is how a statement runs.
type job struct {
	timeout time.Duration // 0: as long as the service likes
	rows    int           // how many are wanted; 0: all
}

// stmt is a text. The service prepares nothing.
type stmt struct {
	*conn
	text string
}

func (s *stmt) NumInput() int                              { return -1 }
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errNoTransaction }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errNoTransaction }

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	c := s.conn
	var o job
	var values []any
	for _, a := range args {
		switch v := a.Value.(type) {
		case job:
			o = v
		case *listing:
			return c.list(ctx, v)
		default:
			values = append(values, v)
		}
	}
	q := c.query(s.text, values)
	q.JobID = "texttosql_" + rand.Text() // so that it can be cancelled, whatever comes back
	q.JobTimeout = o.timeout
	j, err := q.Run(ctx)
	var it *bigquery.RowIterator
	if err == nil {
		it, err = j.Read(ctx)
	}
	if err != nil {
		if mayRun(err) {
			c.cancel(j, q.JobID)
		}
		return nil, err
	}
	it.PageInfo().MaxSize = mostPage
	if o.rows > 0 {
		it.PageInfo().MaxSize = min(o.rows, mostPage)
	}
	return &rows{it: it, schema: it.Schema, left: -1}, nil
}

// query makes the one form in which a text is sent.
func (c *connector) query(text string, values []any) *bigquery.Query {
	q := c.client.Query(text)
	q.DefaultProjectID, q.DefaultDatasetID = c.datasets[0].project, c.datasets[0].name
	q.MaxBytesBilled, q.Labels = c.config.MaxBytesBilled, c.config.Labels
	for _, v := range values {
		q.Parameters = append(q.Parameters, bigquery.QueryParameter{Value: v})
	}
	return q
}

// dryRun returns the service's statistics of a statement without running it.
func (c *connector) dryRun(ctx context.Context, text string, values []any) (*bigquery.QueryStatistics, error) {
	q := c.query(text, values)
	q.DryRun = true
	j, err := q.Run(ctx)
	if err != nil {
		return nil, err
	}
	status := j.LastStatus()
	if status != nil && status.Err() != nil {
		return nil, status.Err()
	}
	if status != nil && status.Statistics != nil {
		if s, ok := status.Statistics.Details.(*bigquery.QueryStatistics); ok {
			return s, nil
		}
	}
	return nil, errors.New("bigquery: the dry run says nothing of a query")
}

// mayRun reports whether a job may still run after an error. It does not if the service itself reported a failure.
func mayRun(err error) bool {
	var failed *bigquery.Error
	var answer *googleapi.Error
	return !errors.As(err, &failed) && (!errors.As(err, &answer) || answer.Code >= 500)
}

// cancel ends a job that nobody waits for. The caller does not wait for that either; Close does. j is nil where no
// answer came.
func (c *connector) cancel(j *bigquery.Job, id string) {
	c.cancels.Go(func() {
		ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
		defer stop()
		for j == nil { // it may have been on its way
			var err error
			if j, err = c.client.JobFromID(ctx, id); err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return // the job does not exist
			case <-time.After(cancelAgain):
			}
		}
		_ = j.Cancel(ctx)
	})
}

// rows are the rows of a job, or of a listing.
type rows struct {
	it     *bigquery.RowIterator
	schema bigquery.Schema                             // of the columns
	first  []bigquery.Value                            // read ahead; nil: nothing is
	pick   func(row []bigquery.Value) []bigquery.Value // the columns out of a whole row; nil: it has no others
	left   int                                         // rows that are wanted; negative: all
}

func (r *rows) Columns() []string {
	names := make([]string, len(r.schema))
	for i, f := range r.schema {
		names[i] = f.Name
	}
	return names
}

// ColumnTypeDatabaseTypeName returns the type as GoogleSQL writes it: "NUMERIC(10, 2)", "ARRAY<STRING>".
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return typeName(r.schema[i]) }

// Close implements driver.Rows. The job has already ended, and the service never sends the rows that are not read.
func (r *rows) Close() error { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	row := r.first
	if r.first = nil; row == nil {
		err := r.it.Next(&row)
		if errors.Is(err, iterator.Done) {
			return io.EOF
		}
		if err != nil {
			return err
		}
	}
	if r.pick != nil {
		row = r.pick(row)
	}
	for i, v := range row {
		var err error
		if dest[i], err = plain(v, r.schema[i]); err != nil {
			return err
		}
	}
	return nil
}

// listing is a request to tabledata.list, which is free.
type listing struct {
	Count       bool     // how many rows there are, and nothing else
	Columns     []string // the columns as a schema has them: "address.city"
	Cut         int      // texts and bytes are cut to so many characters or bytes; 0: whole
	Start, Rows int
	table       ref
}

// listingMark follows the SELECT of a statement that a listing can answer too, and listingEnd follows the listing. They
// bypass no check: such a statement passes the guard like any other, and has the same rows.
const (
	listingMark = "/* tabledata.list "
	listingEnd  = " */ "
)

// listingOf returns the listing for a statement of a sample; nil: a job has to answer it.
func listingOf(s *exec.Statement, reads []guard.Read) *listing {
	text, ok := strings.CutPrefix(s.SQL(), "SELECT "+listingMark)
	text, _, _ = strings.Cut(text, listingEnd)
	l := &listing{}
	if !ok || !s.Ours || len(reads) != 1 || json.Unmarshal([]byte(text), l) != nil {
		return nil
	}
	t, ok := reads[0].Relation.Own.(*table)
	if !ok || t.kind != bigquery.RegularTable || slices.ContainsFunc(l.Columns, func(name string) bool {
		return !slices.Contains(reads[0].Columns, name)
	}) {
		return nil
	}
	l.table = t.ref
	return l
}

func (c *connector) list(ctx context.Context, l *listing) (driver.Rows, error) {
	it := c.client.DatasetInProject(l.table.project, l.table.dataset.name).Table(l.table.name).Read(ctx)
	it.StartIndex = uint64(l.Start)
	it.PageInfo().MaxSize = min(max(l.Rows, 1), mostPage)
	r := &rows{it: it, left: l.Rows}
	if err := it.Next(&r.first); err != nil && !errors.Is(err, iterator.Done) {
		return nil, err
	}
	if l.Count {
		n := &bigquery.FieldSchema{Name: "n", Type: bigquery.IntegerFieldType}
		return &rows{schema: bigquery.Schema{n}, first: []bigquery.Value{int64(it.TotalRows)}, left: 1}, nil
	}
	all := columnsOf(it.Schema, nil, false)
	at := make([]int, len(l.Columns))
	for i, name := range l.Columns {
		at[i] = slices.IndexFunc(all, func(c column) bool { return c.name == name })
		if at[i] < 0 {
			return nil, &bigquery.Error{Reason: "invalidQuery", Message: "Unrecognized name: " + name}
		}
		r.schema = append(r.schema, all[at[i]].field)
	}
	r.pick = func(row []bigquery.Value) (out []bigquery.Value) {
		row = flat(row, it.Schema)
		for i, k := range at {
			v := row[k]
			text, isText := v.(string)
			bytes, isBytes := v.([]byte)
			switch chars := []rune(text); {
			case l.Cut > 0 && isText && r.schema[i].Type == bigquery.StringFieldType:
				v = string(chars[:min(len(chars), l.Cut)])
			case l.Cut > 0 && isBytes:
				v = bytes[:min(len(bytes), l.Cut)]
			}
			out = append(out, v)
		}
		return out
	}
	return r, nil
}

// flat writes out the values of records, as columnsOf does their fields.
func flat(row []bigquery.Value, s bigquery.Schema) (out []bigquery.Value) {
	for i, f := range s {
		if f.Type != bigquery.RecordFieldType || f.Repeated {
			out = append(out, row[i])
			continue
		}
		record, ok := row[i].([]bigquery.Value)
		if !ok {
			record = make([]bigquery.Value, len(f.Schema))
		}
		out = append(out, flat(record, f.Schema)...)
	}
	return out
}
