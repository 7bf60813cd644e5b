package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/texttosql/texttosql/trace"
)

// Answer is one statement that a model wrote for a question.
type Answer struct {
	Run      string // the system or setting that gave the answer; for files without one, the file's name
	Question string // id of the question; "" in files that only number their lines
	Place    int    // number of the question in published files, see [Question]; used if Question is ""
	DB       string // id of its database; "" if the file does not have it
	SQL      string // the stored statement, never cleaned
	Model    string // the author of SQL; "" if the file does not have it
	Sample   string // which of several samples it is; "" for a single one

	Confidence float64 // the confidence of the system, 0..1; 0 if the file does not have it

	// Usage and Wall are the cost of the answer, zero if the file does not have it.
	Usage trace.Usage
	Wall  time.Duration

	// Recorded is the outcome of a plain execution of the statement. Only files made to test a scorer have it;
	// it is nil in others.
	Recorded *recorded

	Line int // line in its file, from 1
}

// recorded is the outcome of an answer as a file has it: made with SQLite 3.40,
// read-only, within 10 s.
type recorded struct {
	Status   string `json:"status"`    // "ok", "error", "timeout", "toomany" (over 200,000 rows), "noselect"
	SetMatch bool   `json:"set_match"` // its result equals the gold's, as sets of rows
	BagMatch bool   `json:"bag_match"` // its result equals the gold's, as bags of rows
	Rows     int    `json:"nrows"`     // rows of its result; 0 where there is none
	GoldRows int    `json:"gold_rows"` // rows of the gold's result; 0 where there is none
}

// Answers reads a file of answers, gzipped or not, one answer at a time, so the file may be larger than memory. It
// detects the format by content:
//
//   - lines of JSON objects {run, qid, db_id, sql}, with {model, sample} for samples, and optionally {exec} and the
//     costs {calls, prompt_tokens, response_tokens, latency_s}. A JSON list of the same and CSV work, too. Ids and
//     databases have the names of [ReadDataset]. The key sql may be pred_sql, predicted_sql, prediction, SQL or query;
//   - BIRD's predict_dev.json, an object from places to "SQL\t----- bird -----\tdatabase";
//   - Spider's prediction file, one statement per line. A database after a tab stays in SQL; [Scorer.ScoreRuns],
//     which knows the right one, removes it. An empty line is an answer without a statement.
//
// The sequence ends with the first error, which names the file and the line.
func Answers(path string) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		s, err := openSource(path)
		if err != nil {
			yield(Answer{}, err)
			return
		}
		defer s.Close()
		s.answers(yield)
	}
}

func (s *source) answers(yield func(Answer, error) bool) {
	run := runName(s.name)
	first, err := s.first()
	switch {
	case err != nil:
		yield(Answer{}, err)
	case first == '{' && !hasEnding(s.name, ".jsonl"):
		s.answersObject(run, yield)
	case first == '{', first == '[', hasEnding(s.name, ".csv"):
		s.answerRecords(run, yield)
	default:
		s.answerLines(run, yield)
	}
}

// answerRecords reads the forms that [ReadDataset] knows too.
func (s *source) answerRecords(run string, yield func(Answer, error) bool) {
	for r, err := range s.records() {
		var a Answer
		if err == nil {
			a, err = s.answer(r, run)
		}
		if !yield(a, err) || err != nil {
			return
		}
	}
}

func runName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

func hasEnding(path, ending string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ending)
}

// answersObject reads what may be BIRD's object, or JSON lines in a file with
// another ending. An object with a statement in it is a line.
func (s *source) answersObject(run string, yield func(Answer, error) bool) {
	data, err := s.all()
	if err != nil {
		yield(Answer{}, err)
		return
	}
	s.text.Reset(bytes.NewReader(data))
	var head map[string]json.RawMessage
	json.NewDecoder(bytes.NewReader(data)).Decode(&head) // an error comes again below
	for _, name := range statementNames {
		if head[name] != nil {
			s.answerRecords(run, yield)
			return
		}
	}
	for a, err := range s.birdObject(data, run) {
		if !yield(a, err) || err != nil {
			return
		}
	}
}

// birdMark stands between statement and database in BIRD's prediction files.
const birdMark = "\t----- bird -----\t"

func (s *source) birdObject(data []byte, run string) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		dec := json.NewDecoder(bytes.NewReader(data))
		at := lineOf(data, dec)
		dec.Token()
		for dec.More() {
			a := Answer{Run: run, Line: at()}
			key, err := dec.Token()
			if err != nil {
				yield(a, s.fault(a.Line, "", badJSON(err)))
				return
			}
			name := fmt.Sprint(key)
			var text any
			if err := dec.Decode(&text); err != nil {
				yield(a, s.fault(a.Line, name, badJSON(err)))
				return
			}
			a.Place, err = strconv.Atoi(name)
			if err != nil || a.Place < 0 {
				yield(a, s.fault(a.Line, name, errors.New("neither a field sql, nor the number of a question")))
				return
			}
			switch v := text.(type) {
			case string:
				sql, db, found := strings.Cut(v, birdMark)
				if !found {
					yield(a, s.fault(a.Line, name, errors.New(`no "\t----- bird -----\t" between statement and database`)))
					return
				}
				a.SQL, a.DB = sql, strings.TrimSpace(db)
			case float64, nil:
				// BIRD's own tools write 0 for a question without an answer.
			default:
				yield(a, s.fault(a.Line, name, errors.New("neither a statement nor 0")))
				return
			}
			if !yield(a, nil) {
				return
			}
		}
		if _, err := dec.Token(); err != nil {
			yield(Answer{}, s.fault(at(), "", badJSON(err)))
		}
	}
}

// answerLines reads one statement a line.
func (s *source) answerLines(run string, yield func(Answer, error) bool) {
	for place := 0; ; place++ {
		line, err := s.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(Answer{}, err)
			return
		}
		if bytes.IndexByte(line, 0) >= 0 || place == 0 && !utf8.Valid(line) {
			yield(Answer{}, s.fault(s.line, "", errors.New("no text: this is no file of answers")))
			return
		}
		a := Answer{Run: run, Place: place, Line: s.line}
		a.SQL, a.DB, _ = strings.Cut(string(line), birdMark)
		a.SQL = strings.TrimSpace(a.SQL)
		if !yield(a, nil) {
			return
		}
	}
}

// statementNames are the names by which files of answers call the statement.
var statementNames = []string{"sql", "pred_sql", "predicted_sql", "prediction", "SQL", "query"}

// answer reads one object.
func (s *source) answer(r record, run string) (a Answer, err error) {
	a = Answer{Line: r.line}
	find := func(names []string) string {
		at := slices.IndexFunc(names, func(n string) bool { return r.get(n) != nil })
		if at < 0 {
			return ""
		}
		return names[at]
	}
	id, sql := find(idNames), find(statementNames)
	if sql == "" {
		return a, s.fault(r.line, statementNames[0], errors.New("missing: this is no file of answers"))
	}
	if id == "" {
		place, ok, err := r.integer("idx")
		if err != nil || !ok {
			return a, s.fault(r.line, idNames[0], errors.New("missing: nothing says which question is answered"))
		}
		a.Place = place
	}
	for _, f := range []struct {
		to   *string
		name string
	}{
		{&a.Run, "run"}, {&a.Question, id}, {&a.SQL, sql}, {&a.DB, find(databaseNames)},
		{&a.Model, "model"}, {&a.Sample, "sample"},
	} {
		if *f.to, err = r.text(f.name); err != nil {
			return a, s.fault(r.line, f.name, err)
		}
	}
	if id != "" && a.Question == "" {
		return a, s.fault(r.line, id, errors.New("empty"))
	}
	if a.Run == "" {
		a.Run = run
	}
	if err := s.costs(r, &a); err != nil {
		return a, err
	}
	if raw := r.get("exec"); raw != nil {
		a.Recorded = new(recorded)
		if err := json.Unmarshal(raw, a.Recorded); err != nil {
			return a, s.fault(r.line, "exec", badJSON(err))
		}
	}
	return a, nil
}

// costs reads what an answer cost, and how sure its system was. A file with tokens and no calls is one of
// single calls.
func (s *source) costs(r record, a *Answer) error {
	tokens := false
	for _, f := range []struct {
		to   *int
		name string
	}{
		{&a.Usage.PromptTokens, "prompt_tokens"}, {&a.Usage.CompletionTokens, "response_tokens"},
		{&a.Usage.CompletionTokens, "completion_tokens"}, {&a.Usage.Calls, "calls"},
	} {
		n, ok, err := r.integer(f.name)
		if err != nil {
			return s.fault(r.line, f.name, err)
		}
		if !ok {
			continue
		}
		*f.to = n
		tokens = tokens || f.to != &a.Usage.Calls
	}
	if tokens {
		a.Usage.Calls = max(a.Usage.Calls, 1)
		a.Usage.Known = true
	}
	sure, _, err := r.number("confidence")
	if err == nil && !(sure >= 0 && sure <= 1) {
		err = fmt.Errorf("%v is not in 0..1", sure)
	}
	if err != nil {
		return s.fault(r.line, "confidence", err)
	}
	a.Confidence = sure
	for _, name := range []string{"latency_s", "sec"} {
		seconds, ok, err := r.number(name)
		if err != nil {
			return s.fault(r.line, name, err)
		}
		if ok {
			a.Wall = time.Duration(seconds * float64(time.Second))
			return nil
		}
	}
	return nil
}
