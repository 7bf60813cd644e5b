package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// The exit codes.
const (
	exitAnswer      = 0
	exitError       = 1
	exitUsage       = 2 // the command line, or a file that it names, is wrong: nothing was asked
	exitUnsure      = 3 // a question back, or no answer that is sure enough
	exitRefused     = 4 // the guard or the policy refused the statement, or those of all samples
	exitBudget      = 5 // a budget or a limit is spent
	exitCut         = 6 // rows are missing in a form that another program reads
	exitInterrupted = 130
)

// exitCode returns the code of an error.
func exitCode(err error) int {
	var usage *setup.UsageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	if errors.Is(err, errCut) {
		return exitCut
	}
	return failure.Of(err).ExitCode
}

// errCut is the error of rows that a limit cut, in a form that another program reads. Standard error or the JSON says
// so.
var errCut = errors.New("not all rows are written")

// cut returns errCut where rows are missing in such a form.
func (o output) cut(t *result.Table) error {
	if t != nil && t.Truncated && !o.read() {
		return errCut
	}
	return nil
}

// wordedError is an error whose text says more than its class.
type wordedError struct{ error }

func (e *wordedError) Unwrap() error { return e.error }

// toldError is an error whose message stands above the line that ends the program, which has the advice alone.
type toldError struct{ error }

func (e *toldError) Unwrap() error { return e.error }

// exitHelp explains the codes.
const exitHelp = `Exit codes: 0 an answer, 1 an error, 2 a mistake in the command line or in a file it names, 3 a question back or no answer
that is sure enough, 4 refused by the guard or the policy, 5 a budget or limit is spent, 6 the first rows only, in a form for
programs (csv, json, xlsx …), 130 interrupted.`

// report prints an error as one line and returns its exit code.
func (p *program) report(err error) int {
	var told *toldError
	switch {
	case err == nil, err == error(errBare), errors.Is(err, errCut): // these are told
	case errors.As(err, &told):
		cli.Say(p.err, "texttosql: %s\n", failure.Of(err).Advice)
	default:
		p.tell("texttosql: " + p.line(err))
	}
	return exitCode(err)
}

// tell writes lines to standard error, in the width of the terminal that it may be.
func (p *program) tell(text string) {
	width, _ := sizeOf(p.err)
	cli.Say(p.err, "%s\n", textformat.Wrap(text, width))
}

// notice is what an operator should know, a line each, for the start of a server; "": nothing.
func (p *program) notice(all []trace.Warning) (text string) {
	for _, w := range all {
		text += "warning: " + p.withoutDSN(w.Message) + "\n"
	}
	return text
}

// line writes an error as one line without a DSN or a password.
func (p *program) line(err error) string {
	if exitCode(err) == exitInterrupted {
		return "interrupted"
	}
	text := cli.Brief(err).Error()
	f := failure.Of(err)
	if errors.Is(err, exec.ErrNoScope) {
		f.Advice = "Name the user with --scope, or those of a server with --scopes."
	}
	if refused := (*exec.RefusedError)(nil); errors.As(err, &refused) && refused.Reason == "function" {
		f.Advice = "Write the statement without it, or name it in AllowFunctions of --policy."
	}
	if refused := (*exec.RefusedError)(nil); errors.As(err, &refused) &&
		strings.HasSuffix(refused.Detail, "no statement reads the catalog") {
		f.Advice = "See them with texttosql schema."
	}
	if broken := (*session.RecordError)(nil); errors.As(err, &broken) { // it names the file
		f.Message = cli.Capital(strings.TrimPrefix(broken.Error(), "session: ")) + "."
	}
	// Who runs a command may know where it asks, and what the provider said, and needs to.
	if e := (*llm.Error)(nil); errors.As(err, &e) && f.Class == failure.Provider {
		own := *e
		own.Advice = ""
		_, said, _ := strings.Cut(strings.TrimPrefix(own.Error(), "llm: "), ": ")
		switch {
		case e.Status == 0 && e.Class == llm.ClassPermanent:
			// No call ended otherwise, so the class says nothing.
			f.Message, f.Advice = strings.TrimPrefix(e.Error(), "llm: permanent: "), ""
		case said != "":
			f.Message = strings.TrimSuffix(f.Message, ".") + ": " + strings.TrimSuffix(said, ".") + "."
		}
	}
	switch config := f.Class == failure.Config && !errors.Is(err, texttosql.ErrNoTables); {
	case config, f.Class == failure.Other, f.Class == failure.Database, errors.As(err, new(*wordedError)):
	default:
		text = strings.TrimSpace(f.Message + " " + cli.Capital(f.Advice))
	}
	text = p.withoutDSN(text)
	// Joined errors have a line each.
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	// The form of a DSN is no secret.
	return words.Clean(strings.ReplaceAll(redact.Credentials(text), "USER:***@", "USER:PASSWORD@"))
}

// withoutDSN takes every DSN of the command line and of the environment out of a text: kong repeats arguments that it
// does not expect.
func (p *program) withoutDSN(text string) string {
	for _, arg := range slices.Concat(p.args, p.secrets, []string{p.getenv("TEXTTOSQL_DSN"), p.getenv("TEXTTOSQL_DB")}) {
		_, value, _ := strings.Cut(arg, "=")
		for _, dsn := range []string{arg, value} {
			if setup.IsDSN(dsn) {
				text = strings.ReplaceAll(text, dsn, "…")
			}
		}
	}
	return text
}
