// Package recorded_test holds the packages of the SDK against recorded data.
package recorded_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// folder is the evaluation data, without which the test is skipped.
func folder(tb testing.TB) *pools.Folder {
	tb.Helper()
	f := testutil.Value(pools.OpenFolder(evaldata.Path(tb)))(tb)
	return f
}

// database opens a database of the evaluation data.
func database(tb testing.TB, id string) *exec.DB {
	tb.Helper()
	path := testutil.Value(folder(tb).Database(id))(tb)
	return openAt(tb, path, exec.Config{})
}

func openAt(tb testing.TB, path string, c exec.Config) *exec.DB {
	tb.Helper()
	pool := testutil.Value(files.OpenReadOnly(path))(tb)
	tb.Cleanup(func() { pool.Close() })
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, c))(tb)
	return db
}

// envOf is an Env over a database, without a model.
func envOf(tb testing.TB, db *exec.DB) *strategy.Env {
	tb.Helper()
	s := testutil.Value(db.Schema(tb.Context()))(tb)
	return &strategy.Env{DB: db, Schema: s}
}

// asking is env with a model.
func asking(env *strategy.Env, m llm.Model) *strategy.Env {
	e := *env
	e.Models = []llm.Model{m}
	return &e
}
