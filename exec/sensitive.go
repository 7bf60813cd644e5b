package exec

import (
	"strconv"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// secretValues reports whether four fifths of the values in a column of rows, NULL and empty ones aside, look like
// secrets.
func secretValues(rows [][]any, column int) bool {
	secret, all := 0, 0
	for _, row := range rows {
		text := secretText(row[column])
		if text == "" {
			continue
		}
		all++
		if words.SecretValue(text) {
			secret++
		}
		if all > 20 && secret == 0 {
			return false
		}
	}
	return all > 0 && 5*secret >= 4*all
}

// secretText is a value as the forms of secrets are written: the number of a card may be stored in any type of number.
func secretText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case result.Decimal:
		return string(v)
	}
	return ""
}

// hidden lists the columns that may not be read for their names alone. It names none that the policy denies.
func (db *DB) hidden(c *Catalog) (found []string) {
	named := db.policy
	named.Reveal = []string{"*"}
	for _, r := range c.Relations {
		for _, column := range r.Columns() {
			if r.Allowed() && r.Refused == nil && db.policy.Hides(r.Schema, r.Name, column) &&
				named.AllowsColumn(r.Schema, r.Name, column) {
				found = append(found, r.Name+"."+column)
			}
		}
	}
	return found
}
