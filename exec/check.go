package exec

import (
	"errors"

	"github.com/texttosql/texttosql/sqltext"
)

// check is the text check: it returns the one trimmed statement, or a
// *RefusedError.
func (db *DB) check(sql string) (string, error) {
	checked, err := db.dialect.Text().Check(sql)
	if err == nil {
		return checked, nil
	}
	var refused *sqltext.RefusedError
	if errors.As(err, &refused) {
		return "", &RefusedError{Rule: Rule(refused.Rule), Detail: refused.Detail, Writes: refused.Writes}
	}
	return "", &RefusedError{Rule: RuleGuard, Detail: err.Error()}
}
