package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// What became of a mutant.
const (
	Killed   = "killed"   // a test failed
	Late     = "late"     // the tests did not end in time, which a person would notice too
	Survived = "survived" // no test failed
	Unbuilt  = "unbuilt"  // it does not compile, so it says nothing
)

// Binary is the test binary of a package that holds its mutants.
type Binary struct {
	path, dir, tests string
	limit            time.Duration
}

// Build compiles the tests of the package in dir with all mutants, into folder, and marks mutants that do not compile.
// It changes no file of the package: go test reads the mutants through its flag -overlay. It then runs the tests that
// go test -run names, without a mutant: they must pass, and a mutant may take ten seconds more than five times their
// time.
func Build(ctx context.Context, folder, dir, tests string, mutants []Mutant) (*Binary, error) {
	path, err := filepath.Abs(filepath.Join(folder, "tests"))
	if err != nil {
		return nil, err
	}
	b := &Binary{path: path, dir: dir, tests: tests, limit: time.Hour}
	for more := true; more; {
		if more, err = b.compile(ctx, folder, mutants); err != nil {
			return nil, err
		}
	}

	start := time.Now()
	switch status, said, err := b.run(ctx, 0); {
	case err != nil:
		return nil, err
	case status != Survived:
		return nil, fmt.Errorf("mutate: the tests fail without a mutant:\n%s", said)
	}
	b.limit = 10*time.Second + 5*time.Since(start)
	return b, nil
}

// inMutant finds the number of a mutant in an error of the compiler.
var inMutant = regexp.MustCompile(`\bmutant(\d+):\d+:\d+: `)

// compile builds the binary. If mutants do not compile, it marks them, and more is true.
func (b *Binary) compile(ctx context.Context, folder string, mutants []Mutant) (more bool, err error) {
	overlay, err := writeOverlay(folder, b.dir, mutants)
	if err != nil {
		return false, err
	}
	run := exec.CommandContext(ctx, "go", "test", "-c", "-gcflags=-e", "-overlay", overlay, "-o", b.path, ".")
	run.Dir = b.dir
	said, err := run.CombinedOutput()
	if err == nil {
		return false, nil
	}
	for _, found := range inMutant.FindAllSubmatch(said, -1) {
		number, _ := strconv.Atoi(string(found[1]))
		mutants[number-1].Status, more = Unbuilt, true
	}
	if !more {
		return false, fmt.Errorf("mutate: the tests do not compile: %w\n%s", err, said)
	}
	return true, nil
}

// writeOverlay writes the files with mutants and the list of them, and returns the path of the list.
func writeOverlay(folder, dir string, mutants []Mutant) (string, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return "", err
	}
	texts := map[string]string{filepath.Join(filepath.Dir(mutants[0].File), "active_mutant.go"): fmt.Sprintf(declarations,
		pkg.Name)}
	for _, m := range mutants {
		if texts[m.File], err = switched(m.File, mutants); err != nil {
			return "", err
		}
	}

	replace := map[string]string{}
	for file, text := range texts {
		replace[file] = filepath.Join(folder, filepath.Base(file))
		if err := os.WriteFile(replace[file], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// failed finds the first test that failed.
var failed = regexp.MustCompile(`--- FAIL: (\S+)`)

// Judge runs the tests with the mutant of a number, counted from 1, and sets its status.
func (b *Binary) Judge(ctx context.Context, number int, m *Mutant) error {
	status, said, err := b.run(ctx, number)
	if err != nil {
		return err
	}
	m.Status = status
	if by := failed.FindSubmatch(said); by != nil {
		m.By = string(by[1])
	}
	return nil
}

// run runs the tests; 0 is no mutant.
func (b *Binary) run(ctx context.Context, number int) (status string, said []byte, err error) {
	timed, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	run := exec.CommandContext(timed, b.path, "-test.failfast", "-test.run", b.tests)
	run.Dir = b.dir
	run.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
	run.WaitDelay = 5 * time.Second
	said, err = run.CombinedOutput()

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", said, ctx.Err()
	case timed.Err() != nil:
		return Late, said, nil
	case err == nil:
		return Survived, said, nil
	case !errors.As(err, &exit):
		return "", said, err
	}
	return Killed, said, nil
}
