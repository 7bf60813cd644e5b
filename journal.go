package texttosql

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// journalVersion is the version of the lines of a journal.
const journalVersion = 2

// A journal is a JSONL file: a header, then a line for each finished question.
type journalHeader struct {
	Version  int    `json:"version"`
	Strategy string `json:"strategy"`
	Models   string `json:"models"`   // their names
	Schema   string `json:"schema"`   // schema.Schema.Fingerprint
	Settings string `json:"settings"` // a hash of the options that change an answer
	Fields   string `json:"fields"`   // a hash of the fields of the strategy; "" in files of earlier releases
}

func (h journalHeader) String() string {
	return fmt.Sprintf("version %d, %s, models %q, schema %.12s, settings %.12s, fields %.12s",
		h.Version, h.Strategy, h.Models, h.Schema, h.Settings, h.Fields)
}

type journalLine struct {
	Question Question `json:"asked"`
	Outcome  string   `json:"outcome"` // "answered", "abstained" or "no-candidate"
	Message  string   `json:"message,omitempty"`
	Min      float64  `json:"min_confidence,omitempty"` // of "abstained"
	Votes    int      `json:"votes,omitempty"`          // of "no-candidate" for a quorum
	Needed   int      `json:"needed,omitempty"`
	Result   *Result  `json:"result"`
}

// settings is a hash of those options that change an answer and have one form in writing. What keeps statements from
// running changes no finished answer: it is read again under the options of its reader.
func (c *config) settings() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %q", c.samples, c.seed, c.instructions)
	if c.askBelow > 0 {
		fmt.Fprintf(h, " ask below %v", c.askBelow)
	}
	for _, p := range c.exemplars {
		fmt.Fprintf(h, " %q %q", p.Question, p.SQL)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fields is a hash of the fields of the strategy, as far as they can be written.
func (c *config) fields() string {
	h := sha256.New()
	writeFields(h, c.strategy)
	return hex.EncodeToString(h.Sum(nil))
}

// header says with what the engine answers questions, over a schema of that fingerprint.
func (e *Engine) header(fingerprint string) journalHeader {
	names := make([]string, len(e.models))
	for i, m := range e.models {
		names[i] = llm.NameOf(m)
	}
	return journalHeader{
		Version: journalVersion, Strategy: fmt.Sprintf("%T", e.strategy),
		Models: strings.Join(names, ", "), Schema: fingerprint, Settings: e.settings(), Fields: e.fields(),
	}
}

// journal keeps finished questions. The nil journal keeps nothing. Safe for concurrent use.
type journal struct {
	finished map[Question]Answer // read at the start, never changed after
	damaged  []error             // of the lines that could not be read, by number

	mu     sync.Mutex
	file   *os.File
	torn   bool  // the file ends within a line: the next one begins with a line end
	broken error // of a line that may be written in part: nothing may follow it
}

// openJournal opens or starts the journal at path; "" is none.
func (e *Engine) openJournal(ctx context.Context, path string) (*journal, error) {
	if path == "" {
		return nil, nil
	}
	snap, err := e.snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	header := e.header(snap.schema.Fingerprint())
	// Appending keeps two batches on one file, by mistake, from writing over each other: each line is there as a whole.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("texttosql: journal: %w", err)
	}
	j := &journal{file: f, finished: map[Question]Answer{}}
	if err := j.load(header); err != nil {
		f.Close()
		return nil, fmt.Errorf("texttosql: journal %s: %w", path, err)
	}
	if len(j.damaged) > 0 && e.logger != nil {
		e.logger.WarnContext(ctx, "texttosql: a journal has damaged lines; their questions are asked again",
			"file", path, "lines", len(j.damaged), "first", j.damaged[0].Error())
	}
	return j, nil
}

// load reads the file and leaves it ready to be appended to. A line that cannot be read is passed over: it costs its
// question, not the file. The error is that of a file which is no journal of this engine.
//
// A last line without its end was cut by a crash, or another batch is just writing it. So it stays, the next line
// begins on a new one, and readers pass over what was cut. Only what is no start of a line of ours is taken away.
func (j *journal) load(want journalHeader) error {
	r := bufio.NewReader(j.file)
	var whole int64
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		if last && n == 1 {
			if header, _ := json.Marshal(want); !bytes.HasPrefix(header, line) {
				return errNoJournal // and not to be overwritten
			}
			if len(line) > 0 { // not of an empty file, which another batch may begin by now
				if err := j.file.Truncate(0); err != nil {
					return err
				}
			}
			return j.write(want)
		}
		bare := bytes.TrimSuffix(line, []byte("\n"))
		if n == 1 || len(bare) > 0 && !cutShort(bare) {
			switch err := j.read(n, bare, want); {
			case err != nil && last && n > 1:
				return j.file.Truncate(whole)
			case err != nil && n == 1:
				return fmt.Errorf("line 1: %w", err)
			case err != nil:
				j.damaged = append(j.damaged, fmt.Errorf("line %d: %w", n, err))
			}
		}
		if last {
			j.torn = len(bare) > 0
			return nil
		}
		whole += int64(len(line))
	}
}

// cutShort reports whether line, which is not empty, is the start of an object and not all of it.
func cutShort(line []byte) bool {
	var all json.RawMessage
	return line[0] == '{' && errors.Is(json.NewDecoder(bytes.NewReader(line)).Decode(&all), io.ErrUnexpectedEOF)
}

func (j *journal) read(n int, line []byte, want journalHeader) error {
	if n == 1 {
		var got journalHeader
		if err := json.Unmarshal(line, &got); err != nil {
			return fmt.Errorf("%w: %w", errNoJournal, err)
		}
		if got.Version > 0 && got.Version != want.Version {
			return fmt.Errorf("its lines are of version %d, this texttosql reads version %d: use another file", got.Version, want.Version)
		}
		if got.Fields == "" {
			got.Fields = want.Fields
		}
		if got != want {
			return fmt.Errorf("written by another engine (%v); this one is %v: use another file", got, want)
		}
		return nil
	}
	if again, err := json.Marshal(want); err != nil || bytes.Equal(again, line) {
		return err // two batches began the file at the same moment
	}
	var l journalLine
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	if l.Result == nil {
		return errors.New("a line without a result")
	}
	a := Answer{Question: l.Question, Result: l.Result, Resumed: true}
	switch l.Outcome {
	case "answered":
		if l.Result.SQL == "" {
			return errors.New("an answer without a statement")
		}
	case "abstained":
		a.Err = &strategy.AbstainedError{Confidence: l.Result.Confidence, Min: l.Min}
	case "no-candidate":
		a.Err = &strategy.NoCandidateError{Rejected: l.Result.WithoutVote(), Votes: l.Votes, Needed: l.Needed}
	default:
		return fmt.Errorf("unknown outcome %q", l.Outcome)
	}
	j.finished[l.Question] = a
	return nil
}

var errNoJournal = errors.New("no journal of AskAll")

func (j *journal) find(q Question) (Answer, bool) {
	if j == nil {
		return Answer{}, false
	}
	a, ok := j.finished[q.asWritten()]
	a.Question = q
	return a, ok
}

// asWritten is q as it comes back from a journal: JSON holds valid UTF-8 only.
func (q Question) asWritten() Question {
	valid := func(s string) string { return strings.Map(func(r rune) rune { return r }, s) }
	q.ID, q.Text, q.Evidence = valid(q.ID), valid(q.Text), valid(q.Evidence)
	return q
}

// keep appends a finished question. The error is also that of every question after one that could not be written.
func (j *journal) keep(a Answer) error {
	if j == nil || a.Resumed || a.Result == nil || !isFinished(a.Err) {
		return nil
	}
	l := journalLine{Question: a.Question, Outcome: outcomeOf(a.Err), Result: a.Result}
	var abstained *strategy.AbstainedError
	if errors.As(a.Err, &abstained) {
		l.Min = abstained.Min
	}
	var none *strategy.NoCandidateError
	if errors.As(a.Err, &none) {
		l.Votes, l.Needed = none.Votes, none.Needed
	}
	if a.Err != nil {
		l.Message = a.Err.Error()
	}
	return j.write(l)
}

// isFinished reports whether the same question would end the same way: every sample got its reply, and the replies
// decided.
func isFinished(err error) bool {
	switch outcomeOf(err) {
	case "answered", "abstained":
		return true
	case "no-candidate":
		var none *strategy.NoCandidateError
		return errors.As(err, &none) && len(none.Failed) == 0
	}
	return false
}

// write appends one line with one call, so that a crash cuts at most the last.
func (j *journal) write(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("texttosql: journal: %w", err)
	}
	b = append(b, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	if j.torn {
		b = slices.Insert(b, 0, '\n')
		j.torn = false
	}
	if _, err := j.file.Write(b); err != nil {
		j.broken = fmt.Errorf("texttosql: journal: %w", err)
	}
	return j.broken
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
