package linker_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// asked is one question with what its gold reads.
type asked struct {
	eval.Question
	db      *exec.DB
	schema  *schema.Schema
	tables  []string // that the gold reads
	columns []string // table.column
	full    int      // tokens of the whole schema
}

// data opens the evaluation data.
func data(tb testing.TB) *eval.Folder {
	tb.Helper()
	dir := evaldata.Path(tb)
	f, err := eval.OpenFolder(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func openData(tb testing.TB, path string) *exec.DB {
	tb.Helper()
	pool, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { pool.Close() })
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// questions reads a dataset, and for each question what its gold reads.
func questions(tb testing.TB, f *eval.Folder, name string) []asked {
	tb.Helper()
	d, err := f.Dataset(name)
	if err != nil {
		tb.Fatal(err)
	}
	dbs := map[string]*exec.DB{}
	var all []asked
	for _, q := range d.Questions {
		path, err := f.Database(q.DB)
		if err != nil {
			continue
		}
		db := dbs[q.DB]
		if db == nil {
			db = openData(tb, path)
			dbs[q.DB] = db
		}
		s, err := db.Schema(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		a := asked{Question: q, db: db, schema: s}
		analysis, err := db.Analyze(tb.Context(), q.Gold)
		if err != nil {
			continue // a gold of another engine
		}
		for _, t := range analysis.Tables {
			if found, ok := s.Lookup("", t.Table); ok {
				a.tables = append(a.tables, found.Name)
				for _, c := range t.Columns {
					a.columns = append(a.columns, found.Name+"."+c)
				}
			}
		}
		a.full = tokens(s)
		all = append(all, a)
	}
	return all
}

func (a asked) input() linker.Input {
	return linker.Input{Question: a.Text, Evidence: a.Evidence, Schema: a.schema, DB: a.db}
}

func tokens(s *schema.Schema) int {
	r, _ := schema.Renderer{}.Render(context.Background(), s)
	return r.Tokens
}

// kept is how much of what golds read was kept, summed over questions.
type kept struct {
	n, tables, tablesKept, tablesFull, shown, columnsFull int
	columnRecall                                          float64
	shorter                                               int // prompts
	tokens, full                                          int // of databases of 5 tables or more
}

func (k *kept) add(o kept) {
	k.n, k.tables, k.tablesKept, k.tablesFull = k.n+o.n, k.tables+o.tables, k.tablesKept+o.tablesKept, k.tablesFull+o.tablesFull
	k.shown, k.columnsFull, k.columnRecall = k.shown+o.shown, k.columnsFull+o.columnsFull, k.columnRecall+o.columnRecall
	k.shorter, k.tokens, k.full = k.shorter+o.shorter, k.tokens+o.tokens, k.full+o.full
}

// keptOf is what s keeps of what one gold reads.
func keptOf(a asked, s *schema.Schema) kept {
	k := kept{n: 1, tables: len(a.tables), shown: len(s.Tables), columnRecall: 1}
	for _, name := range a.tables {
		if _, ok := s.Lookup("", name); ok {
			k.tablesKept++
		}
	}
	have := map[string]bool{}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			have[t.Name+"."+c.Name] = true
		}
	}
	columns := 0
	for _, c := range a.columns {
		if have[c] {
			columns++
		}
	}
	if len(a.columns) > 0 {
		k.columnRecall = share(columns, len(a.columns))
	}
	if k.tablesKept == k.tables {
		k.tablesFull = 1
	}
	if columns == len(a.columns) {
		k.columnsFull = 1
	}
	left := tokens(s)
	if left < a.full {
		k.shorter = 1
	}
	if len(a.schema.Tables) >= 5 {
		k.tokens, k.full = left, a.full
	}
	return k
}

func (k kept) String() string {
	return fmt.Sprintf("n %d, tables %.4f (%.4f) shown %.2f, columns %.4f (%.4f), saved %.3f",
		k.n, share(k.tablesKept, k.tables), share(k.tablesFull, k.n), share(k.shown, k.n),
		k.columnRecall/float64(max(k.n, 1)), share(k.columnsFull, k.n), 1-share(k.tokens, k.full))
}

func share(a, b int) float64 { return float64(a) / float64(max(b, 1)) }

// linkAll links all questions by one statement each.
func linkAll(tb testing.TB, all []asked, p linker.PreSQL, statement func(asked) string) (k kept) {
	tb.Helper()
	for _, q := range all {
		k.add(link(tb, q, p, statement(q)))
	}
	return k
}

func link(tb testing.TB, q asked, p linker.PreSQL, statement string) kept {
	tb.Helper()
	links, err := p.Read(tb.Context(), q.input(), statement)
	if err != nil {
		tb.Fatal(err)
	}
	s, unknown := q.schema.Restrict(links)
	if len(unknown) > 0 {
		tb.Errorf("question %s: links name %q, which does not exist", q.ID, unknown)
	}
	return keptOf(q, s)
}

// statements reads a file of answers: run -> question -> SQL, and the runs in
// order.
func statements(tb testing.TB, path string) (of map[string]map[string]string, runs []string) {
	tb.Helper()
	of = map[string]map[string]string{}
	for a, err := range eval.Answers(path) {
		if err != nil {
			tb.Fatal(err)
		}
		if of[a.Run] == nil {
			of[a.Run] = map[string]string{}
			runs = append(runs, a.Run)
		}
		of[a.Run][a.Question] = a.SQL
	}
	return of, runs
}

// TestPreSQLGold: with the gold as first statement nothing that it reads is lost.
func TestPreSQLGold(t *testing.T) {
	f := data(t)
	n := 0
	for _, name := range []string{"spider_dev", "classicmodels", "bird_dev"} {
		all := questions(t, f, name)
		n += len(all)
		for _, columns := range []bool{false, true} {
			k := linkAll(t, all, linker.PreSQL{Columns: columns}, func(q asked) string { return q.Gold })
			if k.tablesFull != k.n || k.columnsFull != k.n {
				t.Errorf("%s, columns %v: %s", name, columns, k)
			}
		}
	}
	if n != 496+70+99 {
		t.Errorf("%d golds were read, want 665", n)
	}
}

// TestPreSQLRecorded holds the default linker against recorded first statements
// of systems: questions whose links miss a gold table.
func TestPreSQLRecorded(t *testing.T) {
	f := data(t)
	all := questions(t, f, "spider_dev")
	of, _ := statements(t, f.Path("predictions", "preds_spider_dev.jsonl.gz"))
	for _, tt := range []struct {
		run  string
		miss int
	}{
		{"dail_sql/DAIL-SQL+GPT-4", 5}, {"c3sql/predicted_sql", 4}, {"thu_chatgpt/spider", 16},
	} {
		if of[tt.run] == nil {
			t.Fatalf("no run %s", tt.run)
		}
		k := linkAll(t, all, linker.PreSQL{}, func(q asked) string { return of[tt.run][q.ID] })
		t.Logf("%s misses a table of %d questions: %s", tt.run, k.n-k.tablesFull, k)
		if share(k.shorter, k.n) < .85 {
			t.Errorf("%s: the schema is shorter in %d of %d questions", tt.run, k.shorter, k.n)
		}
		if k.n-k.tablesFull > tt.miss || share(k.shown, k.n) > 1.9 {
			t.Errorf("%s: %d questions miss a table, want at most %d; %.2f tables shown, want at most 1.9", tt.run, k.n-k.tablesFull, tt.miss, share(k.shown, k.n))
		}
	}
}

// bar is what the wide linker has to reach in the median run.
type bar struct {
	recall, full float64 // of tables; with columns, of columns
	saved        float64 // of the schema's tokens, on databases of 5 tables or more
}

// TestPreSQLWide holds the wide linker, united with values, against every
// recorded run as the first statement: the median run.
func TestPreSQLWide(t *testing.T) {
	f := data(t)
	for _, tt := range []struct {
		dataset         string
		tables, columns bar
	}{
		{"spider_dev", bar{.998, .997, .50}, bar{.99, .975, .667}},
		{"classicmodels", bar{.99, .985, .45}, bar{.975, .92, .70}},
		{"bird_dev", bar{1, 1, .48}, bar{1, 1, .62}},
	} {
		all := questions(t, f, tt.dataset)
		of, runs := statements(t, f.Path("predictions", "preds_"+tt.dataset+".jsonl.gz"))
		if evaldata.Race { // each path is taken; the bars are held without the detector
			all, runs = all[:len(all)/5], runs[:2]
		}
		values := make(map[string]schema.Links, len(all)) // by question
		for _, q := range all {
			var err error
			if values[q.ID], err = (linker.Values{Choose: true}).Link(t.Context(), q.input()); err != nil {
				t.Fatal(err)
			}
		}
		for _, columns := range []bool{false, true} {
			seen := map[[2]string]kept{} // most runs agree on most statements
			var recall, full, saved []float64
			for _, run := range runs {
				var k kept
				for _, q := range all {
					sql := of[run][q.ID]
					one, ok := seen[[2]string{q.ID, sql}]
					if !ok {
						p := linker.PreSQL{Wide: true, Columns: columns, With: linker.Union{linker.Names{}, fixed(values[q.ID])}}
						one = link(t, q, p, sql)
						seen[[2]string{q.ID, sql}] = one
					}
					k.add(one)
				}
				if columns {
					recall, full = append(recall, k.columnRecall/float64(k.n)), append(full, share(k.columnsFull, k.n))
				} else {
					recall, full = append(recall, share(k.tablesKept, k.tables)), append(full, share(k.tablesFull, k.n))
				}
				saved = append(saved, 1-share(k.tokens, k.full))
			}
			want := tt.tables
			if columns {
				want = tt.columns
			}
			got := bar{median(recall), median(full), median(saved)}
			t.Logf("%s, columns %v, %d runs, medians: recall %.4f, all kept %.4f, saved %.3f", tt.dataset, columns, len(runs), got.recall, got.full, got.saved)
			if !evaldata.Race && (got.recall < want.recall || got.full < want.full || got.saved < want.saved) {
				t.Errorf("%s, columns %v: %+v, want %+v", tt.dataset, columns, got, want)
			}
		}
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
