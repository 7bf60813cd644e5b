package strategy

import (
	"context"
	"errors"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/sqltext"
)

// replyKey is what the extraction of a reply depends on.
type replyKey struct {
	text  string
	ended bool
}

// extraction is what a reply holds if the engine takes every statement in it. It asks no engine, so equal replies share
// one.
type extraction struct {
	once  sync.Once
	found replies.Extraction
	err   error
	taken []*sqltext.Statement // statements that the engine has to take for that
}

// maxReplies bounds the extractions that one question keeps.
const maxReplies = 256

// Extract finds the statement in a reply; ended reports that the reply is complete.
//
// Most replies have one statement, and it compiles. So Extract first assumes this, and the examination of the
// statement, which follows anyway, confirms it. If the engine rejects the statement, or if there are several, Extract
// asks the engine which of them compile.
func (a *Checker) Extract(ctx context.Context, sample int, reply string, ended bool) (replies.Extraction, error) {
	key := replyKey{reply, ended}
	x := replies.Extractor{Dialect: a.db.Language().Text, Ended: ended}
	a.mu.Lock()
	r := a.read[key]
	if r == nil {
		r = &extraction{}
		if len(a.read) < maxReplies {
			a.read[key] = r
		}
	}
	a.mu.Unlock()
	r.once.Do(func() {
		easy := x
		easy.Valid = func(s *sqltext.Statement) bool { r.taken = append(r.taken, s); return true }
		r.found, r.err = easy.Extract(reply)
	})
	if len(r.taken) == 0 {
		return r.found, r.err
	}
	if r.err == nil && len(r.taken) == 1 {
		s := r.taken[0]
		known, err := a.examined(ctx, a.entry(s.SQL(), s, sample))
		switch rejected := err == nil && known.invalid != nil && known.analysis == nil; {
		case !rejected:
			return r.found, nil
		case a.analyzesFirst():
			a.remember(s, false)
		case a.compiles(ctx, s): // a check of the caller's own may have said so
			return r.found, nil
		}
	}
	x.Valid = func(s *sqltext.Statement) bool { return a.compiles(ctx, s) }
	return x.Extract(reply)
}

// analyzesFirst reports whether a statement without an analysis failed in it, and not in another check.
func (a *Checker) analyzesFirst() bool {
	return len(a.checks) == 0 || a.checks[0] == exec.Check(exec.ReadOnly{})
}

// Analyze returns the result of exec.DB.Analyze. For a statement that was examined it uses the stored result.
func (a *Checker) Analyze(ctx context.Context, sql string) (exec.Analysis, error) {
	a.mu.Lock()
	e := a.checked[sql]
	a.mu.Unlock()
	if e != nil {
		known, err := a.examined(ctx, e)
		switch {
		case err != nil:
			return exec.Analysis{}, err
		case known.analysis != nil:
			return *known.analysis, nil
		case a.analyzesFirst():
			return exec.Analysis{}, known.failure
		}
	}
	return a.db.Analyze(ctx, sql)
}

// compiles reports whether the engine takes s for a statement. Only its own words are remembered: that it could not be
// asked says nothing of the statement.
func (a *Checker) compiles(ctx context.Context, s *sqltext.Statement) bool {
	a.mu.Lock()
	ok, known := a.compiled[s.SQL()]
	a.mu.Unlock()
	if known {
		return ok
	}
	_, err := a.db.ExamineStatement(ctx, s, exec.ReadOnly{})
	var invalid *exec.InvalidError
	ok = !errors.As(err, &invalid)
	if err == nil || !ok {
		a.remember(s, ok)
	}
	return ok
}

func (a *Checker) remember(s *sqltext.Statement, compiles bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.compiled[s.SQL()] = compiles
}
