package exectest

import (
	"context"
	_ "embed" // the hostile statements
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed hostile.txt
var hostileText string

// hostile returns the statements of hostile.txt in the sections of some engines.
func hostile(engines ...string) (all []Payload) {
	p, listed := Payload{}, false
	for line := range strings.Lines(hostileText) {
		line = strings.TrimSuffix(line, "\n")
		section, isSection := strings.CutPrefix(line, "== ")
		why, isComment := strings.CutPrefix(line, "# ")
		switch {
		case isSection:
			engine, expect, _ := strings.Cut(section, " ")
			p.Name, p.Expect, listed = engine, "refuse", slices.Contains(engines, engine)
			if expect != "" {
				p.Expect = expect
			}
		case isComment:
			p.Why = why
		case listed:
			p.SQL = line
			if text, err := strconv.Unquote(line); err == nil {
				p.SQL = text
			}
			all = append(all, p)
		}
	}
	return all
}

// CheckTool tests a program that runs statements of strangers, such as a tool of an MCP server. The program needs no
// part of this module.
//
// run passes one statement to the program. It returns an error if the program rejects the statement. contents returns
// everything that a statement must not change, such as all rows, as one text. The database is a test database with the
// tables of [Engine.Fixture]. engine selects statements for "sqlite", "postgres" or "mysql"; any other name selects
// only those for every engine.
//
// A hostile statement was executed if run returned nil, if the contents changed, or if the program had not stopped it
// after a minute. t fails for each of them, and for each harmless statement that was rejected. CheckTool logs and
// returns the number of hostile statements that were executed, and of all hostile statements.
func CheckTool(t testing.TB, engine string, run func(ctx context.Context, sql string) error,
	contents func(ctx context.Context) (string, error)) (executed, all int) {
	t.Helper()
	before, err := contents(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	for _, p := range append(harmless(), hostile("any", engine)...) {
		err := runOnce(t.Context(), p.SQL, run)
		after, readErr := contents(t.Context())
		if readErr != nil {
			t.Fatalf("reading the contents after %q: %v", p.SQL, readErr)
		}

		switch {
		case p.Expect == "accept" && err != nil:
			t.Errorf("a harmless statement was rejected: %q: %v", p.SQL, err)
		case p.Expect == "accept":
		case err == nil || after != before:
			executed++
			t.Errorf("a hostile statement was executed: %q: %s", p.SQL, p.Why)
		}
		if p.Expect != "accept" {
			all++
		}
		before = after
	}
	t.Logf("hostile statements executed: %d of %d", executed, all)
	return executed, all
}

// runOnce runs a statement for at most a minute. It returns nil if the program did not stop the statement by then.
func runOnce(ctx context.Context, sql string, run func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := run(ctx, sql); ctx.Err() == nil {
		return err
	}
	return nil
}
