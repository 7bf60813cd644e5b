package exec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/texttosql/texttosql/schema"
)

// profilesFormat is another one where profiles are taken or cut in another way.
const profilesFormat = "1"

// keptKey is the key of a table in Config.Profiles; "": its profile is not kept. Another program must not read
// rows of a scope.
func (db *DB) keptKey(t schema.Table) string {
	if db.profiles == nil || db.scope != nil {
		return ""
	}
	text, err := json.Marshal([]any{profilesFormat, db.language.Name, db.policy, t})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// profiledOnce is profiled, of a table that may be kept.
func (db *DB) profiledOnce(ctx context.Context, t schema.Table, readable func() (*schema.Schema, error),
	texts map[string][]string) (profiled, error) {
	key := db.keptKey(t)
	if key != "" {
		if kept, ok := db.profiles.Profile(key); ok {
			db.warnSensitive(secretsFound(t.Name, t.Columns, kept.Columns))
			return profiled{&kept, nil}, nil
		}
	}
	known, err := readable()
	if err != nil {
		return profiled{}, err
	}
	p, err := db.profiled(ctx, t, known, texts)
	if err == nil && p.gap == nil && key != "" {
		db.profiles.Keep(key, *p.table)
	}
	return p, err
}

// secretsFound are the columns whose values look like secrets, by a look at the rows.
func secretsFound(table string, before, after []schema.Column) (names []string) {
	for i, c := range after {
		if c.Sensitive && i < len(before) && !before[i].Sensitive {
			names = append(names, table+"."+c.Name)
		}
	}
	return names
}
