package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/trial"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/engines"
	"github.com/texttosql/texttosql/schema"
)

// all are the engines of this program.
var all = []engines.Engine{engines.Postgres, engines.MySQL, duckDB, onTrino}

// connect opens the database for questions.
func connect(ctx context.Context, e engines.Engine, dsn string) (*sql.DB, []texttosql.Option, func(), error) {
	pool, d, _, err := e.Connect(ctx, dsn)
	if err != nil {
		return nil, nil, nil, err
	}
	return pool, []texttosql.Option{texttosql.WithDialect(d)}, func() { pool.Close() }, nil
}

// mostRows is how many rows of a table are counted before and after a trial.
const mostRows = 100_000

// target opens the database for a trial.
func target(ctx context.Context, e engines.Engine, dsn string) (trial.Target, error) {
	pool, d, place, err := e.Connect(ctx, dsn)
	if err != nil {
		return trial.Target{}, err
	}
	return trial.Target{
		Name: place, Pool: pool, Dialect: d, What: fmt.Sprintf("the schema and the number of rows of each table, up to %d,", mostRows),
		Look: func(ctx context.Context) (string, error) {
			db, err := exec.New(pool, d, exec.Config{})
			if err != nil {
				return "", err
			}
			return look(ctx, db)
		},
	}, nil
}

// look returns a text that changes with the schema and the number of rows.
func look(ctx context.Context, db *exec.DB) (string, error) {
	s, err := db.Schema(ctx)
	if err != nil {
		return "", err
	}
	tables, err := json.Marshal(s.Tables)
	if err != nil {
		return "", err
	}
	seen := string(tables)
	for _, t := range s.Tables {
		if t.Kind != schema.BaseTable {
			continue
		}
		quote := db.Language().Quote
		n, err := db.Query(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s.%s LIMIT %d) AS n", quote(s.SchemaOf(&t)), quote(t.Name), mostRows+1))
		if err != nil {
			return "", fmt.Errorf("counting the rows of %s: %w", t.Name, err)
		}
		seen += fmt.Sprint(n.Rows)
	}
	return seen, nil
}
