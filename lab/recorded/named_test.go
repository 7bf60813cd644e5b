package recorded_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// namedCount counts what linker.Values finds of the values that golds compare with columns and questions name.
type namedCount struct{ questions, named, missed, wrong int }

// namesValue reports whether each word of a value stands in a question, up to its ending.
func namesValue(question, value string) bool {
	asked := words.Stems(question)
	parts := words.Stems(value)
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool {
		return !slices.ContainsFunc(asked, func(w string) bool {
			return w == part || len(part) > 3 && strings.HasPrefix(w, part) || len(w) > 3 && strings.HasPrefix(part, w)
		})
	})
}

// count adds the questions of a dataset about one database, or all.
func (c *namedCount) count(t *testing.T, f *pools.Folder, dataset, only string) {
	t.Helper()
	type opened struct {
		db       *exec.DB
		at       *snapshot.Snapshot
		profiled *schema.Schema
	}
	known := map[string]opened{}
	for _, q := range testutil.Value(f.Dataset(dataset))(t).Questions {
		path, err := f.Database(q.DB)
		if err != nil || only != "" && q.DB != only {
			continue
		}
		o, ok := known[q.DB]
		if !ok {
			o.db = openAt(t, path, exec.Config{})
			o.at = testutil.Value(o.db.Snapshot(t.Context()))(t)
			o.profiled = testutil.Value(o.db.Profiled(t.Context(), o.at, o.at.Schema))(t)
			known[q.DB] = o
		}
		statement, err := o.db.Language().Text.Check(q.Gold)
		if err != nil {
			continue
		}
		c.add(t, q.Text, o.db, o.at, o.profiled, checks.TextLiterals(o.at.Schema, statement))
	}
}

// add counts one question.
func (c *namedCount) add(t *testing.T, question string, db *exec.DB, at *snapshot.Snapshot, s *schema.Schema,
	gold []checks.TextLiteral) {
	t.Helper()
	links := testutil.Value(linker.Values{Choose: true}.Link(t.Context(), linker.Input{Question: question, DB: db,
		Schema: s, Snapshot: at}))(t)
	c.questions++
	found := map[string]bool{}
	for _, l := range links.Tables {
		for _, v := range l.Values {
			value, isText := v.Value.(string)
			if !isText {
				continue
			}
			found[strings.ToLower(strings.TrimSpace(value))] = true
			if !slices.ContainsFunc(gold, func(g checks.TextLiteral) bool {
				return strings.EqualFold(strings.TrimSpace(g.Value), strings.TrimSpace(value))
			}) {
				c.wrong++
				t.Logf("wrong: %s.%s = %q of %q", l.Table, v.Column, value, question)
			}
		}
	}
	for _, g := range gold {
		if !namesValue(question, g.Value) {
			continue
		}
		if c.named++; !found[strings.ToLower(strings.TrimSpace(g.Value))] {
			c.missed++
			t.Logf("missed: %s.%s = %q of %q", g.Table, g.Column, g.Value, question)
		}
	}
}

// TestValuesNamed counts the values that questions name and that nothing finds, and those found that no gold reads.
func TestValuesNamed(t *testing.T) {
	var all namedCount
	for _, set := range []struct {
		name, dataset, only string
		folder              string
	}{
		{"Spider", "spider_dev", "", evaldata.Path(t)}, {"superhero", "bird_dev", "superhero", evaldata.Path(t)},
		{"fresh BIRD", "bird_dev", "", os.Getenv("TEXTTOSQL_DATA_FRESH")},
	} {
		var c namedCount
		if set.folder == "" {
			continue
		}
		c.count(t, testutil.Value(pools.OpenFolder(set.folder))(t), set.dataset, set.only)
		t.Logf("%s: %d of %d values are missed, %d wrong ones in %d questions", set.name, c.missed, c.named, c.wrong,
			c.questions)
		all.questions, all.named, all.missed, all.wrong = all.questions+c.questions, all.named+c.named, all.missed+c.missed,
			all.wrong+c.wrong
	}
	if wrong := float64(all.wrong) / float64(all.questions); 343*all.missed > 25*all.named || wrong > .3 {
		t.Errorf("more than 25 of 343 are missed, or %.2f wrong ones a question are more than .3", wrong)
	}
	t.Logf("all: %d of %d are missed, %.2f wrong ones a question", all.missed, all.named,
		float64(all.wrong)/float64(all.questions))
}
