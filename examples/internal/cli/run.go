package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

// Context returns a context that an interrupt or SIGTERM cancels. A second one ends
// the program at once.
func Context() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Parse parses args. An error is one line and not printed here, unlike those of
// the flag package; for -h the usage is printed and the error is flag.ErrHelp,
// which Exit takes for a success. A flag behind an argument is an error, not a
// part of the question. flags must continue on errors.
func Parse(flags *flag.FlagSet, args []string) error {
	out, usage := flags.Output(), flags.Usage
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	err := flags.Parse(args)
	flags.SetOutput(out)
	flags.Usage = usage
	switch {
	case errors.Is(err, flag.ErrHelp):
		if usage == nil {
			usage = flags.PrintDefaults
		}
		usage()
		return err
	case err != nil:
		return fmt.Errorf("%w (-h lists the flags)", err)
	}
	for _, arg := range flags.Args() {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && flags.Lookup(name) != nil {
			return fmt.Errorf("the flag %s stands behind the question; flags come first", arg)
		}
	}
	return nil
}

// Question returns the question that stands behind the flags: "" if there is none,
// for the listed ones. Those are about the shop: with a database of the user's own
// (db, its path) there must be one. A question without a word in it is
// texttosql.ErrEmptyQuestion.
func Question(flags *flag.FlagSet, db string) (string, error) {
	question := strings.Join(flags.Args(), " ")
	switch {
	case flags.NArg() == 0 && db != "":
		return "", errors.New("-db needs a question")
	case flags.NArg() > 0 && strings.TrimSpace(question) == "":
		return "", texttosql.ErrEmptyQuestion
	}
	return question, nil
}

// ErrNoModel is the error of a question that only a model can answer where none is
// named.
var ErrNoModel = errors.New("no model is configured for this question; name one: -model " + Specs)

// SayScripted says that no model is called, and where its replies come from.
func SayScripted(w io.Writer, file string) {
	fmt.Fprintf(w, "No model is configured: none is called, the replies are scripted (%s).\nName one with -model %s.\n", file, Specs)
}

// Brief says once what became of all draws where none had a reply, and returns any
// other error as it is.
func Brief(err error) error {
	var none *strategy.NoCandidateError
	if errors.As(err, &none) && none.Votes == 0 && len(none.Rejected) == 0 && len(none.Failed) > 0 {
		return fmt.Errorf("no reply in %d draws: %w", len(none.Failed), none.Failed[0])
	}
	return err
}

// Exit ends the program: with status 0 if err is nil or flag.ErrHelp, else with
// status 1 and err as one line on standard error.
func Exit(err error) {
	os.Exit(report(os.Stderr, filepath.Base(os.Args[0]), err))
}

func report(w io.Writer, program string, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	// Joined errors have a line each.
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	Say(w, "%s: %s\n", program, text)
	return 1
}

// Say prints what people, models and databases wrote, as fmt.Fprintf does, without
// the characters that a terminal would obey (sqltext.CleanText).
func Say(w io.Writer, format string, args ...any) {
	io.WriteString(w, sqltext.CleanText(fmt.Sprintf(format, args...)))
}
