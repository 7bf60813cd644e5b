package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

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
	fmt.Fprintf(w, "%s: %s\n", program, strings.TrimPrefix(text, program+": "))
	return 1
}
