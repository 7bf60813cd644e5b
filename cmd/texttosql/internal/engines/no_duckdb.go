//go:build no_duckdb

package engines

import (
	"fmt"

	"github.com/texttosql/texttosql/internal/engines"
)

// DuckDB fails: this program was built without it.
func DuckDB(string) (engines.Engine, string, error) {
	return engines.Engine{}, "", fmt.Errorf("%w is of DuckDB, which this program was built without (-tags no_duckdb)", ErrForm)
}
