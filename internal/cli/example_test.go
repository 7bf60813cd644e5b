package cli_test

import (
	"flag"
	"fmt"

	"github.com/texttosql/texttosql/internal/cli"
)

func Example() {
	run := func(args []string, getenv func(string) string) error {
		flags := flag.NewFlagSet("ask", flag.ContinueOnError)
		spec := cli.ModelFlag(flags)
		if err := cli.Parse(flags, args); err != nil {
			return err
		}
		model, err := cli.Model(*spec, getenv)
		if err != nil {
			return err
		}
		_ = model // ask it
		return nil
	}
	getenv := func(string) string { return "" }                             // os.Getenv in a program
	fmt.Println(run([]string{"-model", "ollama:llama3.1:8b"}, getenv))      // no call is made yet
	fmt.Println(run([]string{"-model", "anthropic:claude-opus-4"}, getenv)) // for cli.Exit to print
	// Output:
	// <nil>
	// model "anthropic:claude-opus-4": ANTHROPIC_API_KEY is not set
}
