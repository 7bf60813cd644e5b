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
	"slices"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// Context returns a context that an interrupt or SIGTERM cancels. A second signal ends the program at once.
func Context() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Parse parses args. Unlike the flag package it does not print an error, which is one line. For -h it prints the usage and
// returns flag.ErrHelp, which Exit takes for a success. A flag behind an argument is an error, not a part of the question.
// flags must continue on errors.
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
			// Without its value, which may be a password.
			return fmt.Errorf("the flag -%s stands behind the question; flags come first", name)
		}
	}
	return nil
}

// Question returns the question behind the flags, or "" for the listed questions. The listed ones are about the shop, so with
// another database (db is its path) there must be a question. A question without a word is texttosql.ErrEmptyQuestion.
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

// Specs lists the most common specs of models, for messages.
const Specs = "openai:NAME, ollama:NAME, anthropic:NAME or replay:FILE"

// ModelFlag defines the flag -model, whose value is a spec of a model; "" by default.
func ModelFlag(flags *flag.FlagSet) *string {
	return flags.String("model", "", "the model to ask, a `spec`: "+Specs)
}

// ErrNoModel is the error of a question that needs a model when none is named.
var ErrNoModel = errors.New("no model is configured for this question; name one: -model " + Specs)

// Scripted is what a program asks without a model: questions, and models that know the replies from a file.
type Scripted struct {
	Questions []string
	Models    []llm.Model
	File      string
	Model     func(spec string, getenv func(string) string) (llm.Model, error) // makes the model of a spec
}

// Choose returns the models to ask and the questions for them. Without a spec these are the scripted ones, which know no
// other question and no other database (db is its path): then it says on w that no model is called. Without a question it
// returns all scripted ones.
func (s Scripted) Choose(w io.Writer, getenv func(string) string, db, question string, specs ...string) ([]llm.Model, []string, error) {
	var models []llm.Model
	for _, spec := range specs {
		if spec == "" {
			continue
		}
		m, err := s.Model(spec, getenv)
		if err != nil {
			return nil, nil, err
		}
		models = append(models, m)
	}
	switch {
	case len(models) > 0:
	case db != "" || question != "" && !slices.Contains(s.Questions, question):
		return nil, nil, ErrNoModel
	default:
		models = s.Models
		fmt.Fprintf(w, "No model is configured: none is called, the replies are scripted (%s).\nName one with -model %s.\n", s.File, Specs)
	}
	if question == "" {
		return models, s.Questions, nil
	}
	return models, []string{question}, nil
}

// Brief shortens an error that lists the failures of all samples to the first of them, if no sample had a reply. It returns any
// other error unchanged.
func Brief(err error) error {
	var none *strategy.NoCandidateError
	if errors.As(err, &none) && none.Votes == 0 && len(none.Rejected) == 0 && len(none.Failed) > 0 {
		return fmt.Errorf("all samples (%d) failed: %w", len(none.Failed), none.Failed[0])
	}
	return err
}

// Exit ends the program with status 0 if err is nil or flag.ErrHelp. Otherwise it writes err as one line to standard error
// and ends the program with status 1.
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
	// Joined errors have one line each.
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	Say(w, "%s: %s\n", program, text)
	return 1
}

// Say prints text of people, models and databases like fmt.Fprintf, without the characters that a terminal would obey
// (words.Clean).
func Say(w io.Writer, format string, args ...any) {
	io.WriteString(w, words.Clean(fmt.Sprintf(format, args...)))
}
