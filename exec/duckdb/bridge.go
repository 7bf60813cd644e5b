package duckdb

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// Language returns the engine's name and rules.
func (d Dialect) Language() exec.Language {
	return exec.Language{
		Name: d.Name(), Title: d.Title(), Text: d.Text(), QuoteName: d.Quote, Parameter: d.Placeholder,
		Drivers: []string{"github.com/duckdb/duckdb-go"},
	}
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	g, err := d.guarded(c)
	if err != nil {
		return nil, err
	}
	return bridge.Open(d, d.Language(), c, g), nil
}
