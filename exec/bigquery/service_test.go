package bigquery_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// service returns a client of the real service and a new dataset in it, which goes with the test. It skips the test
// where no project is named.
func service(t testing.TB) (client *bigquery.Client, set string) {
	t.Helper()
	name := os.Getenv("TEXTTOSQL_BIGQUERY_PROJECT")
	if name == "" {
		t.Skip("TEXTTOSQL_BIGQUERY_PROJECT names no project: the real service is not asked; see README.md")
	}
	client = testutil.Value(bigquery.NewClient(context.Background(), name))(t)
	set = fmt.Sprintf("texttosql_test_%d", time.Now().UnixNano())
	location := os.Getenv("TEXTTOSQL_BIGQUERY_LOCATION")
	if location == "" {
		location = "US"
	}
	meta := &bigquery.DatasetMetadata{Location: location, DefaultTableExpiration: time.Hour} // in case the test ends badly
	testutil.OK(t, client.Dataset(set).Create(context.Background(), meta))
	t.Cleanup(func() {
		if err := client.Dataset(set).DeleteWithContents(context.Background()); err != nil {
			t.Error(err)
		}
		client.Close()
	})
	return client, set
}

// owner runs what changes data, with the rights of the client.
type owner struct {
	client *bigquery.Client
	set    string
}

func (o owner) run(ctx context.Context, text string) error {
	q := o.client.Query(ddl(text))
	q.DefaultProjectID, q.DefaultDatasetID = o.client.Project(), o.set
	job, err := q.Run(ctx)
	if err != nil {
		return err
	}
	status, err := job.Wait(ctx)
	if err != nil {
		return err
	}
	return status.Err()
}

// ddl writes a statement of a script with the types of the service. Keys are not enforced there.
func ddl(text string) string {
	for _, r := range []struct{ from, to string }{
		{`\bINTEGER\b`, "INT64"}, {`\bTEXT\b`, "STRING"}, {`\bVARCHAR\(\d+\)`, "STRING"}, {`\bREAL\b`, "FLOAT64"},
		{` PRIMARY KEY,`, " ,"}, {` PRIMARY KEY\)`, ")"},
		{`\bit''s\b`, `it\'s`}, {`\bUPDATE t SET a = a$`, "UPDATE t SET a = a WHERE true"}, {`^DROP VIEW`, "DROP VIEW"},
	} {
		text = regexp.MustCompile(r.from).ReplaceAllString(text, r.to)
	}
	return strings.NewReplacer(googleSQL...).Replace(text)
}

func (o owner) Connect(context.Context) (driver.Conn, error) { return ownerConn{o}, nil }
func (owner) Driver() driver.Driver                          { return nil }

type ownerConn struct{ owner }

func (ownerConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (ownerConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (ownerConn) Close() error                        { return nil }
func (c ownerConn) ExecContext(ctx context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, c.run(ctx, text)
}

// TestServiceConformance runs the suite on the real service. See README.md for what it needs and costs.
func TestServiceConformance(t *testing.T) {
	service(t)
	e := engine()
	e.Deadline, e.VersionDelay = 20*time.Second, 2*time.Second
	e.Endless = "SELECT count(*) FROM UNNEST(GENERATE_ARRAY(1, 1000000)) AS a, UNNEST(GENERATE_ARRAY(1, 1000000)) AS b, " +
		"UNNEST(GENERATE_ARRAY(1, 1000000)) AS c" +
		" WHERE mod(a * b, c + 1) = 7"
	e.Skip["policy"] = "the service has no NATURAL JOIN"
	e.Skip["denied_is_absent"] = e.Skip["policy"]
	e.Open = func(t testing.TB, script string) exectest.Database {
		client, set := service(t)
		o := owner{client, set}
		for statement := range strings.SplitSeq(script, ";\n") {
			if strings.TrimSpace(statement) != "" {
				testutil.OK(t, o.run(t.Context(), statement), statement)
			}
		}
		return exectest.Database{
			User: bq.NewConnector(client, bq.Config{Dataset: set, Refresh: time.Nanosecond}), Owner: o,
			Contents: func(ctx context.Context) (string, error) { return contents(ctx, client, set) },
		}
	}
	exectest.Conformance(t, e)
}

// contents are the tables of a dataset with their number of rows and the time of their last change.
func contents(ctx context.Context, client *bigquery.Client, set string) (out string, err error) {
	tables := client.Dataset(set).Tables(ctx)
	for {
		table, err := tables.Next()
		if err != nil {
			return out, nil // the last one
		}
		meta, err := table.Metadata(ctx)
		if err != nil {
			return "", err
		}
		out += fmt.Sprintln(table.TableID, meta.NumRows, meta.LastModifiedTime)
	}
}

// TestServiceStatements runs the hostile and the harmless statements of TestHostile on the real service: the first must
// be refused, the others must run, which shows that the service knows the functions of the list.
func TestServiceStatements(t *testing.T) {
	client, set := service(t)
	o := owner{client, set}
	for _, statement := range []string{
		"CREATE TABLE t AS SELECT 1 AS a, 'x' AS b", "CREATE TABLE t_2024 AS SELECT 1 AS a, 'x' AS b",
		"CREATE TABLE keys AS SELECT 1 AS id, 'p' AS password",
		"CREATE TABLE users AS SELECT 1 AS id, 'ann' AS name, 's3cret-1' AS password, STRUCT('Rome' AS city, " +
			"'3' AS door) AS address," +
			" [STRUCT('k' AS sku, NUMERIC '1.5' AS price)] AS orders",
		"CREATE VIEW v_ok AS SELECT id, name FROM `" + client.Project() + "." + set + ".users`",
		"CREATE VIEW v_pw AS SELECT id, password AS pw FROM `" + client.Project() + "." + set + ".users`",
	} {
		testutil.OK(t, o.run(t.Context(), statement), statement)
	}
	before := testutil.Value(contents(t.Context(), client, set))(t)
	pool := bq.Open(client, bq.Config{Dataset: set})
	defer pool.Close()
	here := strings.NewReplacer(home, set, project, client.Project())
	query := func(p exec.Policy, text string) error {
		for _, list := range []*[]string{&p.AllowTables, &p.DenyTables, &p.DenyColumns} {
			for _, name := range *list {
				if strings.HasPrefix(name, "public-project") {
					return sql.ErrNoRows // the other project is the fake's
				}
			}
		}
		db, err := exec.New(pool, bq.Dialect{}, exec.Config{Policy: p})
		if err == nil {
			_, err = db.Query(t.Context(), here.Replace(text))
		}
		return err
	}
	for _, test := range refusals {
		if err := query(test.policy, test.sql); !exec.IsRejection(err) && !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("%s: %s: %v", test.why, test.sql, err)
		}
	}
	for _, test := range harmless {
		if err := query(test.policy, test.sql); err != nil && !strings.Contains(test.sql, "public-project") {
			t.Errorf("%s: %s: %v", test.why, test.sql, err)
		}
	}
	if after, err := contents(t.Context(), client, set); err != nil || after != before {
		t.Errorf("the dataset changed: %s, then %s, %v", before, after, err)
	}
}
