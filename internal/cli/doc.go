// Package cli holds what the programs share: how a command line names a model, how a database file is opened,
// what a program says without a model, and how it ends.
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
// Only this package reads the environment; the packages of the SDK never do. Errors are one line that says what to do.
package cli
