package dialecttest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/trace"
)

// Hidden runs statements for a scope on databases that differ in hidden rows alone: these are there, have other values,
// have another key, or are gone. All that is told must be the same: verdict, message, rows in their order, columns,
// warnings, plan, and trace without times. {V} in a statement is v.Expanded. It returns how many statements are
// answered, and how many tell of a hidden row where the dialect has no fence.
func Hidden(t *testing.T, e exectest.Engine, v Verdicts, statements ...string) (answered, unfencedDiffer int) {
	t.Helper()
	texts := make([]string, len(statements))
	for i, text := range statements {
		texts[i] = strings.ReplaceAll(text, "{V}", v.Expanded)
	}
	names := []string{"", "with the hidden rows", "with other values in them", "with another key of them"}
	told, failed := make([][]string, len(names)), make([]bool, len(texts))
	var group sync.WaitGroup
	for k, bad := range []int{0, 1, 1, 5} {
		db := verdictDB(t, e, v, v.script(), bad, max(0, k-1))
		group.Go(func() {
			for i, text := range texts {
				all, err := everything(t.Context(), db, text)
				if told[k] = append(told[k], all); k == 0 {
					failed[i] = err != nil
				}
			}
		})
	}
	e.Dialect = unfenced{e.Dialect}
	open, openCopy := verdictDB(t, e, v, v.script(), 1, 0), verdictDB(t, e, v, v.script(), 0, 0)
	unfenced := toldOfAll(t.Context(), texts, open, openCopy)
	group.Wait()
	for i, text := range texts {
		for k, name := range names {
			if got := told[k][i]; got != told[0][i] {
				t.Errorf("%s:\n\t%s\n%s:\n\t%s", text, told[0][i], name, got)
			}
		}
		if !failed[i] {
			answered++
		}
		if unfenced[0][i] != unfenced[1][i] {
			unfencedDiffer++
		}
	}
	return answered, unfencedDiffer
}

// everything is all that a caller is told of a statement.
func everything(ctx context.Context, db *exec.DB, text string) (all string, err error) {
	root := trace.Tracer{Keep: ^trace.Sensitivity(0)}.New("hidden")
	ctx = trace.NewContext(ctx, root)
	table, err := db.Query(ctx, text)
	plan, perr := db.Explain(ctx, text)
	analysis, aerr := db.Analyze(ctx, text)
	for i := range analysis.Tables { // MariaDB calls it as the database, which is another one each
		analysis.Tables[i].Schema = ""
	}
	root.End()
	spans, serr := root.Comparable()
	all = fmt.Sprintf("%v\n\t%v\n\t%+v %v\n\t%+v %v\n\t%s %v", err, root.Warnings(), plan, perr, analysis, aerr, spans,
		serr)
	if err == nil {
		all = fmt.Sprintf("%+v\n\t%s", *table, all)
	}
	return all, err
}
