package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// What became of a mutant.
const (
	Killed   = "killed"   // a test failed
	Late     = "late"     // the tests did not end in time, which a person would notice too
	Survived = "survived" // no test failed
	Unbuilt  = "unbuilt"  // it does not compile, so it says nothing
)

// Tests are the tests that judge a mutant.
type Tests struct {
	Dir      string        // folder of the module in which go test runs
	Packages []string      // the tests to run, as go test names packages: ./vote
	Args     []string      // further arguments of go test, such as -run and -short
	Timeout  time.Duration // of one run; at most 0 means 2 minutes
}

// Run says what became of a mutant; nil runs the tests as they are. No file is changed: go test reads the mutant through
// its flag -overlay. The error is about the run, or that the tests fail without a mutant.
func (t Tests) Run(ctx context.Context, m *Mutant) (string, error) {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)

	args := append([]string{"test", "-vet=off", "-count=1", "-failfast"}, t.Args...)
	if m != nil {
		overlay, err := m.overlay(folder)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = 2 * time.Minute
	}
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	run := exec.CommandContext(timed, "go", append(args, t.Packages...)...)
	run.Dir = t.Dir
	// go test hands an interrupt on to the tests, which it would leave alone if it were killed.
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 5 * time.Second
	said, err := run.CombinedOutput()

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case timed.Err() != nil:
		return Late, nil
	case err == nil:
		return Survived, nil
	case !errors.As(err, &exit):
		return "", err
	case m == nil:
		return "", fmt.Errorf("mutate: the tests fail without a mutant:\n%s", said)
	case bytes.Contains(said, []byte("[build failed]")), bytes.Contains(said, []byte("[setup failed]")):
		return Unbuilt, nil
	}
	return Killed, nil
}

// overlay writes the mutant and what go test -overlay reads, and returns the path of that.
func (m Mutant) overlay(folder string) (string, error) {
	text, err := m.Text()
	if err != nil {
		return "", err
	}
	changed := filepath.Join(folder, "mutant.go")
	original, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(path, list, 0o600))
}
