package exectest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// Hidden runs statements for a scope on databases that differ in hidden rows alone: these are there, have other values, have
// another key, or are gone. All that is told must be the same: verdict, message, rows in their order, columns, warnings,
// plan, and trace without times. {V} in a statement is v.Expanded. It returns how many statements are answered, and how many
// tell of a hidden row where the dialect has no fence.
func (e Engine) Hidden(t *testing.T, v Verdicts, statements ...string) (answered, unfencedDiffer int) {
	t.Helper()
	made := func(d exec.Dialect, bad, turn int) *exec.DB { return e.verdictDB(t, d, v, v.script(), bad, turn) }
	copied := made(e.Dialect, 0, 0)
	others := map[string]*exec.DB{
		"with the hidden rows": made(e.Dialect, 1, 0), "with other values in them": made(e.Dialect, 1, 1), "with another key of them": made(e.Dialect, 5, 2),
	}
	open, openCopy := made(unfenced{e.Dialect}, 1, 0), made(unfenced{e.Dialect}, 0, 0)
	for _, text := range statements {
		text = strings.ReplaceAll(text, "{V}", v.Expanded)
		want, err := everything(t.Context(), copied, text)
		if err == nil {
			answered++
		}
		for name, db := range others {
			if got, _ := everything(t.Context(), db, text); got != want {
				t.Errorf("%s:\n\t%s\n%s:\n\t%s", text, want, name, got)
			}
		}
		with, _ := told(t.Context(), open, text)
		if without, _ := told(t.Context(), openCopy, text); with != without {
			unfencedDiffer++
		}
	}
	return answered, unfencedDiffer
}

// everything is all that a caller is told of a statement.
func everything(ctx context.Context, db *exec.DB, text string) (all string, err error) {
	root := trace.Tracer{Keep: ^trace.Private(0)}.New("hidden")
	ctx = trace.Into(ctx, root)
	table, err := db.Query(ctx, text)
	plan, perr := db.Explain(ctx, text)
	analysis, aerr := db.Analyze(ctx, text)
	for i := range analysis.Tables { // MariaDB calls it as the database, which is another one each
		analysis.Tables[i].Schema = ""
	}
	root.End()
	spans, serr := root.Comparable()
	all = fmt.Sprintf("%v\n\t%v\n\t%+v %v\n\t%+v %v\n\t%s %v", err, root.Warnings(), plan, perr, analysis, aerr, spans, serr)
	if err == nil {
		all = fmt.Sprintf("%+v\n\t%s", *table, all)
	}
	return all, err
}
