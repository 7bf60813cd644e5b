package strategy_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

const shopSQL = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), total REAL);
INSERT INTO customers VALUES (1,'Ada','USA'),(2,'Bo','Norway'),(3,'Cyd','USA');
INSERT INTO orders VALUES (1,1,10.5),(2,2,20),(3,1,NULL);`

// shopEnv is an Env over a small database in a file of its own.
func shopEnv(tb testing.TB, model llm.Model) *strategy.Env {
	tb.Helper()
	return envOf(tb, shopSQL, model)
}

// envOf is an Env over the database that script makes.
func envOf(tb testing.TB, script string, model llm.Model) *strategy.Env {
	tb.Helper()
	db, err := exec.New(poolOf(tb, script), sqlite.Dialect{}, exec.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := db.Schema(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: s}
}

// poolOf opens a database file made by script.
func poolOf(tb testing.TB, script string) *sql.DB {
	tb.Helper()
	pool, err := sql.Open("sqlite3", "file:"+filepath.Join(tb.TempDir(), "test.sqlite"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { pool.Close() })
	if _, err := pool.Exec(script); err != nil {
		tb.Fatal(err)
	}
	return pool
}

// profileOf profiles the schema of env.
func profileOf(env *strategy.Env) func(context.Context) (*schema.Schema, error) {
	return func(ctx context.Context) (*schema.Schema, error) {
		return env.DB.Profile(ctx, env.Schema, exec.ProfileOptions{})
	}
}

// judgeFunc is a judge without a model.
type judgeFunc func(strategy.JudgeInput) (int, error)

func (f judgeFunc) Choose(_ context.Context, _ *strategy.Env, in strategy.JudgeInput) (int, error) {
	return f(in)
}
