package texttosql

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestJournalCannotBeWritten: the answer that could not be kept is given all the
// same, the error after it, and nothing is written behind half a line.
func TestJournalCannotBeWritten(t *testing.T) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "test.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT x FROM t"), Repeat: true}}}
	e, err := New(db, model, WithStrategy(strategy.Direct{}))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := e.openJournal(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	j.file.Close() // as a disk that is full from here on
	var got []Answer
	questions := slices.Values([]Question{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}, {Text: "e"}, {Text: "f"}})
	err = e.askAll(t.Context(), questions, 2, j, func(a Answer) bool {
		got = append(got, a)
		return true
	})
	if !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), "texttosql: journal") {
		t.Errorf("the error is %v", err)
	}
	if len(got) != 1 || got[0].Err != nil || got[0].Result.SQL == "" || got[0].Question.Text != "a" {
		t.Errorf("answers %+v, want the one that was paid for", got)
	}
	if n := len(model.Requests()); n > 3 {
		t.Errorf("%d calls: it went on without a journal", n)
	}
}

// TestJournalIsBeingWritten: a batch that begins while another one writes a line
// takes nothing away, whether the line gets its end or not.
func TestJournalIsBeingWritten(t *testing.T) {
	want := journalHeader{Version: journalVersion}
	encode := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	answered := func(q string) journalLine {
		return journalLine{Question: Question{Text: q}, Outcome: "answered", Result: &Result{Outcome: strategy.Outcome{SQL: "SELECT 1"}}}
	}
	line := encode(answered("theirs"))
	for cut := range len(line) + 1 {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		theirs, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		write := func(text string) {
			if _, err := theirs.WriteString(text); err != nil {
				t.Fatal(err)
			}
		}
		open := func() *journal {
			file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { file.Close() })
			j := &journal{file: file, finished: map[Question]Answer{}}
			if err := j.load(want); err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			return j
		}
		write(encode(want) + line[:cut])
		ours := open()
		for i, crashed := range []bool{false, true} {
			if !crashed {
				write(line[cut:])
			}
			mine := Answer{Question: Question{Text: "ours", Samples: i + 1}, Result: &Result{Outcome: strategy.Outcome{SQL: "SELECT 2"}}}
			if err := ours.keep(mine); err != nil {
				t.Fatal(err)
			}
			read := open()
			if _, ok := read.find(mine.Question); !ok {
				t.Errorf("cut at %d, crashed %v: our line is lost", cut, crashed)
			}
			if _, ok := read.find(Question{Text: "theirs"}); !ok && !crashed {
				t.Errorf("cut at %d: their line is lost", cut)
			}
			if err := os.WriteFile(path, []byte(encode(want)+line[:cut]), 0o600); err != nil {
				t.Fatal(err)
			}
			ours = open()
		}
	}
}

// TestIsFinished tells what would end the same way again.
func TestIsFinished(t *testing.T) {
	down := &llm.Error{Class: llm.ClassOverloaded}
	rejected := []vote.Candidate{{Rejected: "why"}}
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"answered", nil, true},
		{"abstained", &strategy.AbstainedError{}, true},
		{"every reply rejected", &strategy.NoCandidateError{Rejected: rejected}, true},
		{"too few votes", &strategy.NoCandidateError{Rejected: rejected, Votes: 1, Needed: 2}, true},
		{"a sample failed", &strategy.NoCandidateError{Rejected: rejected, Failed: []error{down}}, false},
		{"too few votes because samples failed", &strategy.NoCandidateError{Failed: []error{down}, Votes: 1, Needed: 2}, false},
		{"provider", down, false},
		{"budget", ErrBudget, false},
		{"budget of a sample", &strategy.NoCandidateError{Failed: []error{llm.ErrBudget}}, false},
		{"database", errors.New("disk I/O error"), false},
	}
	for _, tt := range tests {
		if got := isFinished(tt.err); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// FuzzJournal: whatever a file holds, reading it ends in an error or in a journal
// that can be appended to and read again with all that it had.
func FuzzJournal(f *testing.F) {
	want := journalHeader{Version: journalVersion, Strategy: "s", Models: "m", Schema: "x"}
	header, err := json.Marshal(want)
	if err != nil {
		f.Fatal(err)
	}
	line := func(outcome string) string {
		b, err := json.Marshal(journalLine{Question: Question{Text: outcome}, Outcome: outcome, Result: &Result{Outcome: strategy.Outcome{
			SQL: "SELECT 1", Candidates: []vote.Candidate{{Rejected: "no"}},
		}}})
		if err != nil {
			f.Fatal(err)
		}
		return string(b) + "\n"
	}
	head := string(header) + "\n"
	for _, text := range []string{
		"", head, string(header), head[:7], head + line("answered") + line("abstained") + line("no-candidate"), head + line("answered")[:30], head + line("maybe"),
		head + "null\n", head + "\n", "{}\n", "\x00\xff",
		head + `{"asked":{},"outcome":"answered","result":{"sql":"x","trace":{"version":1,"root":{"name":"r"}}}}` + "\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		open := func() (*journal, error) {
			file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			j := &journal{file: file, finished: map[Question]Answer{}}
			err = j.load(want)
			if err != nil {
				file.Close()
			}
			return j, err
		}
		j, err := open()
		if err != nil {
			if after, _ := os.ReadFile(path); !bytes.Equal(after, text) {
				t.Fatalf("a file that was refused was changed")
			}
			return
		}
		for q, a := range j.finished {
			if a.Result == nil || !a.Resumed || a.Err == nil && a.Result.SQL == "" {
				t.Fatalf("%q came back as %+v", q.Text, a)
			}
		}
		asked := Question{ID: "new", Text: "one more"}
		if err := j.keep(Answer{Question: asked, Result: &Result{Outcome: strategy.Outcome{SQL: "SELECT 2"}}}); err != nil {
			t.Fatal(err)
		}
		j.close()
		again, err := open()
		if err != nil {
			t.Fatalf("it cannot be read again: %v", err)
		}
		defer again.close()
		if _, ok := again.find(asked); !ok || len(again.finished) < len(j.finished) {
			t.Fatalf("%d finished questions became %d", len(j.finished), len(again.finished))
		}
	})
}

// TestResumedAnswersAreNoReplies: an answer from the journal says nothing about the provider of today.
func TestResumedAnswersAreNoReplies(t *testing.T) {
	down := Answer{Err: &llm.Error{Class: llm.ClassPermanent, Message: "no such model"}}
	refused := &Result{Outcome: strategy.Outcome{Candidates: make([]vote.Candidate, 1)}}
	for _, tt := range []struct {
		why   string
		seen  []Answer
		wants bool
	}{
		{"only the journal answered", []Answer{{Resumed: true}, down, down}, true},
		{"the provider answered", []Answer{{}, down, down}, false},
		{"a reply that was refused is a reply", []Answer{{Err: ErrNoCandidate, Result: refused}, down, down}, false},
	} {
		var f failures
		for _, a := range tt.seen {
			f.note(a)
		}
		if err := f.hopeless(); (err != nil) != tt.wants {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}
