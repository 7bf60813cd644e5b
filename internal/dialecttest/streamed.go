package dialecttest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/result"
)

// Streamed runs statements under the rules about rows of [Rows], whole and as streams: both give the same rows, or are
// refused. It returns how many were answered.
func Streamed(t *testing.T, e exectest.Engine, statements ...string) (answered int) {
	t.Helper()
	db, err := dbtest.Ready(e.Make(t, dbtest.RowsScript)(exec.Config{Policy: dbtest.RowsPolicy}))
	if err == nil {
		db, err = db.For(&dbtest.RowsScope, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		want, werr := db.Query(t.Context(), text)
		rows, gerr := stream(t.Context(), db, text)
		switch {
		case (werr == nil) != (gerr == nil):
			t.Errorf("%s: %v, and as a stream %v", text, werr, gerr)
		case werr == nil:
			answered++
			if got, want := lines(rows), lines(want.Rows); !slices.Equal(got, want) {
				t.Errorf("%s: %v, and as a stream %s", text, want, got)
			}
		}
	}
	return answered
}

// lines writes rows, sorted: behind a fence they may come in another order.
func lines(rows [][]any) (all []string) {
	for _, row := range rows {
		all = append(all, fmt.Sprint(row))
	}
	slices.Sort(all)
	return all
}

// stream returns all rows of a stream.
func stream(ctx context.Context, db *exec.DB, text string) (all [][]any, err error) {
	s, err := result.NewStream(ctx, func(ctx context.Context, to *result.RowWriter) error {
		runner, err := db.Runner(exec.Bounds{})
		if err != nil {
			return err
		}
		defer runner.Close()
		return runner.Stream(ctx, text, to)
	})
	if err != nil {
		return nil, err
	}
	for row, err := range s.Rows() {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}
