//go:build no_duckdb

package engines

import (
	"fmt"
)

// DuckDB fails: this program was built without it.
func DuckDB(string) (Engine, string, error) {
	return Engine{}, "", fmt.Errorf("%w is of DuckDB, which this program was built without (-tags no_duckdb)", ErrForm)
}
