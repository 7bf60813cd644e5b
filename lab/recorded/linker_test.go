package recorded_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
)

// TestPreSQLGold: with the gold as first statement nothing that it reads is lost.
func TestPreSQLGold(t *testing.T) {
	f, n := folder(t), 0
	for _, name := range []string{"spider_dev", "classicmodels", "bird_dev"} {
		d, err := f.Dataset(name)
		if err != nil {
			t.Fatal(err)
		}
		dbs := map[string]*exec.DB{}
		for _, q := range d.Questions {
			if _, err := f.Database(q.DB); err != nil {
				continue
			}
			if dbs[q.DB] == nil {
				dbs[q.DB] = database(t, q.DB)
			}
			db := dbs[q.DB]
			gold, err := db.Analyze(t.Context(), q.Gold)
			if err != nil {
				continue // a gold of another engine
			}
			n++
			s := envOf(t, db).Schema
			for _, columns := range []bool{false, true} {
				in := linker.Input{Question: q.Text, Evidence: q.Evidence, Schema: s, DB: db}
				links, err := linker.PreSQL{Columns: columns}.Read(t.Context(), in, q.Gold)
				if err != nil {
					t.Fatal(err)
				}
				kept, unknown := s.Restrict(links)
				if len(unknown) > 0 {
					t.Errorf("question %s: links name %q, which does not exist", q.ID, unknown)
				}
				for _, read := range gold.Tables {
					if _, ok := s.Lookup("", read.Table); !ok {
						continue
					}
					table, ok := kept.Lookup("", read.Table)
					for _, c := range read.Columns {
						if ok {
							_, ok = table.Column(c)
						}
					}
					if !ok {
						t.Errorf("%s, question %s, columns %v: %v is not kept whole", name, q.ID, columns, read)
					}
				}
			}
		}
	}
	if n != 496+70+99 {
		t.Errorf("%d golds were read, want 665", n)
	}
}
