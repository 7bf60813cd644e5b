package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// journalVersion is the version of the lines of --out, and lineStart is their beginning.
const (
	journalVersion = 1
	lineStart      = `{"v":`
)

// finished is one finished question in the form of --out and --json. eval.Answers reads it as a line of answers.
type finished struct {
	Version          int      `json:"v"`
	Run              string   `json:"run"` // strategy, model and number of samples
	Dataset          string   `json:"dataset"`
	ID               string   `json:"qid"`
	DB               string   `json:"db_id"`
	SQL              string   `json:"sql"` // "" when there is none
	Confidence       float64  `json:"confidence"`
	EX               int      `json:"ex"`
	VA               int      `json:"va"`
	Calls            int      `json:"calls"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	TokensKnown      bool     `json:"tokens_known"`
	Money            float64  `json:"money,omitempty"`
	Sec              float64  `json:"latency_s"`
	Saved            int      `json:"saved"`
	Error            string   `json:"error,omitempty"`
	*Answer                   // nil without an answer
	Asked            bool     `json:"asked,omitempty"` // it is a question back
	Answerable       *float64 `json:"answerable,omitempty"`
	Kind             string   `json:"model_kind"`
	*Figures                  // of a qasql; nil for other strategies

	Voters []voterFigures `json:"voters,omitempty"` // of a petsql

	Template string         `json:"template"` // of the gold
	Contract stats.Contract `json:"contract"` // for the question's database
}

// Answer is how an answer was found.
type Answer struct {
	Level     vote.Level `json:"level,omitempty"`     // of its confidence
	Doubts    []string   `json:"doubts,omitempty"`    // rules that it breaks
	Repairs   int        `json:"repairs,omitempty"`   // repairs of any sample
	Overruled bool       `json:"overruled,omitempty"` // by a judge or a correction, against the count
	Second    string     `json:"second,omitempty"`    // "equal" or "differs": what a second model says of it
}

// answerOf returns how the winner of a ballot was found; nil: nobody won.
func answerOf(r *texttosql.Result) *Answer {
	winner, err := r.Ballot.Winner()
	if err != nil {
		return nil
	}
	a := &Answer{Level: r.Ballot.Level(), Overruled: r.Ballot.Overruled}
	for _, f := range winner.Doubts {
		a.Doubts = append(a.Doubts, f.Rule)
	}
	for _, step := range r.Steps {
		if step.Action == "repair" {
			a.Repairs++
		}
	}
	if r.Ballot.Second != "" {
		a.Second = "equal"
	}
	if slices.ContainsFunc(r.Warnings, func(w trace.Warning) bool { return w.Code == "second-opinion" }) {
		a.Second = "differs"
	}
	return a
}

// journal keeps finished questions in a file. Without a file it keeps nothing.
type journal struct {
	file     *os.File
	finished map[string]finished // read at the start
}

// openJournal opens or starts the file of a run. A last line without its end was cut by a crash and is removed, if it
// begins like a journal line. A file of another kind is an error and stays as it is. Lines of another run are an error,
// because two runs in one file cannot be told apart later. So are lines of another dataset, whose questions may have
// the same ids.
func openJournal(path, run, dataset string) (*journal, error) {
	j := &journal{finished: make(map[string]finished)}
	if path == "" {
		return j, nil
	}
	// With O_APPEND two programs on one file, by mistake, do not write over each other.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err // the error names the file
	}
	j.file = file
	if err := j.load(run, dataset); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

func (j *journal) load(run, dataset string) error {
	r := bufio.NewReader(j.file)
	var whole int64
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		cut := errors.Is(err, io.EOF)
		if err != nil && !cut {
			return err
		}
		if head := min(len(line), len(lineStart)); cut && string(line[:head]) == lineStart[:head] {
			break
		}
		f, err := readFinished(line)
		if err != nil || cut {
			return fmt.Errorf("line %d: %w; give another --out", n, cmp.Or(err, errNoLine))
		}
		if f.Run != run {
			return fmt.Errorf("line %d: of the run %q, this one is %q; give another --out", n, f.Run, run)
		}
		if f.Dataset != dataset {
			return fmt.Errorf("line %d: of the dataset %q, this run is about %q; give another --out", n, f.Dataset, dataset)
		}
		j.finished[f.ID] = f
		whole += int64(len(line))
	}
	return j.file.Truncate(whole)
}

var errNoLine = errors.New("no line of lab run")

// readFinished reads a line of --out.
func readFinished(line []byte) (f finished, err error) {
	if json.Unmarshal(line, &f) != nil || f.ID == "" {
		return f, errNoLine
	}
	if f.Version != journalVersion {
		return f, fmt.Errorf("version %d, this program writes %d", f.Version, journalVersion)
	}
	return f, nil
}

// keep appends one line with one write, so that a crash cuts at most the last line.
func (j *journal) keep(f finished) error {
	if j.file == nil {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return err
	}
	_, err := j.file.Write(b.Bytes())
	return err
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
