// Package cli is what the programs in examples share: how a model is named on a
// command line, how a database file is opened, what is said where there is no
// model, and how a program ends.
//
//	func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }
//
//	func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
//		flags := flag.NewFlagSet("ask", flag.ContinueOnError)
//		spec := cli.ModelFlag(flags)
//		if err := cli.Parse(flags, args); err != nil {
//			return err
//		}
//		model, err := cli.Model(*spec, getenv)
//		…
//
// The environment is read in examples only, and here only: the packages of the
// SDK never look at it. Errors are one line that says what to do.
package cli
