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
	"github.com/texttosql/texttosql/snapshot"
)

// Scope says on whose behalf statements run: it gives the parameters of Policy.Rows.
type Scope struct {
	// Key names the scope. What is kept between questions under one Key is never shown under another. Two scopes with
	// other Params have other keys. It is required.
	Key string
	// Params are the values of the parameters in Policy.Rows, by name without the colon: nil, a bool, an integer, a
	// float64, a string or a []byte each. The engine binds or quotes them. A missing one is an error, one that no rule
	// names does no harm.
	Params map[string]any
	// Settings are settings of the database, by name, that hold while a statement of the scope runs, for rules of the
	// database's own: those of exec/postgres, and the user as whom exec/trino asks. Other engines refuse a scope that has any.
	Settings map[string]string
}

// ErrNoScope matches the refusal of a statement that needs a [Scope]: the policy has rules about rows or requires settings, and
// there is no scope, or one without its Key, a parameter or a setting.
var ErrNoScope = guard.ErrNoScope

// ErrNoRules is the error of a [Scope] where neither the policy nor the server, asked as a user, says what it may read.
var ErrNoRules = errors.New("exec: there is a scope, and the policy has neither rules about rows (Rows, Shared) nor required settings (Settings): " +
	"the scope would read every row")

// The reasons of a [RefusedError] about rules for rows.
const (
	ReasonScope = guard.ReasonScope // there is no scope, or it lacks what the rules need
	ReasonRows  = guard.ReasonRows  // a table is read where no rule of Policy.Rows can stand
)

// Ruler is a [Dialect] for policies with Rows. [New] refuses such a policy for any other dialect. Its connections are
// [RulerConn] values.
type Ruler interface {
	Dialect
	// Rules says how the engine's text is written around a rule.
	Rules() guard.Splicing
}

// RulerConn is what the connections of a [Ruler] do for a policy with Rows.
//
// A statement from outside is judged as it is written, by the names in it. Then [guard.Catalog.Splice] writes the rules into
// its text at the Spots, the result goes the way of any statement, and Placed has the second look. Run and Explain get
// the spliced statement.
type RulerConn interface {
	Conn
	// Spots finds every place where a statement, which passed Read, names a table or a view of the catalog, whatever the
	// rules, and refuses (ReasonRows) what would not mean the same behind a splice: hidden columns as the rowid, a column
	// behind its schema. text is that of a statement or of the definition of a view.
	Spots(ctx context.Context, s *Statement) ([]guard.Spot, error)
	// Placed is the second look: it refuses (ReasonRows) a spliced statement that reads a table with a rule outside of a
	// splice. Statement.Splice says where the splices are.
	Placed(ctx context.Context, s *Statement) error
}

// LooseConn is what the connections of a [Ruler] do whose engine compares a text with a number as numbers, so that 0 would be
// equal to every text.
type LooseConn interface {
	Conn
	// Compared says how each parameter of a rule of r is bound, by the column that it is compared with. text is the rule with "?"
	// for a parameter, params are their names in that order. It refuses (ReasonRows) a rule in which a parameter is compared
	// with anything else, and asks nothing of the engine.
	Compared(r *guard.Relation, text string, params []string) ([]guard.Bind, error)
}

// Scoper is a [Dialect] whose server has rules of its own about who asks, and another schema for each.
type Scoper interface {
	Dialect
	// As returns the dialect for Scope.Settings; nil: there is no scope. What it refuses (ReasonScope) asks the server nothing.
	As(settings map[string]string) (Dialect, error)
}

// SettingConn is what the connections of a [Ruler] do that takes settings of a scope.
type SettingConn interface {
	Conn
	// Set has the settings hold for each statement from now on, and no longer than that. It asks nothing of the engine.
	// Confirm then refuses (ReasonScope) a statement that reads a table past the rules of the database's own.
	Set(settings map[string]string) error
}

// Scope returns the scope of db; nil for none. Do not change it.
func (db *DB) Scope() *Scope { return db.scope }

// Policy returns the policy in force, which [DB.For] may have narrowed. Do not change it.
func (db *DB) Policy() Policy { return db.policy }

// Scoped reports whether statements need a scope: the policy has rules about rows or requires settings, or the dialect asks as
// the user of one.
func (db *DB) Scoped() bool { return (&DB{ruling: db.ruling}).scopeError() != nil }

// For returns a view of db for one caller: what runs through it reads the rows of scope, and nothing that narrower denies.
// It shares the pool, the limits and the connections with db. The schema is read once for all: a narrower policy takes
// away from what was read. For asks nothing of the database and may be called for each question.
//
// A nil scope is that of db. With rules and without a scope the error is a *[RefusedError] that matches [ErrNoScope], as it
// is where the scope lacks its Key, a parameter or a required setting. Where nothing says what a scope may read, it is [ErrNoRules]. A db that has a scope takes no other one.
//
// A nil narrower is the policy of db. Each list of another one counts where it is not empty: what either policy denies is
// denied; of AllowTables, AllowFunctions and Reveal only what both name counts. Its Rows add to the rules of db; its Shared
// may be given only where db has neither Rows nor Shared, and then both apply as in [Config]. What is not narrower is an
// error.
func (db *DB) For(scope *Scope, narrower *Policy) (*DB, error) {
	view := new(*db)
	if scope != nil {
		if db.scope != nil {
			return nil, errors.New("exec: For: the database has a scope already")
		}
		own := Scope{Key: scope.Key, Params: map[string]any{}, Settings: maps.Clone(scope.Settings)}
		for name, value := range scope.Params {
			v, err := driver.DefaultParameterConverter.ConvertValue(value)
			if _, date := v.(time.Time); err != nil || date {
				return nil, guard.Refuse(ReasonScope, "the parameter %s of the scope is a %T", name, value)
			}
			if b, ok := v.([]byte); ok {
				v = bytes.Clone(b) // which the caller may use again
			}
			own.Params[name] = v
		}
		view.scope, view.scopeID = &own, own.id()
	}
	if s, ok := db.dialect.(Scoper); ok { // which has to know whose catalog it is
		if _, err := s.As(view.settings()); err != nil {
			return nil, err
		}
	}
	if _, apart := db.dialect.(Scoper); narrower != nil || apart {
		var err error
		if view.ruling, err = db.narrowed(cmp.Or(narrower, &Policy{}), view.scope); err != nil {
			return nil, err
		}
	}
	return view, view.scopeError()
}

// scopeError is the refusal of a statement that lacks its scope, or has one that says nothing about what is read.
func (db *DB) scopeError() error {
	asUser := false
	if s, ok := db.dialect.(Scoper); ok {
		if _, err := s.As(db.settings()); err != nil {
			return err
		}
		asUser = asksAsUser(s)
	}
	refuse := func(format string, args ...any) error { return guard.Refuse(ReasonScope, format, args...) }
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

// asksAsUser reports whether a dialect asks its server as the user of a scope.
func asksAsUser(d Dialect) bool {
	s, ok := d.(Scoper)
	if !ok {
		return false
	}
	_, err := s.As(nil)
	return err != nil
}

// settings are those of the scope.
func (db *DB) settings() map[string]string {
	if db.scope == nil {
		return nil
	}
	return db.scope.Settings
}

// id tells a scope apart from all others.
func (s *Scope) id() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", s.Key, s.Settings)
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		fmt.Fprintf(h, " %q %T %#[2]v", name, s.Params[name])
	}
	return string(h.Sum(nil))
}

// rulings are those of narrower policies, and of the scopes of a Scoper.
var rulings = &snapshot.Derived[struct{}, *ruling]{
	Reach: snapshot.OfPolicy, Size: func(_ struct{}, r *ruling) int { return 4096 + 2*len(r.id) },
}

// narrowed returns a narrower policy, for a scope, as it holds on the database.
func (db *DB) narrowed(n *Policy, scope *Scope) (*ruling, error) {
	_, err := guard.ReadRules(db.language.Text, *n) // each alone: "1) OR (1" would widen what it is joined with
	if err = cmp.Or(n.Validate(), err); err != nil {
		return nil, err
	}
	p, err := db.policy.Narrow(*n)
	if err != nil {
		return nil, err
	}
	d := db.dialect
	of := []any{p}
	if s, ok := d.(Scoper); ok && scope != nil {
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

// under returns a policy, or that of a dialect for a scope, as it holds on the database.
func (db *database) under(p Policy, d Dialect) (*ruling, error) {
	r := &ruling{database: db, policy: p, walls: walls(), inspecting: semaphore.NewWeighted(1)}
	var err error
	if r.rules, err = guard.ReadRules(db.language.Text, p); err != nil {
		return nil, err
	}
	if ruler, ok := db.dialect.(Ruler); ok {
		r.ruled = ruler.Rules()
	} else if p.Scoped() {
		return nil, fmt.Errorf("exec: Policy.Rows and Policy.Shared: %s is not read through rules about rows", db.language.Title)
	}
	if len(p.Settings) > 0 && !r.ruled.Settings && !asksAsUser(db.dialect) {
		return nil, fmt.Errorf("exec: Policy.Settings: %s takes no settings of a scope", db.language.Title)
	}
	r.open, err = d.Guard(GuardConfig{Policy: p, Unwrap: db.unwrap, CellBytes: max(db.limits.Candidate.CellBytes, db.limits.Answer.CellBytes)})
	return r, err
}
