// Safety shows what the guard does with hostile statements, so that you can try your guard before you trust it:
//
//	go run ./examples/safety                                       # twenty statements of its own, on a small shop
//	go run ./examples/safety -db shop.sqlite -statements payloads.jsonl
//	go run ./examples/safety -db shop.sqlite -statements payloads.jsonl -deadline 500ms -policy policy.json -json
//
// Each line of the file is a JSON object with
//   - an "id";
//   - exactly one of "text", "base64" (bytes that are not UTF-8) and "generator" (a long text: prefix + repeat×times + middle +
//     close×times + suffix);
//   - optionally a "policy" of deny_tables and deny_columns;
//   - optionally an "engine": only statements for "sqlite" are run;
//   - optionally what to "expect" (refuse, survive or accept), which is compared with what happened. To survive is to end within
//     1.15 times the deadline, whatever the verdict, and to take less than 64 MiB of memory.
//
// The output has one line for each statement:
//
//	{"id":"sqlite-001","verdict":"refused","rule":"several-statements","rows":0,"sec":0.000012,"mib":0.1}
//
// "refused" means that nothing of the statement ran, "failed" that it ended with an error while it ran, "answered" that it
// has a result. A summary goes to standard error, with -json as one JSON object.
package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/examples/internal/trial"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
)

//go:embed hostile.jsonl
var hostile string

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("safety", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: safety [-db FILE] [-statements FILE.jsonl] [flags]\n\nShows what the guard makes of each statement.\n\n")
		flags.PrintDefaults()
	}
	path := flags.String("db", "", "SQLite `file` to run the statements on, opened read-only; default: a small shop")
	statements := trial.Define(flags)
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	own := hostile
	if *path == "" {
		dir, err := os.MkdirTemp("", "texttosql-safety-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*path = filepath.Join(dir, "shop.sqlite")
		if err := shop.Write(*path); err != nil {
			return err
		}
	} else {
		own = "" // they name tables of the shop
	}
	open := func(context.Context) (trial.Target, error) {
		pool, err := cli.OpenReadOnly(*path)
		if err != nil {
			return trial.Target{}, fmt.Errorf("database %s: %w", *path, err)
		}
		return trial.Target{
			Name: *path, Pool: pool, Dialect: sqlite.Dialect{}, What: "the database file and the folder it is in",
			Look: func(context.Context) (string, error) { return lookAt(*path) },
		}, nil
	}
	return statements.Run(ctx, trial.Database{Engine: "sqlite", Flag: "-db", Given: true, Statements: own, Open: open}, stdout, stderr)
}

// lookAt returns a text that changes with the content of a file and with the names of the files beside it.
func lookAt(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		// Reading a database in WAL mode makes these two files.
		if base := filepath.Base(path); e.Name() != base+"-wal" && e.Name() != base+"-shm" {
			names = append(names, e.Name())
		}
	}
	return fmt.Sprintf("%x %q", hash.Sum(nil), names), nil
}
