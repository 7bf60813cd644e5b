package main

import (
	"bytes"
	"cmp"
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
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
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
	SQL        string    `json:"sql"` // "" if the question was rejected
	Confidence float64   `json:"confidence"`
	Level      string    `json:"level,omitempty"`    // of the answer; "" for one of an earlier version
	Rejected   string    `json:"rejected,omitempty"` // the class of the error; "": there is an answer
	Models     []string  `json:"models"`
	Calls      int       `json:"calls"`
	Tokens     int       `json:"tokens"`
	Money      float64   `json:"money,omitempty"`
}

// rejections are the errors of questions that the verb log lists. Others are about the program or the provider.
var rejections = []failure.Class{failure.Refused, failure.Unanswerable, failure.Unsure, failure.Unclear,
	failure.NoAnswer, failure.Invalid,
	failure.Budget, failure.Limit}

// keptAnswers is how many entries are kept.
const keptAnswers = 1000

// state is a place for what the program keeps of its own; "": none is known.
func (p *program) state(name string) string { return setup.State(p.getenv, name) }

const (
	answersFile    = "answers.jsonl"
	answersVersion = 1 // of a line
)

// answers is the content of the file.
type answers struct {
	all   []entry  // the last one first
	lines [][]byte // as they are to be written, the first one first
	old   []int    // the numbers of those that had no checksum or no version
	notes []string // what is wrong with the file
}

// readAnswers reads the file. A line that is damaged stays in the file, and is no entry.
func (p *program) readAnswers() (*answers, error) {
	text, err := os.ReadFile(p.state(answersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &answers{}, nil
	}
	if err != nil {
		return nil, cli.PathlessError(err)
	}
	a := &answers{}
	if len(text) == 0 {
		a.notes = []string{answersFile + " is empty"}
	}
	for line := range bytes.Lines(text) {
		a.lines = append(a.lines, line)
		var e entry
		old, err := atomicfile.Read(line, answersVersion, &e)
		if err == nil && e.SQL == "" && e.Rejected == "" {
			err = errors.New("it has no statement")
		}
		switch number := len(a.lines); {
		case err != nil:
			a.notes = append(a.notes, fmt.Sprintf("%s: record %d is left out: %v", answersFile, number, err))
			continue
		case old:
			a.old = append(a.old, number)
			a.lines[number-1] = append(atomicfile.Sealed(answersVersion, line), '\n')
		}
		a.all = append(a.all, e)
	}
	slices.Reverse(a.all)
	slices.SortStableFunc(a.all, func(x, y entry) int { return y.At.Compare(x.At) })
	return a, nil
}

// answers are the entries, the last one first. Lines of an earlier version are written anew.
func (p *program) answers() ([]entry, error) {
	a, err := p.readAnswers()
	if err != nil {
		return nil, err
	}
	p.warn(a.notes...)
	if len(a.old) > 0 {
		if err := p.changeAnswers(func(*answers) error { return nil }); err != nil {
			p.warn(answersFile + " cannot be written anew: " + p.line(err))
		}
	}
	return a.all, nil
}

// warn writes what is wrong with a file to standard error.
func (p *program) warn(notes ...string) {
	for _, note := range notes {
		cli.Say(p.err, "texttosql: warning: %s\n", note)
	}
}

// changeAnswers writes the file anew after a change of its lines, for its owner alone.
func (p *program) changeAnswers(change func(*answers) error) error {
	path := p.state(answersFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return cli.PathlessError(err)
	}
	unlock, err := atomicfile.Lock(path)
	if err != nil {
		return cli.PathlessError(err)
	}
	defer unlock()
	a, err := p.readAnswers()
	if err == nil {
		err = change(a)
	}
	if err != nil {
		return err
	}
	if note := atomicfile.OldNote(answersFile, a.old); note != "" {
		p.warn(note)
	}
	lines := a.lines[max(0, len(a.lines)-keptAnswers):]
	return atomicfile.Write(path, bytes.Join(lines, nil), 0o600)
}

// keep adds an answer, or a rejected question, to the file.
func (p *program) keep(e *setup.Engine, r *texttosql.Result, evidence string, failed error) error {
	rejected := failure.Of(failed).Class
	if p.state(answersFile) == "" || r == nil || failed != nil && !slices.Contains(rejections, rejected) {
		return nil
	}
	place, err := placeOf(e)
	if err != nil {
		return err
	}
	one := entry{
		At: time.Now().UTC().Truncate(time.Millisecond), Engine: e.Opened.Engine, Place: place, Scope: e.ScopeKey(),
		Question: r.Question, Evidence: evidence,
		SQL: r.SQL, Confidence: r.Confidence, Level: string(r.Level), Rejected: string(rejected), Models: e.Asked,
		Calls: r.Usage.Calls, Tokens: r.Usage.PromptTokens + r.Usage.CompletionTokens, Money: r.Usage.Money,
	}
	if failed != nil {
		one.SQL, one.Level = "", ""
	}
	if prefix, ok := files[one.Engine]; ok {
		one.DB = prefix + one.Place
	}
	var line bytes.Buffer
	if err := writeJSON(&line, one); err != nil {
		return err
	}
	return p.changeAnswers(func(a *answers) error {
		if n := len(a.lines); n > 0 && !bytes.HasSuffix(a.lines[n-1], []byte("\n")) {
			a.lines[n-1] = append(bytes.Clone(a.lines[n-1]), '\n')
		}
		a.lines = append(a.lines, append(atomicfile.Sealed(answersVersion, line.Bytes()), '\n'))
		return nil
	})
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
	return `ask keeps the question, the statement and the cost of each answer and of each rejected question, and no rows, in texttosql/answers.jsonl below XDG_STATE_HOME or
~/.local/state, which its owner alone can read: the last 1000. --no-log, or TEXTTOSQL_LOG=false, keeps nothing.`
}

// Run lists them, the last one first.
func (h *history) Run(p *program) error {
	all, err := p.answers()
	if err != nil {
		return err
	}
	width := p.width()
	for i, e := range all[:min(len(all), max(h.N, 0))] {
		if h.JSON {
			if err := p.json(e); err != nil {
				return err
			}
			continue
		}
		cost := cli.Cost(llm.Usage{Calls: e.Calls, PromptTokens: e.Tokens, Money: e.Money, Known: true})
		status := cmp.Or(e.Rejected, e.Level, fmt.Sprintf("%.2f", e.Confidence))
		line := fmt.Sprintf("%3d  %s  %s  %s  %s  %s", i+1, e.At.Local().Format("2006-01-02 15:04"), status, cost,
			filepath.Base(e.Place), words.Line(e.Question))
		cli.Say(p.out, "%s\n", textformat.Wrap(line, width))
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
	Number         int  `arg:"" optional:"" help:"Which one, as texttosql log numbers them; default: the last one with an answer."`
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
	if l.Number == 0 {
		l.Number = 1 + slices.IndexFunc(all, func(e entry) bool { return e.Rejected == "" })
	}
	if l.Number < 1 || l.Number > len(all) {
		return &setup.UsageError{Err: fmt.Errorf("there is no answer %d: %d are kept, see texttosql log", max(l.Number, 1),
			len(all))}
	}
	e := all[l.Number-1]
	if e.Rejected != "" {
		return &setup.UsageError{Err: fmt.Errorf("question %d has no answer (%s): ask it again", l.Number, e.Rejected)}
	}
	if l.Show {
		cli.Say(p.out, "%s\n\n%s\n", textformat.Wrap(e.Question, p.width()), e.SQL)
		return nil
	}
	if dsn := cmp.Or(l.DSN(p.getenv), e.DB); dsn != "" {
		l.DB = []string{dsn}
	} else {
		return &setup.UsageError{Err: fmt.Errorf("the answer is about %s: name that database with --db, "+
			"--profile or TEXTTOSQL_DSN", e.Place)}
	}
	return (&statement{Database: l.Database, output: l.output, SQL: &e.SQL, about: &e}).Run(p)
}

// same says why an engine is not the one that an answer came from; nil: it is.
func (e *entry) same(of *setup.Engine) error {
	place, err := placeOf(of)
	switch {
	case err != nil:
		return err
	case e.Engine != of.Opened.Engine || e.Place != place:
		return &setup.UsageError{Err: fmt.Errorf("the answer is about %s, not about %s: name that database", e.Place,
			of.Place)}
	case e.Scope != of.ScopeKey():
		return &setup.UsageError{Err: errors.New("the answer was given in another scope: name it with --scope")}
	}
	return nil
}

// asked writes the question above the rows, where they do not stand alone.
func (e *entry) asked(p *program, w io.Writer, o output, of *setup.Engine, t *result.Table) error {
	if !o.alone() {
		width := p.width()
		sql := textformat.WrapSQL(of.Dialect.Language().Text, e.SQL, width)
		cli.Say(w, "%s\n\n%s\n\n", textformat.Wrap(e.Question, width), sql)
	}
	return o.rows(p, w, t)
}
