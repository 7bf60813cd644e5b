package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/texttosql/texttosql/lab/mutate"
)

// mutateVerb is the verb mutate.
type mutateVerb struct {
	Root      string        `default:".." placeholder:"DIR" help:"Folder of the module; default: the root's."`
	Operators []string      `placeholder:"NAME" help:"Changes to make; default: all."`
	Budget    int           `default:"50" help:"Mutants a package that compile, drawn at random; 0: all. Default: 50."`
	Seed      uint64        `default:"1" help:"Seed of the draw; default: 1."`
	Tests     []string      `placeholder:"PACKAGE" help:"Packages whose tests judge too, beside the package's own."`
	Files     string        `placeholder:"REGEXP" help:"Change only files of such a name, as '^converse'."`
	Only      string        `name:"run" placeholder:"REGEXP" help:"Tests to run, as go test -run has it."`
	Timeout   time.Duration `default:"2m" help:"How long the tests of one mutant may take; default: 2m."`
	JSON      bool          `name:"json" help:"Write a line of JSON for each mutant."`
	Packages  []string      `arg:"" placeholder:"PACKAGE" help:"Packages to change, as ./vote."`
}

// Help is the part of --help below the flags.
func (mutateVerb) Help() string {
	return `Changes one place of a package at a time, and runs its tests: a mutant on which none fails has survived. No file is changed.
  go run . mutate --budget 60 ./vote
  go run . mutate --tests ./exec/sqlite ./exec/guard
  go run . mutate --files '^(converse|confirm|lessons)' --run 'Convers|Session|Choice|Lesson|Restart|Conflict|Ballot' .

Survivors are written as they are found. A line of JSON has file, line, operator, old, new, and status: killed, late (which
counts as killed), survived, or unbuilt (not counted).`
}

// mutantLine is a line of JSON.
type mutantLine struct {
	mutate.Mutant
	Status string `json:"status"`
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
	return table(p.out, []string{"package", "mutants", "judged", "killed", "survived", "share"}, rows)
}

// judge makes and judges the mutants of a package, and returns its row of the table.
func (v *mutateVerb) judge(p *program, pkg string) (row []string, err error) {
	mutants, err := mutate.Find(filepath.Join(v.Root, filepath.FromSlash(pkg)), v.Operators...)
	if err != nil {
		return nil, err
	}
	named, err := regexp.Compile(v.Files)
	if err != nil {
		return nil, fmt.Errorf("--files: %w", err)
	}
	mutants = slices.DeleteFunc(mutants, func(m mutate.Mutant) bool { return !named.MatchString(filepath.Base(m.File)) })
	if len(mutants) == 0 {
		return nil, fmt.Errorf("%s: no mutant", pkg)
	}
	random := rand.New(rand.NewPCG(v.Seed, 0))
	random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })

	tests := mutate.Tests{Dir: v.Root, Packages: append([]string{pkg}, v.Tests...), Timeout: v.Timeout}
	if v.Only != "" {
		tests.Args = []string{"-run", v.Only}
	}
	if _, err := tests.Run(p.ctx, nil); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	most := v.Budget
	if most <= 0 {
		most = len(mutants)
	}
	bar := newProgress(p.err, pkg, most)
	defer bar.done()
	for _, m := range mutants {
		if counts[mutate.Killed]+counts[mutate.Late]+counts[mutate.Survived] == most {
			break
		}
		status, err := tests.Run(p.ctx, &m)
		if err != nil {
			return nil, err
		}
		if counts[status]++; status != mutate.Unbuilt {
			bar.step(most)
		}
		if err := v.tell(p, m, status); err != nil {
			return nil, err
		}
	}
	killed := counts[mutate.Killed] + counts[mutate.Late]
	judged := killed + counts[mutate.Survived]
	return []string{pkg, strconv.Itoa(len(mutants)), strconv.Itoa(judged), strconv.Itoa(killed), strconv.Itoa(counts[mutate.Survived]),
		fmt.Sprintf("%.0f %%", 100*float64(killed)/float64(max(judged, 1)))}, nil
}

// tell writes a mutant as JSON, or one that survived for a person.
func (v *mutateVerb) tell(p *program, m mutate.Mutant, status string) error {
	if v.JSON {
		return jsonLines(p.out, []mutantLine{{m, status}})
	}
	if status == mutate.Survived {
		p.note("%s:%d: %s survived: %q became %q", m.File, m.Line, m.Operator, m.Old, m.New)
	}
	return nil
}
