// Package cli holds what the programs share: their flags, how a database file is opened, what a program says without a
// model, and how it ends. Models of a spec are made by llm/providers, a module of its own.
//
//	func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }
//
//	func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
//		flags := flag.NewFlagSet("ask", flag.ContinueOnError)
//		spec := cli.ModelFlag(flags)
//		if err := cli.Parse(flags, args); err != nil {
//			return err
//		}
//		model, err := providers.Model(*spec, getenv)
//		…
//
// Errors are one line that says what to do.
package cli
