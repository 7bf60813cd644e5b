package texttosql

import (
	"maps"
	"reflect"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
)

// Scope says on whose behalf a question is asked: whose rows it reads. See WithScope. It is exec.Scope, whose fields have their
// rules there:
//
//	Key      string            // names the scope; what is kept under one key is never shown under another; required
//	Params   map[string]any    // the values of the parameters in Policy.Rows, by name without the colon
//	Settings map[string]string // settings of the database that hold while a statement runs
type Scope = exec.Scope

// WithScope asks a question on behalf of a tenant or a user: the rules of Policy.Rows get their parameters from s, and the
// question reads the rows that they allow and no others, in prompts, candidates and the answer.
//
// An engine whose policy has Rows, Shared or Settings refuses a question without a scope, and one whose scope lacks its Key, a
// parameter or a setting, with an error that matches ErrNoScope. One whose policy has none of them, and whose dialect does not ask
// as the user of a scope, refuses every scope with exec.ErrNoRules. What is kept between questions belongs to s.Key: profiles, samples,
// confirmed answers, lessons, conversations. What stores hold from before there were scopes is not used under one; exemplars
// of WithMemory and lessons of a person that name no scope are the program's own, and every scope may be shown them. Whoever
// has a Key sees what others learned under it: give scopes with different rights different keys.
func WithScope(s Scope) AskOption {
	return askOption{"WithScope", func(a *asking) {
		s.Params, s.Settings = maps.Clone(s.Params), maps.Clone(s.Settings)
		a.scope = &s
	}}
}

// WithPolicy restricts what a statement may read. Denied tables and columns are not shown to a model, not sampled and
// not readable.
//
// Given to New, it holds for every question. Given for one question, p narrows it for that question: see exec.DB.For. The
// database is not inspected again for each question. A Conversation that is opened again has it no more: see Engine.For.
func WithPolicy(p exec.Policy) AskOption { return policy(p) }

type policy exec.Policy

func (p policy) configure(c *config) { c.exec.Policy = exec.Policy(p) }
func (p policy) extend(a *asking) {
	a.policy = (*exec.Policy)(&p)
	a.given = append(a.given, "WithPolicy")
}

// For returns the engine as one caller has it: everything asked of it is asked with the WithScope and WithPolicy among opts.
// It is for parts of a program that must not choose the scope, and for calls without options: Check,
// Confirm, Schema, NewConversation, OpenConversation.
//
// An engine that has a scope takes no other one. The errors are those of exec.DB.For. For asks nothing of the database and
// may be called for each question: what is known of the database is kept for engines of the same scope and policy together.
func (e *Engine) For(opts ...AskOption) (*Engine, error) {
	q, err := heeding("For", "", opts)
	if err != nil {
		return nil, err
	}
	return e.within(q)
}

// key says under which policy and for which scope an engine works.
type key struct {
	db       *exec.DB // the database, as they have it
	narrowed bool     // the policy is that of a question, or of For
}

// within returns the engine of a question's scope and policy, and refuses a question that lacks its scope.
func (e *Engine) within(a asking) (*Engine, error) {
	if e == nil {
		return nil, errNoEngine
	}
	scope := e.db.Scope()
	switch {
	case a.scope == nil:
	case a.scope.Key == "":
		return nil, &exec.RefusedError{Reason: exec.ReasonScope, Detail: "the scope has no key"}
	case scope != nil && reflect.DeepEqual(scope, a.scope):
		a.scope = nil
	case scope != nil:
		return nil, &exec.RefusedError{Reason: exec.ReasonScope, Detail: "the engine has another scope"}
	}
	if a.scope == nil && a.policy == nil && (scope != nil || !e.db.Scoped()) {
		return e, nil
	}
	db, err := e.db.For(a.scope, a.policy)
	if err != nil {
		return nil, err
	}
	return &Engine{e.core, key{db, e.narrowed || a.policy != nil}}, nil
}

// ScopeKey returns the Key of the engine's scope, to which what is kept between questions belongs; "": it has none. It is for
// programs that list what is kept: session.Filter.Scope, memory.Confirmed.PairsOf.
func (e *Engine) ScopeKey() string {
	if e != nil && e.db.Scope() != nil {
		return e.db.Scope().Key
	}
	return ""
}

func (e *Engine) mayShow(p memory.Pair) bool {
	return (p.Scope == "" || p.Scope == e.ScopeKey()) && !e.mentions(p)
}

// mentions reports whether a pair names what the policy of one question denies.
func (e *Engine) mentions(p memory.Pair) bool {
	policy := e.db.Policy()
	return e.narrowed && (policy.Mentions(p.Question) || policy.Mentions(p.SQL) ||
		slices.ContainsFunc(e.db.Language().Text.Parse(p.SQL).Tables(), func(ref sqltext.TableRef) bool {
			return ref.Base() && !policy.AllowsTable(ref.Schema, ref.Name)
		}))
}
