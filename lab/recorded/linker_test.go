package recorded_test

import (
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// asked is a question with what its gold reads.
type asked struct {
	eval.Question
	db     *exec.DB
	schema *schema.Schema
	reads  []exec.TableRead // of tables of the schema
}

func (a asked) input() linker.Input {
	return linker.Input{Question: a.Text, Evidence: a.Evidence, Schema: a.schema, DB: a.db}
}

// questions reads those of datasets whose database is there and whose gold SQLite reads.
func questions(t *testing.T, names ...string) (all []asked) {
	f, dbs := folder(t), map[string]*exec.DB{}
	for _, name := range names {
		d := testutil.Value(f.Dataset(name))(t)
		for _, q := range d.Questions {
			if _, err := f.Database(q.DB); err != nil {
				continue
			}
			if dbs[q.DB] == nil {
				dbs[q.DB] = database(t, q.DB)
			}
			a := asked{Question: q, db: dbs[q.DB], schema: envOf(t, dbs[q.DB]).Schema}
			gold, err := a.db.Analyze(t.Context(), q.Gold)
			if err != nil {
				continue
			}
			for _, read := range gold.Tables {
				if _, ok := a.schema.Lookup("", read.Table); ok {
					a.reads = append(a.reads, read)
				}
			}
			all = append(all, a)
		}
	}
	return all
}

// TestPreSQLGold: with the gold as first statement nothing that it reads is lost.
func TestPreSQLGold(t *testing.T) {
	all := questions(t, "spider_dev", "classicmodels", "bird_dev")
	if len(all) != 496+70+99 {
		t.Errorf("%d golds were read, want 665", len(all))
	}
	for _, q := range all {
		for _, columns := range []bool{false, true} {
			links := testutil.Value(linker.PreSQL{Columns: columns}.Read(t.Context(), q.input(), q.Gold))(t)
			kept, unknown := q.schema.Restrict(links)
			if len(unknown) > 0 {
				t.Errorf("question %s: links name %q, which does not exist", q.Key(), unknown)
			}
			for _, read := range q.reads {
				table, ok := kept.Lookup("", read.Table)
				for _, c := range read.Columns {
					if ok {
						_, ok = table.Column(c)
					}
				}
				if !ok {
					t.Errorf("question %s, columns %v: %v is not kept whole", q.Key(), columns, read)
				}
			}
		}
	}
}
