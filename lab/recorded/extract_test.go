package recorded_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// answer is one line of a file of model answers, whichever.
type answer struct {
	QID     any     `json:"qid"`
	DB      string  `json:"db_id"`
	SQL     *string `json:"sql"`
	Gold    string  `json:"gold"`
	Dialect string  `json:"dialect"`
	Exec    *struct {
		Status string `json:"status"`
	} `json:"exec"`
	Steps []struct {
		Raw     []string `json:"raw"`
		Repairs []struct {
			RawFix *string `json:"raw_fix"`
		} `json:"repairs"`
	} `json:"steps"`
}

// texts returns the replies of a line.
func (a answer) texts() []string {
	var texts []string
	if a.SQL != nil {
		texts = append(texts, *a.SQL)
	}
	for _, s := range a.Steps {
		texts = append(texts, s.Raw...)
		for _, r := range s.Repairs {
			if r.RawFix != nil {
				texts = append(texts, *r.RawFix)
			}
		}
	}
	return texts
}

// answerFiles returns the files of model answers, with or without the outcome
// of running them.
func answerFiles(t testing.TB, executed bool) []string {
	t.Helper()
	var files []string
	for _, folder := range []string{"predictions", "samples"} {
		found := testutil.Value(filepath.Glob(evaldata.Path(t, folder, "*.jsonl.gz")))(t)
		files = append(files, found...)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".exec.jsonl.gz") != executed })
	if len(files) == 0 {
		t.Fatal("no files of answers")
	}
	return files
}

func (a answer) dialect(path string) sqltext.Dialect {
	switch {
	case a.Dialect == "mysql", strings.Contains(path, "classicmodels"):
		return sqltext.MySQL()
	case a.Dialect == "postgresql":
		return sqltext.PostgreSQL()
	}
	return sqltext.SQLite()
}

// TestExtractAnswers runs over every answer of the evaluation data: no panic,
// what is extracted is extracted again unchanged, and every failure has a
// reason. The log says what the replies were like.
func TestExtractAnswers(t *testing.T) {
	for _, path := range answerFiles(t, false) {
		total, extracted := 0, 0
		outcomes := map[string]int{}
		for a := range evaldata.Lines[answer](t, path) {
			for _, text := range a.texts() {
				total++
				x := replies.Extractor{Dialect: a.dialect(path)}
				got, err := x.Extract(text)
				if err != nil {
					var reply *replies.Error
					if !errors.As(err, &reply) || reply.Reason == "" {
						t.Fatalf("%s: untyped error %v for %q", path, err, text)
					}
					outcomes[reply.Reason]++
					continue
				}
				extracted++
				if got.Step != "bare" {
					outcomes["step "+got.Step]++
				}
				// The semicolon tells a broken statement from one that was cut.
				if again, err := x.Extract(got.SQL() + ";"); err != nil || again.SQL() != got.SQL() {
					t.Errorf("%s: extracting %q again gives %q, %v", path, got.SQL(), again.SQL(), err)
				}
			}
		}
		if total > 0 {
			t.Logf("%s: %d of %d extracted, %v", filepath.Base(path), extracted, total, outcomes)
		}
	}
}

// TestExtractKeepsResults asks that an answer which ran gives the same result
// after extraction. Where the texts differ both are run.
func TestExtractKeepsResults(t *testing.T) {
	dbs := databases(t)
	ran, same, unequal := 0, 0, 0
	for _, path := range answerFiles(t, true) {
		for a := range evaldata.Lines[answer](t, path) {
			if a.Exec == nil || a.Exec.Status != "ok" {
				continue
			}
			ran++
			x := replies.Extractor{}
			if ran%10 == 0 { // with the engine as judge, too
				x.Valid = func(s *sqltext.Statement) bool { return prepares(dbs(a.DB), s.SQL()) }
			}
			got, err := x.Extract(*a.SQL)
			switch {
			case err == nil && got.SQL() == strings.TrimSpace(strings.TrimRight(*a.SQL, "; \t\r\n")):
				same++
			case err == nil && rowsOf(t, dbs(a.DB), got.SQL()) == rowsOf(t, dbs(a.DB), *a.SQL):
				unequal++
				same++
			default:
				t.Logf("%s: %q became %q, %v", filepath.Base(path), *a.SQL, got.SQL(), err)
			}
		}
	}
	t.Logf("%d of %d answers keep their result (%.3f %%), %d of them as another text", same, ran,
		100*float64(same)/float64(ran), unequal)
	if ran < 30_000 || float64(same) < 0.995*float64(ran) {
		t.Errorf("%d of %d answers keep their result, want 99.5 %%", same, ran)
	}
}

// databases opens the databases of the evaluation data, each once and for
// reading.
func databases(t testing.TB) func(id string) *sql.DB {
	open := map[string]*sql.DB{}
	t.Cleanup(func() {
		for _, db := range open {
			db.Close()
		}
	})
	return func(id string) *sql.DB {
		if db := open[id]; db != nil {
			return db
		}
		folder := "spider"
		switch id {
		case "superhero":
			folder = "bird"
		case "classicmodels":
			folder = id
		}
		path := evaldata.Path(t, "db", folder, id+".sqlite")
		testutil.Value(os.Stat(path))(t)
		db := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1"))(t)
		open[id] = db
		return db
	}
}

func prepares(db *sql.DB, stmt string) bool {
	prepared, err := db.Prepare(stmt)
	if err == nil {
		prepared.Close()
	}
	return err == nil
}

// rowsOf runs a statement and returns its rows as text, or its error.
func rowsOf(t testing.TB, db *sql.DB, stmt string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := db.QueryContext(ctx, stmt)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	names := testutil.Value(rows.Columns())(t)
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(any)
	}
	var b strings.Builder
	for rows.Next() {
		testutil.OK(t, rows.Scan(cells...))
		for _, c := range cells {
			fmt.Fprintf(&b, "%#v|", *c.(*any))
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return b.String()
}

// The counts and the questions named are those of the official scorer.
func TestHardnessSpider(t *testing.T) {
	counts := map[string]int{}
	extra := []float64{427, 697, 764, 765, 766, 916, 979, 983}
	for a := range evaldata.Lines[answer](t, evaldata.Path(t)+"/questions/questions_spider_dev.jsonl.gz") {
		g := sqltext.SQLite().Parse(a.Gold).Hardness()
		counts[g]++
		qid, _ := a.QID.(float64)
		if slices.Contains(extra, qid) && g != "extra" || qid == 793 && g != "medium" {
			t.Errorf("question %v is %s", qid, g)
		}
	}
	want := map[string]int{"easy": 130, "medium": 220, "hard": 87, "extra": 92}
	golden.Equal(t, want, counts)
}
