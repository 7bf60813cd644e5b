package exec

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// warnings are those of a database so far.
type warnings struct {
	mu   sync.Mutex
	list []trace.Warning
}

// mostWarnings bounds what is kept of a database that changes.
const mostWarnings = 1000

// Warnings returns the warnings found so far for an operator, about the database, its user and the policy. Each comes
// once, and they are sorted. They may name items that a scope may not read, so do not show them to users.
func (db *DB) Warnings() []trace.Warning {
	if db.pool.Stats().MaxIdleClosed > 0 {
		db.Warn(trace.Warning{Code: "idle-connections",
			Message: fmt.Sprintf("the pool closed connections because more were idle than its "+
				"MaxIdleConns allows, and opens new ones: set MaxIdleConns to %d, as many as questions use at once, or more",
				db.limits.Connections)})
	}
	db.heard.mu.Lock()
	defer db.heard.mu.Unlock()
	return slices.SortedFunc(slices.Values(db.heard.list), func(a, b trace.Warning) int {
		return strings.Compare(a.Code+" "+a.Message, b.Code+" "+b.Message)
	})
}

// Warn adds to [DB.Warnings].
func (db *DB) Warn(all ...trace.Warning) {
	db.heard.mu.Lock()
	defer db.heard.mu.Unlock()
	for _, w := range all {
		if len(db.heard.list) < mostWarnings && !slices.Contains(db.heard.list, w) {
			db.heard.list = append(db.heard.list, w)
		}
	}
}

// warnCatalog warns of what the dialect warns of, of columns whose names look like secrets, and of tables that a policy
// with rules denies because it does not name them.
func (db *DB) warnCatalog(c *Catalog) {
	db.Warn(c.Warnings...)
	db.warnNames("sensitive-columns", "columns whose names look like secrets may not be read, nor may views over them: "+
		"%s; "+
		"Reveal of the policy names those that are none", db.hidden(c))
	var unlisted []string
	for _, r := range c.Relations {
		if !r.Hidden && db.policy.AllowsTable(r.Schema, r.Name) && !db.policy.Allows(r) {
			unlisted = append(unlisted, schema.TableName{Schema: r.Schema, Name: r.Name}.String())
		}
	}
	db.warnNames("tables-without-rule", "tables in neither Rows nor Shared of the policy may not be read: %s", unlisted)
}

// warnSensitive adds a warning "sensitive-columns", about columns whose values look like secrets, to [DB.Warnings].
func (db *DB) warnSensitive(columns []string) {
	db.warnNames("sensitive-columns", "columns whose values look like secrets are not sampled, profiled, "+
		"matched or shown to a model: %s; "+
		"Reveal of the policy names those that are none, DenyColumns keeps statements from reading the others", columns)
}

// warnNames warns of names, up to ten.
func (db *DB) warnNames(code, format string, names []string) {
	if len(names) == 0 {
		return
	}
	shown := strings.Join(names[:min(len(names), 10)], ", ")
	if n := len(names) - 10; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	db.Warn(trace.Warning{Code: code, Message: fmt.Sprintf(format, shown)})
}
