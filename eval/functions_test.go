package eval_test

import (
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/mysqlite"
)

// withFunctions is a configuration for statements that call functions of MySQL, and functions of mathematics that the
// SQLite of the recorded verdicts had.
func withFunctions(find func(string) (string, error)) eval.StoreConfig {
	return eval.StoreConfig{Find: find, Policy: mysqlite.Policy(), Open: mysqlite.OpenReadOnly}
}
