package exec

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/snapshot"
)

// Scope identifies the user or tenant for whom statements run. It holds the parameters of Policy.Rows.
type Scope struct {
	// Key names the scope. Data that is cached under one Key is never shown under another. Two scopes with different
	// Params must have different keys. Key is required.
	Key string
	// Params are the values of the parameters in Policy.Rows, by name without the colon: nil, a bool, an integer, a
	// float64, a string or a []byte each. The engine binds or quotes them. A missing parameter is an error; a parameter
	// that no rule names does no harm.
	Params map[string]any
	// Settings are settings of the database, by name, that are set while a statement of the scope runs. Rules of the
	// database itself read them: row security with exec/postgres, and the user that exec/trino impersonates. Other
	// engines refuse a scope with settings.
	Settings map[string]string
}

// ErrNoScope matches the refusal of a statement that needs a [Scope]. The policy has rules about rows or requires
// settings, and the scope is missing or lacks its Key, a parameter or a setting.
var ErrNoScope = execerr.ErrNoScope

// ErrNoRules is the error of a [Scope] if no rule limits what it may read. The policy has no such rule, and the server
// does not apply the rights of the scope's user.
var ErrNoRules = errors.New("exec: there is a scope, and the policy has neither rules about rows (Rows, " +
	"Shared) nor required settings (Settings): " +
	"the scope would read every row")

// RowFilterDialect is a [Dialect] that supports policies with Rows. [New] refuses such a policy for any other dialect.
// Its connections are [RowFilterConn] values.
type RowFilterDialect interface {
	Dialect
	// Rules returns the rules for writing a row rule into the engine's text.
	Rules() guard.RewriteRules
}

// RowFilterConn is what the connections of a [RowFilterDialect] implement for a policy with Rows.
//
// An outside statement is first checked as written, by the names in it. Then [guard.Catalog.Splice] writes the rules
// into its text at the Spots. The result passes the checks of any statement, and Placed makes a second check. Run and
// Explain receive the spliced statement.
//
// If the Rules of the dialect have Settings, the connection also has the method Set(settings map[string]string) error.
// Set applies the settings to each following statement, until the next call. It does not contact the engine. Confirm
// then refuses ("scope") a statement that reads a table past the database's own rules.
type RowFilterConn interface {
	Conn
	// Spots finds every place where a statement names a table or a view of the catalog, whatever the rules. The
	// statement has passed Read. Spots refuses ("rows") names that would change their meaning after a splice:
	// hidden columns like the rowid, or a column qualified by its schema. The text is a statement or the definition of
	// a view.
	Spots(ctx context.Context, s *Statement) ([]guard.TablePosition, error)
	// Placed is the second check: it refuses ("rows") a spliced statement that reads a table with a rule outside of
	// a splice. Statement.Splice locates the splices.
	Placed(ctx context.Context, s *Statement) error
}

// ImpersonatingDialect is a [Dialect] whose server has its own rules for each user, and another schema for each.
type ImpersonatingDialect interface {
	Dialect
	// As returns the dialect for Scope.Settings; nil: without a scope. It refuses ("scope") settings without
	// contacting the server.
	As(settings map[string]string) (Dialect, error)
}

// settingConn is a connection of a [RowFilterDialect] that supports the settings of a scope.
type settingConn interface {
	Set(settings map[string]string) error
}

// Scope returns the scope of db; nil for none. Do not change it.
func (db *DB) Scope() *Scope { return db.scope }

// Policy returns the policy in force, which [DB.For] may have narrowed. Do not change it.
func (db *DB) Policy() Policy { return db.policy }

// Scoped reports whether statements need a scope: the policy has rules about rows or requires settings, or the dialect
// impersonates a scope's user.
func (db *DB) Scoped() bool { return (&DB{ruling: db.ruling}).scopeError() != nil }

// For returns a view of db for one caller. Statements on it read the rows of scope, and nothing that narrower denies.
// The view shares the pool, the limits and the connections with db. The schema is read once for all views; a narrower
// policy removes parts of it. For does not contact the database and may be called for each question.
//
// A nil scope means the scope of db. If there are rules but no scope, the error is a *[RefusedError] that matches
// [ErrNoScope]. The same error reports a scope that lacks its Key, a parameter or a required setting. If no rule limits
// what a scope may read, the error is [ErrNoRules]. A db that has a scope accepts no other scope.
//
// A nil narrower means the policy of db. Otherwise each list that is not empty applies in addition. What either policy
// denies is denied. AllowTables, AllowFunctions and Reveal allow only what both policies name. Its Rows add to the
// rules of db. Its Shared may be set only if db has neither Rows nor Shared; then both apply as in [Config]. A policy
// that is not narrower is an error.
func (db *DB) For(scope *Scope, narrower *Policy) (*DB, error) {
	view := new(*db)
	if scope != nil {
		if db.scope != nil {
			return nil, errors.New("exec: For: the database has a scope already")
		}
		own := Scope{Key: scope.Key, Params: map[string]any{}, Settings: maps.Clone(scope.Settings)}
		for _, name := range slices.Sorted(maps.Keys(scope.Params)) {
			value := scope.Params[name]
			v, err := driver.DefaultParameterConverter.ConvertValue(value)
			if _, date := v.(time.Time); err != nil || date {
				return nil, guard.Refuse("scope", "the parameter %s of the scope is a %T", name, value)
			}
			if b, ok := v.([]byte); ok {
				v = bytes.Clone(b) // which the caller may use again
			}
			own.Params[name] = v
		}
		view.scope, view.scopeID = &own, own.id()
	}
	if s, ok := db.dialect.(ImpersonatingDialect); ok { // which has to know whose catalog it is
		if _, err := s.As(view.settings()); err != nil {
			return nil, err
		}
	}
	if _, apart := db.dialect.(ImpersonatingDialect); narrower != nil || apart {
		var err error
		if view.ruling, err = db.narrowed(cmp.Or(narrower, &Policy{}), view.scope); err != nil {
			return nil, err
		}
	}
	return view, view.scopeError()
}

// scopeError returns the refusal of a statement that lacks its scope, or whose scope does not limit what is read.
func (db *DB) scopeError() error {
	asUser := false
	if s, ok := db.dialect.(ImpersonatingDialect); ok {
		if _, err := s.As(db.settings()); err != nil {
			return err
		}
		asUser = asksAsUser(s)
	}
	refuse := func(format string, args ...any) error { return guard.Refuse("scope", format, args...) }
	switch {
	case db.scope == nil && db.policy.Scoped():
		return refuse("the policy has rules about rows, and the question has no scope")
	case db.scope == nil && db.policy.NeedsScope():
		return refuse("the policy requires settings of a scope (Settings), and the question has no scope")
	case db.scope == nil:
		return nil
	case !asUser && !db.policy.NeedsScope():
		return ErrNoRules
	case db.scope.Key == "":
		return refuse("the scope has no key")
	case len(db.scope.Settings) > 0 && !asUser && !db.ruled.Settings:
		return refuse("%s takes no settings of a scope", db.language.Title)
	}
	for _, name := range db.policy.Settings {
		if db.scope.Settings[name] == "" {
			return refuse("the scope has no setting %s", name)
		}
	}
	for _, r := range db.rules {
		for _, name := range r.Params {
			if _, ok := db.scope.Params[name]; !ok {
				return refuse("the scope has no parameter %s", name)
			}
		}
	}
	return nil
}

// asksAsUser reports whether a dialect impersonates the user of a scope.
func asksAsUser(d Dialect) bool {
	s, ok := d.(ImpersonatingDialect)
	if !ok {
		return false
	}
	_, err := s.As(nil)
	return err != nil
}

// settings returns the settings of the scope.
func (db *DB) settings() map[string]string {
	if db.scope == nil {
		return nil
	}
	return db.scope.Settings
}

// id returns a text that is different for each scope.
func (s *Scope) id() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", s.Key, s.Settings)
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		fmt.Fprintf(h, " %q %T %#[2]v", name, s.Params[name])
	}
	return string(h.Sum(nil))
}

// rulings caches the rulings of narrower policies, and of the scopes of an ImpersonatingDialect.
var rulings = &snapshot.Derived[struct{}, *ruling]{
	Reach: snapshot.OfPolicy, Size: func(_ struct{}, r *ruling) int { return 4096 + 2*len(r.id) },
}

// narrowed returns a narrower policy, for a scope, as it holds on the database.
func (db *DB) narrowed(n *Policy, scope *Scope) (*ruling, error) {
	_, err := n.ReadRules(db.language.Text) // each alone: "1) OR (1" would widen what it is joined with
	if err = cmp.Or(n.Validate(), err); err != nil {
		return nil, err
	}
	p, err := db.policy.Narrow(*n)
	if err != nil {
		return nil, err
	}
	d := db.dialect
	of := []any{p}
	if s, ok := d.(ImpersonatingDialect); ok && scope != nil {
		if d, err = s.As(scope.Settings); err != nil {
			return nil, err
		}
		of = append(of, scope.Key, scope.Settings)
	}
	id := fmt.Sprintf("%q", of) // JSON would make one key of texts that are no UTF-8
	at := db.kept.At(snapshot.Key{Policy: id}, nil)
	return rulings.Of(context.Background(), at, struct{}{}, func(context.Context) (*ruling, error) {
		r, err := db.under(p, d)
		if err == nil {
			r.id = id
		}
		return r, err
	})
}

// under returns the ruling of a policy on the database, or of a scope's dialect.
func (db *database) under(p Policy, d Dialect) (*ruling, error) {
	r := &ruling{database: db, policy: p, walls: walls(), inspecting: semaphore.NewWeighted(1)}
	var err error
	if r.rules, err = p.ReadRules(db.language.Text); err != nil {
		return nil, err
	}
	if ruler, ok := db.dialect.(RowFilterDialect); ok {
		r.ruled = ruler.Rules()
	} else if p.Scoped() {
		return nil, fmt.Errorf("exec: Policy.Rows and Policy.Shared: %s is not read through rules about rows",
			db.language.Title)
	}
	if len(p.Settings) > 0 && !r.ruled.Settings && !asksAsUser(db.dialect) {
		return nil, fmt.Errorf("exec: Policy.Settings: %s takes no settings of a scope", db.language.Title)
	}
	r.open, err = d.Guard(GuardConfig{Policy: p, Unwrap: db.unwrap, CellBytes: max(db.limits.Candidate.CellBytes,
		db.limits.Answer.CellBytes)})
	return r, err
}
