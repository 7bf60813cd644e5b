package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/form"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// entry is what is kept of an answer of ask. It has no rows, and nothing of a DSN that may be secret.
type entry struct {
	At         time.Time `json:"at"`
	Engine     string    `json:"engine"`
	Place      string    `json:"place"`        // of the database, without user and password
	DB         string    `json:"db,omitempty"` // its --db, where that is a file
	Scope      string    `json:"scope,omitempty"`
	Question   string    `json:"question"`
	Evidence   string    `json:"evidence,omitempty"`
	SQL        string    `json:"sql"`
	Confidence float64   `json:"confidence"`
	Models     []string  `json:"models"`
	Calls      int       `json:"calls"`
	Tokens     int       `json:"tokens"`
}

// keptAnswers is how many entries are kept.
const keptAnswers = 1000

// state is a place for what the program keeps of its own; "": none is known.
func (p *program) state(name string) string { return setup.State(p.getenv, name) }

// answers are the entries, the last one first.
func (p *program) answers() (all []entry, err error) {
	text, err := os.ReadFile(p.state(answersFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.PathlessError(err)
	}
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) == nil && e.SQL != "" {
			all = append(all, e)
		}
	}
	slices.Reverse(all)
	return all, nil
}

const answersFile = "answers.jsonl"

// keep adds an answer to the file, which its owner alone can read.
func (p *program) keep(e *setup.Engine, r *texttosql.Result, evidence string) error {
	path := p.state(answersFile)
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return cli.PathlessError(err)
	}
	unlock, err := atomicfile.Lock(path)
	if err != nil {
		return cli.PathlessError(err)
	}
	defer unlock()

	one := entry{
		At: time.Now().UTC().Truncate(time.Second), Engine: e.Opened.Engine, Place: e.Place, Scope: e.ScopeKey(), Question: r.Question, Evidence: evidence,
		SQL: r.SQL, Confidence: r.Confidence, Models: e.Asked, Calls: r.Usage.Calls, Tokens: r.Usage.PromptTokens + r.Usage.CompletionTokens,
	}
	if one.Place, err = placeOf(e); err != nil {
		return err
	}
	if prefix, ok := files[one.Engine]; ok {
		one.DB = prefix + one.Place
	}
	all, err := p.answers()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, e := range slices.Backward(append([]entry{one}, all[:min(len(all), keptAnswers-1)]...)) {
		if err := writeJSON(&text, e); err != nil {
			return err
		}
	}
	return atomicfile.Write(path, text.Bytes(), 0o600)
}

// files are the engines whose databases are files, with what stands before the path in --db.
var files = map[string]string{"sqlite": "", "duckdb": "duckdb:"}

// placeOf is where the database of an engine is, in any folder that the program is started in.
func placeOf(e *setup.Engine) (string, error) {
	if _, ok := files[e.Opened.Engine]; ok {
		return filepath.Abs(e.Place)
	}
	return e.Place, nil
}

// history is the verb that lists the last answers.
type history struct {
	N    int  `name:"number" short:"n" default:"20" placeholder:"N" help:"How many; default: 20."`
	JSON bool `name:"json" help:"Write a JSON line for each."`
}

// Help is the part of --help below the flags.
func (history) Help() string {
	return `ask keeps the question, the statement and the cost of each answer, and no rows, in texttosql/answers.jsonl below XDG_STATE_HOME or
~/.local/state, which its owner alone can read: the last 1000. --no-log, or TEXTTOSQL_LOG=false, keeps nothing.`
}

// Run lists them, the last one first.
func (h *history) Run(p *program) error {
	all, err := p.answers()
	if err != nil {
		return err
	}
	width, _ := p.size()
	for i, e := range all[:min(len(all), max(h.N, 0))] {
		if h.JSON {
			if err := p.json(e); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%3d  %s  %.2f  %s  %s", i+1, e.At.Local().Format("2006-01-02 15:04"), e.Confidence, filepath.Base(e.Place), words.Line(e.Question))
		cli.Say(p.out, "%s\n", form.Wrap(line, width))
	}
	if len(all) == 0 && !h.JSON {
		cli.Say(p.err, "texttosql: no answer is kept yet\n")
	}
	return nil
}

// lastAnswer is the verb that runs one of the last answers again.
type lastAnswer struct {
	setup.Database `embed:""`
	output         `embed:"" group:"The output"`
	Show           bool `help:"Show the question and the statement, and run nothing."`
	Number         int  `arg:"" optional:"" default:"1" help:"Which one, as the verb log numbers them; default: 1, the last one."`
}

// Help is the part of --help below the flags.
func (lastAnswer) Help() string {
	return `Examples:

  texttosql last
  texttosql last 3 --csv > never.csv

The statement runs again as the verb sql runs one: under the guard, the policy and the limits, on the rows of today. No model is asked.
The database of a file is found by itself; that of a server is named by --db, a profile or TEXTTOSQL_DSN.

` + exitHelp
}

// Run runs it.
func (l *lastAnswer) Run(p *program) error {
	all, err := p.answers()
	if err != nil {
		return err
	}
	if l.Number < 1 || l.Number > len(all) {
		return &setup.UsageError{Err: fmt.Errorf("there is no answer %d: %d are kept, see texttosql log", l.Number, len(all))}
	}
	e := all[l.Number-1]
	if l.Show {
		width, _ := p.size()
		cli.Say(p.out, "%s\n\n%s\n", form.Wrap(e.Question, width), e.SQL)
		return nil
	}
	if dsn := cmp.Or(l.DSN(p.getenv), e.DB); dsn != "" {
		l.DB = []string{dsn}
	} else {
		return &setup.UsageError{Err: fmt.Errorf("the answer is about %s: name that database with --db, --profile or TEXTTOSQL_DSN", e.Place)}
	}
	return (&statement{Database: l.Database, output: l.output, SQL: e.SQL, about: &e}).Run(p)
}

// same says why an engine is not the one that an answer came from; nil: it is.
func (e *entry) same(of *setup.Engine) error {
	place, err := placeOf(of)
	switch {
	case err != nil:
		return err
	case e.Engine != of.Opened.Engine || e.Place != place:
		return &setup.UsageError{Err: fmt.Errorf("the answer is about %s, not about %s: name that database", e.Place, of.Place)}
	case e.Scope != of.ScopeKey():
		return &setup.UsageError{Err: errors.New("the answer was given in another scope: name it with --scope")}
	}
	return nil
}

// asked writes the question above the rows, where they do not stand alone.
func (e *entry) asked(p *program, w io.Writer, o output, of *setup.Engine, t *result.Table) error {
	if !o.alone() {
		width, _ := p.size()
		sql := form.WrapSQL(of.Dialect.Language().Text, e.SQL, width)
		cli.Say(w, "%s\n\n%s\n\n", form.Wrap(e.Question, width), sql)
	}
	return o.rows(p, w, t)
}
