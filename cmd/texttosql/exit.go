package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/replies"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// The exit codes.
const (
	exitAnswer      = 0
	exitError       = 1
	exitUsage       = 2 // the command line, or a file that it names, is wrong: nothing was asked
	exitUnsure      = 3 // a question back, or no answer that is sure enough
	exitRefused     = 4 // the guard or the policy refused the statement, or those of all samples
	exitBudget      = 5 // a budget or a limit is spent
	exitInterrupted = 130
)

// exitCode returns the code of an error.
func exitCode(err error) int {
	var (
		usage    *setup.UsageError
		config   *strategy.ConfigError
		asked    *session.Question
		policy   *exec.PolicyError
		input    *texttosql.InputError
		nothing  *strategy.NoCandidateError
		refused  *exec.RefusedError
		rejected []vote.Candidate
	)
	if errors.As(err, &nothing) {
		rejected = nothing.Rejected
	}
	switch {
	case err == nil:
		return exitAnswer
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &policy), errors.As(err, &input), errors.Is(err, texttosql.ErrEmptyQuestion):
		return exitUsage
	case errors.As(err, &asked), errors.Is(err, texttosql.ErrAbstained):
		return exitUnsure
	case errors.Is(err, texttosql.ErrBudget), errors.Is(err, llm.ErrBudget):
		return exitBudget
	case errors.As(err, &refused), len(rejected) > 0 && len(nothing.Failed) == 0 && everyRefused(rejected):
		return exitRefused
	}
	return exitError
}

// unreadable are the reasons of a reply that has no statement which the guard could refuse.
var unreadable = []sqltext.Reason{
	replies.ReasonTruncated, replies.ReasonRefusal, replies.ReasonNoSQL, replies.ReasonBrokenJSON, sqltext.ReasonEmpty, sqltext.ReasonTooLong,
}

// everyRefused reports whether the guard refused every candidate.
func everyRefused(rejected []vote.Candidate) bool {
	return !slices.ContainsFunc(rejected, func(c vote.Candidate) bool {
		reason, _, _ := strings.Cut(c.Rejected, ":")
		return c.Invalid || slices.Contains(unreadable, sqltext.Reason(reason))
	})
}

// exitHelp explains the codes.
const exitHelp = `Exit codes: 0 an answer, 1 an error, 2 a mistake in the command line or in a file it names, 3 a question back or no answer
that is sure enough, 4 refused by the guard or the policy, 5 a budget or limit is spent, 130 interrupted.`

// report prints an error as one line and returns its exit code.
func (p *program) report(err error) int {
	if err != nil {
		cli.Say(p.err, "texttosql: %s\n", p.line(err))
	}
	return exitCode(err)
}

// line writes an error as one line without a DSN or a password.
func (p *program) line(err error) string {
	if exitCode(err) == exitInterrupted {
		return "interrupted"
	}
	text := p.withoutDSN(cli.Brief(err).Error())
	// Joined errors have a line each.
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	// The form of a DSN is no secret.
	return words.Clean(strings.ReplaceAll(trace.Scrub(text), "USER:***@", "USER:PASSWORD@"))
}

// withoutDSN takes every DSN of the command line and of the environment out of a text: kong repeats arguments that it does
// not expect.
func (p *program) withoutDSN(text string) string {
	for _, arg := range append(p.args, p.getenv("TEXTTOSQL_DSN")) {
		_, value, _ := strings.Cut(arg, "=")
		for _, dsn := range []string{arg, value} {
			if setup.IsDSN(dsn) {
				text = strings.ReplaceAll(text, dsn, "…")
			}
		}
	}
	return text
}
