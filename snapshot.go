package texttosql

import (
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/trace"
)

// described is the schema that prompts are written from: the part that the policy allows, with descriptions.
type described struct {
	schema    *schema.Schema
	unknown   []string         // described names that do not exist
	knowledge *knowledge.Model // the part that speaks of schema; nil: there is none
}

// descriptions are what is described of a schema of the database, by what the tables are called.
var descriptions = &snapshot.Derived[namesOf, described]{
	Reach: snapshot.OfPolicy, Needed: true,
	Size: func(of namesOf, d described) (bytes int) {
		if of.live == d.schema {
			return 0
		}
		for i := range d.schema.Tables {
			bytes += 400 + 150*len(d.schema.Tables[i].Columns)
		}
		return bytes
	},
}

type namesOf struct {
	live  *schema.Schema
	names string // see snapshot.Key
}

// snapshot returns the present state of the database, with the schema described and called as lessons tell.
func (e *Engine) snapshot(ctx context.Context, lessons *memory.Recall) (s *snapshot.Snapshot, d described, err error) {
	if s, err = e.db.Snapshot(ctx); err != nil {
		return nil, d, err
	}
	base := e.named(s.Schema, lessons)
	if d, err = descriptions.Of(ctx, s, namesOf{s.Schema, base.names}, func(ctx context.Context) (described, error) {
		return e.describe(ctx, base)
	}); err != nil {
		return nil, d, err
	}
	return s.Named(base.names, d.schema), d, nil
}

// named is the schema of the database or the declared one, by its names.
type named struct {
	names   string
	schema  *schema.Schema
	known   *schema.Schema // where lessons tell the names of the database
	unknown []string       // described names that are none of the declared schema
}

// named returns the schema that the one of prompts is made of: that of the database or the declared one, with the names
// of the database as far as r tells them.
func (e *Engine) named(live *schema.Schema, r *memory.Recall) named {
	switch {
	case e.schema == nil && len(e.descriptions) == 0:
		return named{schema: live}
	case e.schema == nil:
		return named{names: "described", schema: live}
	case r == nil || r.Map(e.schema, live) == e.schema:
		return named{names: "declared", schema: e.schema}
	}
	declared, unknown := e.schema.Describe(e.descriptions)
	mapped := r.Map(declared, live)
	return named{names: mapped.Fingerprint(), schema: mapped, known: mapped, unknown: unknown}
}

// describe restricts a schema to what the policy allows, and describes it.
func (e *Engine) describe(ctx context.Context, of named) (d described, err error) {
	d.schema = of.schema
	if e.schema != nil {
		if d.schema, err = e.db.Permitted(ctx, of.schema); err != nil {
			return d, err
		}
	}
	if len(e.descriptions) > 0 {
		d.schema, d.unknown = d.schema.Describe(e.descriptions)
		if of.known != nil { // names of either schema are known
			d.unknown = slices.DeleteFunc(d.unknown, func(name string) bool { return !slices.Contains(of.unknown, name) })
		}
	}
	if len(d.unknown) > 0 && !e.narrowed {
		e.db.Warn(trace.Warning{Code: "unknown-description", Message: "descriptions of names that do not exist: " + strings.Join(d.unknown, ", ")})
	}
	if e.knowledge != nil {
		d.knowledge = new(e.knowledge.Within(d.schema))
	}
	return d, nil
}

// learned is what one state of the confirmed answers tells.
type learned struct {
	confirmed  []memory.Pair // those of the scope that the policy allows
	pool       *memory.Pool  // the solved questions that strategies may show
	past       []memory.Pair // what was asked before
	emptyShare float64       // strategy.Env.EmptyAnswerRate
}

// answers are what confirmed and configured answers tell, by the state of the confirmed ones.
var answers = &snapshot.Derived[answersOf, learned]{Size: func(_ answersOf, l learned) int { return 1000 * len(l.past) }}

// answersOf is a list of confirmed answers, those of all scopes.
type answersOf struct {
	first *memory.Pair
	n     int
}

// learn returns what confirmed and configured answers tell. It is the same as long as nothing was confirmed, so that the pool
// is indexed once.
func (e *Engine) learn(ctx context.Context, s *snapshot.Snapshot, q asking) (learned, error) {
	var confirmed []memory.Pair
	if !e.forgets(q) {
		var err error
		if confirmed, err = e.confirmed.Pairs(); err != nil {
			return learned{}, err
		}
	}
	of := answersOf{n: len(confirmed)}
	if of.n > 0 {
		of.first = &confirmed[0]
	}
	return answers.Of(ctx, s, of, func(context.Context) (learned, error) {
		scope := e.ScopeKey()
		kept := slices.DeleteFunc(slices.Clone(confirmed), func(p memory.Pair) bool { return p.Scope != scope || e.mentions(p) })
		shown := slices.DeleteFunc(slices.Clone(e.exemplars), func(p memory.Pair) bool { return !e.mayShow(p) })
		solved := slices.DeleteFunc(slices.Clone(shown), func(p memory.Pair) bool { return p.Past })
		return learned{kept, &memory.Pool{Pairs: slices.Concat(kept, solved)}, slices.Concat(shown, kept), emptyShare(kept)}, nil
	})
}
