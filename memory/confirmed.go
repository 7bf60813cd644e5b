package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/words"
)

// ReadPairs reads a file of solved questions. Each line is a JSON object with "question" and "sql", and may have "id",
// "evidence", "past": true ([Pair].Past; then "question" may be missing) and the "sum" of [OpenConfirmed]. Empty lines are skipped. The error about a line is a *[PairError].
func ReadPairs(path string) (pairs []Pair, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("memory: reading exemplars: %w", err)
	}
	return pairs, readLines(path, text, 0, false, func(p Pair) { pairs = append(pairs, p) })
}

// readLines gives the pair of each line of text to keep; before is the number of lines of the file before text. With
// skipCut it skips a line whose JSON has no end.
func readLines(file string, text []byte, before int, skipCut bool, keep func(Pair)) error {
	for line := range bytes.Lines(text) {
		before++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var p Pair
		line, err := atomicfile.Unsealed(line)
		if err == nil {
			err = json.Unmarshal(line, &p)
		}
		if skipCut && isCut(err) {
			continue
		}
		if err == nil {
			err = p.valid()
		}
		if err != nil {
			return &PairError{File: file, Line: before, Err: err}
		}
		keep(p)
	}
	return nil
}

// isCut reports whether the error is that of JSON without an end.
func isCut(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input"
}

// ErrForgotten is the error of texttosql's Confirm where nothing keeps confirmed answers (Options.Confirmed). This one is kept as
// long as the program runs.
var ErrForgotten = errors.New("memory: the answer is kept until the program ends, and forgotten then; Options.Confirmed keeps it in a file")

// Confirmed keeps answers that a person confirmed, as exemplars for later questions. The zero Confirmed keeps them in
// memory, [OpenConfirmed] in a file. A question that is confirmed again, case and white space aside, replaces the
// earlier answer of its scope. Safe for concurrent use.
type Confirmed struct {
	mu    sync.Mutex
	pairs []Pair         // in the order of the first confirmation
	given bool           // a caller has pairs, so no element of it may change
	place map[string]int // scope and folded question -> index in pairs
	file  *os.File       // nil: in memory
	read  int64          // bytes of the file that are in pairs
	lines int            // lines of these bytes
}

// OpenConfirmed opens or makes a file of confirmed answers, in the form of [ReadPairs]. Close closes it.
//
// Lines are only appended, each by one write and with a checksum as its last field, "sum". So several processes may use
// one file, and each sees what the others confirm. A line that a crash cut short is skipped. Any other broken line, and
// one that was changed after it was written, is a *[PairError]. Lines of a person need no checksum.
func OpenConfirmed(path string) (*Confirmed, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("memory: confirmed answers: %w", err)
	}
	c := &Confirmed{file: f}
	if err := c.refresh(); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// Add keeps one answer; a Past pair is none. A file is synced to disk when Add returns.
func (c *Confirmed) Add(p Pair) error {
	if err := p.valid(); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		c.put(p)
		return nil
	}
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	// The line end in front ends a line that a crash cut short.
	_, err = c.file.Write(slices.Concat([]byte("\n"), atomicfile.Sealed(line), []byte("\n")))
	if err == nil {
		err = c.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("memory: keeping a confirmed answer: %w", err)
	}
	return c.refresh()
}

// Pairs returns the answers of all scopes in the order of their first confirmation, those of other processes included. Do not change
// the slice. It is the same slice as long as nothing was added. A nil Confirmed has no answers.
func (c *Confirmed) Pairs() ([]Pair, error) {
	if c == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.refresh()
	c.given = true
	return slices.Clip(c.pairs), err // so that an append copies it
}

// PairsOf is Pairs for those that belong to a scope, by its exec.Scope.Key; "": to none.
func (c *Confirmed) PairsOf(scope string) ([]Pair, error) {
	all, err := c.Pairs()
	return slices.DeleteFunc(slices.Clone(all), func(p Pair) bool { return p.Scope != scope }), err
}

// Close closes the file. A Confirmed in memory needs no Close.
func (c *Confirmed) Close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// refresh reads the lines that were appended to the file since the last call.
func (c *Confirmed) refresh() error {
	if c.file == nil {
		return nil
	}
	text, err := io.ReadAll(io.NewSectionReader(c.file, c.read, math.MaxInt64-c.read))
	if err != nil {
		return fmt.Errorf("memory: confirmed answers: %w", err)
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if err := json.Unmarshal(bytes.TrimSpace(text[end:]), new(json.RawMessage)); isCut(err) {
		text = text[:end] // another process may still write the rest
	}
	if err := readLines(c.file.Name(), text, c.lines, true, c.put); err != nil {
		return err
	}
	c.read += int64(len(text))
	c.lines += bytes.Count(text, []byte("\n"))
	return nil
}

// put keeps p in memory, if it is no past statement. A slice that a caller has does not change: a new pair stands behind its end, and a pair is
// replaced in a copy.
func (c *Confirmed) put(p Pair) {
	if p.Past {
		return
	}
	if c.place == nil {
		c.place = map[string]int{}
	}
	key := p.Scope + "\x00" + words.Fold(p.Question)
	i, known := c.place[key]
	if !known {
		c.place[key] = len(c.pairs)
		c.pairs = append(c.pairs, p)
		return
	}
	if c.given {
		c.pairs, c.given = slices.Clone(c.pairs), false
	}
	c.pairs[i] = p
}
