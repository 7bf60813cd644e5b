package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/lab/mutate"
)

// mutateVerb is the verb mutate.
type mutateVerb struct {
	Root      string   `default:".." placeholder:"DIR" help:"Folder of the module; default: the root's."`
	Operators []string `placeholder:"NAME" help:"Changes to make; default: all."`
	Budget    int      `default:"50" help:"Mutants a package that compile, drawn at random; 0: all. Default: 50."`
	Seed      uint64   `default:"1" help:"Seed of the draw; default: 1."`
	Files     string   `placeholder:"REGEXP" help:"Change only files of such a name, as '^converse'."`
	Only      string   `name:"run" placeholder:"REGEXP" help:"Tests to run, as go test -run has it."`
	JSON      bool     `name:"json" help:"Write a line of JSON for each mutant."`
	Packages  []string `arg:"" placeholder:"PACKAGE" help:"Packages to change, as ./vote."`
}

// Help is the part of --help below the flags.
func (mutateVerb) Help() string {
	return `Changes one place of a package at a time, and runs its tests: a mutant on which none fails has survived. No file is changed:
one test binary holds all mutants of a package.
  go run . mutate --budget 60 ./vote ./linker
  go run . mutate --files '^(converse|confirm|lessons)' --run 'Convers|Session|Choice|Lesson|Restart|Conflict|Ballot' .

Survivors are written as they are found. A line of JSON has file, line, operator, old, new, by (the test that failed first), and
status: killed, late (which counts as killed) or survived.`
}

// Validate refuses packages that are no folder of the module.
func (v *mutateVerb) Validate() error {
	for _, p := range v.Packages {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return fmt.Errorf("%s: name a package by its folder below --root, as ./vote", p)
		}
	}
	return nil
}

// Run judges one package after the other.
func (v *mutateVerb) Run(p *program) error {
	var rows [][]string
	for _, pkg := range v.Packages {
		row, err := v.judge(p, pkg)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if v.JSON {
		return nil
	}
	return table(p.out, []string{"package", "mutants", "judged", "killed", "share"}, rows)
}

// judge makes and judges the mutants of a package, and returns its row of the table.
func (v *mutateVerb) judge(p *program, pkg string) (row []string, err error) {
	mutants, err := mutate.Find(filepath.Join(v.Root, filepath.FromSlash(pkg)), v.Operators...)
	if err != nil {
		return nil, err
	}
	named, err := regexp.Compile(v.Files)
	if err != nil {
		return nil, err
	}
	mutants = slices.DeleteFunc(mutants, func(m mutate.Mutant) bool { return !named.MatchString(filepath.Base(m.File)) })
	if len(mutants) == 0 {
		return nil, fmt.Errorf("%s: no mutant", pkg)
	}
	random := rand.New(rand.NewPCG(v.Seed, 0))
	random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	counts, err := v.run(p, pkg, mutants)
	if err != nil {
		return nil, err
	}

	killed := counts[mutate.Killed] + counts[mutate.Late]
	judged := killed + counts[mutate.Survived]
	return []string{pkg, strconv.Itoa(len(mutants)), strconv.Itoa(judged), strconv.Itoa(killed),
		fmt.Sprintf("%.0f %%", 100*float64(killed)/float64(max(judged, 1)))}, nil
}

// run judges the first mutants that compile, and counts them by status.
func (v *mutateVerb) run(p *program, pkg string, mutants []mutate.Mutant) (map[string]int, error) {
	most := len(mutants)
	if v.Budget > 0 {
		most = min(v.Budget, most)
	}
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	mutants = mutants[:min(2*most, len(mutants))] // some do not compile
	binary, err := mutate.Build(p.ctx, folder, filepath.Join(v.Root, filepath.FromSlash(pkg)), v.Only, mutants)
	if err != nil {
		return nil, err
	}

	counts := map[string]int{}
	for i := range mutants {
		m := &mutants[i]
		if m.Status == mutate.Unbuilt || most == 0 {
			continue
		}
		if err := binary.Judge(p.ctx, i+1, m); err != nil {
			return nil, err
		}
		counts[m.Status]++
		most--
		if err := v.tell(p, *m); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// tell writes a mutant as JSON, or one that survived for a person.
func (v *mutateVerb) tell(p *program, m mutate.Mutant) error {
	if v.JSON {
		return jsonLines(p.out, []mutate.Mutant{m})
	}
	if m.Status == mutate.Survived {
		p.note("%s:%d: %s survived: %q became %q", m.File, m.Line, m.Operator, m.Old, m.New)
	}
	return nil
}
