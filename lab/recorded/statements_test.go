package recorded_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
)

// dataDatabases opens the SQLite files of the evaluation data, by name.
func dataDatabases(t testing.TB) map[string]*sql.DB {
	t.Helper()
	pools := map[string]*sql.DB{}
	for _, pattern := range []string{"db/spider/*.sqlite", "db/bird/*.sqlite", "db/classicmodels/*.sqlite"} {
		files := testutil.Value(filepath.Glob(evaldata.Path(t, pattern)))(t)
		for _, file := range files {
			pool := testutil.Value(sql.Open("sqlite3", "file:"+file+"?mode=ro&immutable=1"))(t)
			t.Cleanup(func() { pool.Close() })
			name := filepath.Base(file)
			pools[name[:len(name)-len(".sqlite")]] = pool
		}
	}
	return pools
}

var every = flag.Int("every", 5, "run every n-th real answer in TestRealStatements")

// TestRealStatements is about false positives: what real models wrote and SQLite
// answered has to be answered here too, with the same number of rows.
func TestRealStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of statements")
	}
	type ran struct {
		DB   string `json:"db_id"`
		SQL  string
		Gold string
		Exec struct {
			Status string
			Rows   int `json:"nrows"`
		}
	}
	pools := dataDatabases(t)
	dbs, strict := map[string]*exec.DB{}, map[string]*exec.DB{}
	denied := map[string]string{}
	for name, pool := range pools {
		dbs[name] = newDB(t, pool, exec.Config{Limits: exec.Limits{
			Answer: exec.Bounds{Rows: 200_000, Bytes: 256 << 20, Timeout: 10 * time.Second},
		}})
		s := testutil.Value(dbs[name].Schema(context.Background()))(t)
		table := s.Tables[0]
		denied[name] = table.Name + "." + table.Columns[len(table.Columns)-1].Name
		column := sqlite.Dialect{}.Language().Quote(table.Name) + "." +
			sqlite.Dialect{}.Language().Quote(table.Columns[len(table.Columns)-1].Name)
		strict[name] = newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{column}}})
	}
	type key struct{ db, sql string }
	seen := map[key]bool{}
	run := func(db, text string) (int, error) {
		table, err := dbs[db].Query(context.Background(), text)
		if err != nil {
			return 0, err
		}
		return len(table.Rows), nil
	}

	gold := 0
	for _, file := range []string{"questions/questions_spider_dev.jsonl.gz", "questions/questions_bird_dev.jsonl.gz"} {
		for q := range evaldata.Lines[ran](t, evaldata.Path(t, file)) {
			if dbs[q.DB] == nil || seen[key{q.DB, q.Gold}] {
				continue
			}
			seen[key{q.DB, q.Gold}] = true
			gold++
			if _, err := run(q.DB, q.Gold); err != nil {
				t.Errorf("gold of %s: %v: %s", q.DB, err, q.Gold)
			}
		}
	}

	distinct, answers, refused, differ, kept := 0, 0, 0, 0, 0
	for _, file := range []string{
		"predictions/preds_spider_dev.exec.jsonl.gz", "predictions/preds_bird_dev.exec.jsonl.gz",
		"predictions/preds_bird_minidev.exec.jsonl.gz", "predictions/preds_bird_dev100.exec.jsonl.gz",
		"samples/samples_spider_dev.exec.jsonl.gz", "samples/samples_bird_dev_k8.exec.jsonl.gz",
		"samples/samples_spider_dev100_diverse.exec.jsonl.gz",
	} {
		for a := range evaldata.Lines[ran](t, evaldata.Path(t, file)) {
			if dbs[a.DB] == nil || a.Exec.Status != "ok" || seen[key{a.DB, a.SQL}] {
				continue
			}
			seen[key{a.DB, a.SQL}] = true
			if distinct++; distinct%*every != 0 {
				continue
			}
			answers++
			rows, err := run(a.DB, a.SQL)
			var rejection *exec.RefusedError
			// Under a policy nothing else is refused.
			_, serr := strict[a.DB].Analyze(context.Background(), a.SQL)
			table, column, _ := strings.Cut(denied[a.DB], ".")
			switch {
			case errors.As(serr, &rejection) && (rejection.Reason == "column" && strings.EqualFold(rejection.Name, column) ||
				strings.Contains(strings.ToLower(rejection.Detail), strings.ToLower(denied[a.DB])) ||
				// the text does not name the column
				rejection.Name == "*" && strings.Contains(rejection.Detail, " columns of "+table+" ")):
				kept++
			case err == nil && serr != nil:
				t.Errorf("%s, where %s is denied: %v: %s", a.DB, denied[a.DB], serr, a.SQL)
			}
			switch {
			case errors.As(err, &rejection):
				refused++
				t.Logf("%s: %v: %s", a.DB, err, a.SQL)
			case err != nil:
				differ++
				t.Logf("%s: %v: %s", a.DB, err, a.SQL)
			case rows != a.Exec.Rows:
				differ++
				t.Logf("%s: %d rows, recorded %d: %s", a.DB, rows, a.Exec.Rows, a.SQL)
			}
		}
	}
	t.Logf("%d gold, %d of %d answers: %d refused, %d with another outcome than recorded; "+
		"%d read the denied column of the policy", gold, answers,
		distinct, refused, differ, kept)
	if gold < 400 || distinct < 10_000 {
		t.Errorf("only %d gold and %d answers were found", gold, distinct)
	}
	if refused > answers/1000 || differ > answers/1000 {
		t.Errorf("of %d answers %d are refused and %d differ; 0.1 %% may", answers, refused, differ)
	}
}

func newDB(t *testing.T, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, c))(t)
	return db
}
