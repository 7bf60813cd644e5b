package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/cli"
)

// runRules prints the rules by which a server itself holds a policy for a user. The user of the DSN has to see everything.
func runRules(ctx context.Context, flags *flag.FlagSet, args []string, stdout io.Writer, getenv func(string) string) error {
	named, policy := define(flags), cli.PolicyFlag(flags)
	user := flags.String("user", "", "the `NAME` of the user that the rules are for")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	e, dsn, err := named.choose(getenv)
	switch {
	case err != nil:
		return err
	case e.Name != onTrino.Name:
		return fmt.Errorf("-engine %s: only Trino has such rules; docs/safety.md has the role for the others", e.Name)
	case dsn == "":
		return fmt.Errorf("-dsn or TEXTTOSQL_DSN is needed: %s", e.Form)
	case *user == "":
		return errors.New("-user is needed: the name of the user who asks")
	case flags.NArg() > 0: // it may be a DSN
		return fmt.Errorf("%d unexpected arguments behind the flags", flags.NArg())
	}
	pool, d, place, err := e.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	db, err := exec.New(pool, d, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}) // rules name every column
	if err != nil {
		return err
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	rules, err := trino.AccessRules(*policy, *user, catalogOf(place), s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n", rules)
	return err
}
