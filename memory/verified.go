package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/words"
)

// ReadExemplars reads a file of solved questions. Each line is a JSON object with "question" and "sql", and may have
// "id", "evidence", "past": true ([Exemplar].Past; then "question" may be missing) and the "sum" of
// [OpenVerifiedAnswers]. Empty lines are skipped. An error about a line has its number.
func ReadExemplars(path string) (pairs []Exemplar, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("memory: reading exemplars: %w", err)
	}
	return pairs, readLines(path, text, 0, nil, func(p verifiedLine, _ int, _ bool) {
		if p.Removed {
			pairs = slices.DeleteFunc(pairs, func(have Exemplar) bool {
				return placeOf(have.Scope, have.Question) == placeOf(p.Scope, p.Question)
			})
		} else {
			pairs = append(pairs, p.Exemplar)
		}
	})
}

// pairsVersion is the version of a line of a file of pairs that a program wrote.
const pairsVersion = 1

// readLines gives the pair of each line of text to keep, with the number of its line and whether it lacks a checksum or
// a version; before is the number of lines of the file before text. cut gets the numbers of lines without an end;
// without cut they are errors.
func readLines(file string, text []byte, before int, cut func(line int),
	keep func(p verifiedLine, line int, old bool)) error {
	for line := range bytes.Lines(text) {
		before++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var p verifiedLine
		old, err := atomicfile.Read(line, pairsVersion, &p)
		if cut != nil && atomicfile.IsCut(err) {
			cut(before)
			continue
		}
		if err == nil {
			err = p.valid()
		}
		if err != nil {
			return &fileerr.Memory{File: file, Line: before, Err: err}
		}
		keep(p, before, old)
	}
	return nil
}

// ErrNotPersisted is the error of texttosql's Confirm if confirmed answers have no file (Options.VerifiedAnswers).
// The engine keeps the answer until the program ends.
var ErrNotPersisted = errors.New("memory: the answer is kept until the program ends, and forgotten then; " +
	"Options.VerifiedAnswers keeps it in a file")

// VerifiedAnswers keeps answers that a person confirmed, as exemplars for later questions. The zero VerifiedAnswers
// keeps them in memory, [OpenVerifiedAnswers] in a file, [VerifiedAnswersOn] in another store. A question that is
// confirmed again, case and white space aside, replaces the earlier answer of its scope. Safe for concurrent use.
type VerifiedAnswers struct {
	turns turns
	mu    sync.Mutex      // of what follows; only turns.work lets a call change it, but for given
	pairs []Exemplar      // in the order of the first confirmation
	given bool            // a caller has pairs, so no element of it may change
	place map[string]int  // scope and folded question -> index in pairs
	taken map[string]bool // scope and statement of answers that were removed or replaced
	store AnswerStore     // nil: in memory
	read  int64           // bytes of the store that are in pairs
	lines int             // lines of these bytes
	old   map[string]int  // as in place -> its line, which has no checksum or no version
	notes []string
}

// AnswerStore stores the text of verified answers if a file does not fit, for example for processes on several
// machines: see [VerifiedAnswersOn]. The text only grows. Safe for concurrent use, also by several processes. When
// the context of a question ends, it does not wait for a call; at most 32 calls of an Engine go on then.
type AnswerStore interface {
	// String names the place in errors. It holds no secret.
	String() string
	// Append adds lines, each with its line end, after the text. They are durable on return. After an error they are
	// stored completely or not at all.
	Append(lines []byte) error
	// Read returns the text after its first bytes, in the same order for every process. A text that was returned once
	// stays the beginning of every later one.
	Read(after int64) ([]byte, error)
}

// OpenVerifiedAnswers opens or makes a file of confirmed answers, in the form of [ReadExemplars]. Close closes it.
//
// Lines are only appended. Each is one write and has a checksum as its last field, "sum". So several processes may use
// one file, and each sees the answers of the others. A line that a crash cut short is skipped, with a note
// ([VerifiedAnswers.Notes]). Any other broken line, and one that was changed after it was written, is an error that
// names it. A line that a person or an earlier version wrote needs no checksum. It is read once, with a note, and
// appended again with a checksum. The new line counts from then on.
func OpenVerifiedAnswers(path string) (*VerifiedAnswers, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("memory: confirmed answers: %w", err)
	}
	c, err := VerifiedAnswersOn(answerFile{f})
	if err != nil {
		f.Close()
	}
	return c, err
}

// VerifiedAnswersOn reads verified answers from a store, in the form of [OpenVerifiedAnswers], and stores new ones
// there. Each use reads the lines that other processes added. A broken line is an error, here and at each later use.
func VerifiedAnswersOn(store AnswerStore) (*VerifiedAnswers, error) {
	c := &VerifiedAnswers{store: store}
	if err := c.refresh(); err != nil {
		return nil, err
	}
	return c, nil
}

// answerFile is a file that is only appended to.
type answerFile struct{ *os.File }

func (f answerFile) String() string { return f.Name() }

func (f answerFile) Append(lines []byte) error {
	_, err := f.Write(slices.Concat([]byte("\n"), lines)) // the line end in front ends a line that a crash cut short
	if err == nil {
		err = f.Sync()
	}
	return err
}

func (f answerFile) Read(after int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(f.File, after, math.MaxInt64-after))
}

// Notes returns facts about the stored answers for an operator; nil if there are none. Ready of an Engine warns of it.
func (c *VerifiedAnswers) Notes() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

// Add stores one answer. A Past pair never becomes an answer. A stored answer is durable when Add returns.
func (c *VerifiedAnswers) Add(p Exemplar) error {
	if err := p.valid(); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	c.turns.work.Lock()
	defer c.turns.work.Unlock()
	return c.keep(verifiedLine{Exemplar: p})
}

// keep writes a line and reads it.
func (c *VerifiedAnswers) keep(p verifiedLine) error {
	if err := c.write(p); err != nil {
		return err
	}
	return c.refresh()
}

// write appends a line to the store, or to memory if there is none.
func (c *VerifiedAnswers) write(p verifiedLine) error {
	if c.store == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.put(p, 0, false)
		return nil
	}
	line, err := atomicfile.Record(pairsVersion, p)
	if err != nil {
		return err
	}
	if err := c.store.Append(append(line, '\n')); err != nil {
		return fmt.Errorf("memory: keeping a confirmed answer: %w", err)
	}
	return nil
}

// Remove takes back the answer of a scope to a question, case and white space aside. Without such an answer it does
// nothing. A store gets a line about it, so other processes see it too.
func (c *VerifiedAnswers) Remove(scope, question string) error {
	c.turns.work.Lock()
	defer c.turns.work.Unlock()
	err := c.refresh()
	i, known := c.place[placeOf(scope, question)]
	if err != nil || !known {
		return err
	}
	return c.keep(verifiedLine{Exemplar: c.pairs[i], Removed: true})
}

// Removed reports whether an answer of a scope with that statement was removed or replaced, and none has been confirmed
// with it since. An answer that these VerifiedAnswers never had was not removed. A nil VerifiedAnswers has removed
// nothing.
func (c *VerifiedAnswers) Removed(scope, sql string) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken[scope+"\x00"+sql]
}

// verifiedLine is a line of a file: an answer, or the end of one.
type verifiedLine struct {
	Exemplar
	Removed bool `json:"removed,omitempty"`
}

// placeOf is the key of an answer.
func placeOf(scope, question string) string { return scope + "\x00" + words.Fold(question) }

// drop takes a pair out of memory. A slice that a caller has does not change.
func (c *VerifiedAnswers) drop(i int) {
	c.pairs, c.given = slices.Delete(slices.Clone(c.pairs), i, i+1), false
	clear(c.place)
	for at, p := range c.pairs {
		c.place[placeOf(p.Scope, p.Question)] = at
	}
}

// Pairs returns the answers of all scopes in the order of their first confirmation, including answers from other
// processes. Do not change the slice. It stays the same slice until an answer is added. A nil VerifiedAnswers has no
// answers.
func (c *VerifiedAnswers) Pairs() ([]Exemplar, error) {
	if c == nil {
		return nil, nil
	}
	var err error
	if c.store != nil {
		err = c.turns.read(c.refresh)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given = true
	return slices.Clip(c.pairs), err // so that an append copies it
}

// PairsOf returns the answers of one scope, by its exec.Scope.Key; "": the answers without a scope.
func (c *VerifiedAnswers) PairsOf(scope string) ([]Exemplar, error) {
	all, err := c.Pairs()
	return slices.DeleteFunc(slices.Clone(all), func(p Exemplar) bool { return p.Scope != scope }), err
}

// Close closes the file of OpenVerifiedAnswers. Any other VerifiedAnswers needs no Close.
func (c *VerifiedAnswers) Close() error {
	if c == nil {
		return nil
	}
	c.turns.work.Lock()
	defer c.turns.work.Unlock()
	if f, ok := c.store.(answerFile); ok {
		return f.Close()
	}
	return nil
}

// refresh reads the lines that were appended to the store since the last call. It appends those again that lack a
// checksum or a version, with both. Its caller holds turns.work.
func (c *VerifiedAnswers) refresh() error {
	if c.store == nil {
		return nil
	}
	if err := c.readOn(); err != nil || len(c.old) == 0 {
		return err
	}
	c.note(atomicfile.OldNote(c.store.String(), slices.Sorted(maps.Values(c.old))))
	byPlace := func(a, b string) int { return cmp.Compare(c.place[a], c.place[b]) }
	for _, key := range slices.SortedFunc(maps.Keys(c.old), byPlace) {
		if err := c.write(verifiedLine{Exemplar: c.pairs[c.place[key]]}); err != nil {
			c.note(fmt.Sprintf("%s: line %d stays as it is: %v", c.store.String(), c.old[key], err))
			break
		}
	}
	clear(c.old)
	return c.readOn()
}

// note keeps a fact for an operator.
func (c *VerifiedAnswers) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, text)
}

// readOn reads the lines behind those that were read.
func (c *VerifiedAnswers) readOn() error {
	text, err := c.store.Read(c.read)
	if err != nil {
		return fmt.Errorf("memory: confirmed answers: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	end := bytes.LastIndexByte(text, '\n') + 1
	if err := json.Unmarshal(bytes.TrimSpace(text[end:]), new(json.RawMessage)); atomicfile.IsCut(err) {
		if c.lines == 0 && len(bytes.TrimSpace(text[end:])) > 0 { // at the start the next line ends it
			c.skip(bytes.Count(text, []byte("\n")) + 1)
		}
		text = text[:end] // another process may still write the rest
	}
	if err := readLines(c.store.String(), text, c.lines, c.skip, c.put); err != nil {
		return err
	}
	c.read += int64(len(text))
	c.lines += bytes.Count(text, []byte("\n"))
	return nil
}

// skip notes a line without its end.
func (c *VerifiedAnswers) skip(line int) {
	note := fmt.Sprintf("%s: line %d is cut short and is skipped", c.store.String(), line)
	if !slices.Contains(c.notes, note) {
		c.notes = append(c.notes, note)
	}
}

// put keeps p in memory, if it is no past statement. A slice that a caller has does not change: a new pair stands
// behind its end, and a pair is replaced in a copy.
func (c *VerifiedAnswers) put(p verifiedLine, line int, old bool) {
	if p.Past {
		return
	}
	if c.place == nil {
		c.place, c.old, c.taken = map[string]int{}, map[string]int{}, map[string]bool{}
	}
	key := placeOf(p.Scope, p.Question)
	i, known := c.place[key]
	if known {
		c.taken[p.Scope+"\x00"+c.pairs[i].SQL] = true
	}
	c.taken[p.Scope+"\x00"+p.SQL] = p.Removed
	if delete(c.old, key); p.Removed {
		if known {
			c.drop(i)
		}
		return
	}
	if !known {
		i = len(c.pairs)
	}
	if old {
		c.old[key] = line
	}
	if !known {
		c.place[key] = i
		c.pairs = append(c.pairs, p.Exemplar)
		return
	}
	if line > 0 && earlier(p.At, c.pairs[i].At) {
		c.notes = append(c.notes, fmt.Sprintf("%s: line %d replaces an answer to the same question that was confirmed later",
			c.store.String(), line))
	}
	if c.given {
		c.pairs, c.given = slices.Clone(c.pairs), false
	}
	c.pairs[i] = p.Exemplar
}

// earlier reports whether a is before b; false where one of them is not known.
func earlier(a, b *time.Time) bool { return a != nil && b != nil && a.Before(*b) }
