package cli

import (
	"flag"
	"os"

	"github.com/texttosql/texttosql/exec"
)

// PolicyFlag defines the flag -policy, which names a file that exec.ReadPolicy reads. Without it the policy is the zero one.
func PolicyFlag(flags *flag.FlagSet) *exec.Policy {
	p := new(exec.Policy)
	flags.Func("policy", "JSON `file` of what may be read: {\"DenyTables\": […], \"DenyColumns\": [\"table.column\"]}; the fields are those of exec.Policy",
		func(path string) error {
			f, err := os.Open(path)
			if err != nil {
				return PathlessError(err)
			}
			defer f.Close()
			*p, err = exec.ReadPolicy(f)
			return PathlessError(err)
		})
	return p
}
