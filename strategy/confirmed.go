package strategy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// Confirmed keeps answers that a person confirmed: solved questions that serve
// as exemplars for the next ones. The zero Confirmed keeps them in memory;
// OpenConfirmed keeps them in a file. Safe for concurrent use.
//
// A question that is confirmed again, case and white space aside, replaces what
// was confirmed before.
type Confirmed struct {
	mu    sync.Mutex
	pairs []Pair         // in the order of the first confirmation
	given bool           // somebody has pairs: no place of it may change any more
	place map[string]int // folded question -> place
	file  *os.File       // nil: in memory
	read  int64          // bytes of the file that are known
	lines int
}

// PairError says which line of a file of pairs is wrong.
type PairError struct {
	File string // its name
	Line int    // from 1
	Err  error  // what is wrong with the line
}

// Error names the file, the line and the fault.
func (e *PairError) Error() string {
	return fmt.Sprintf("strategy: %s, line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *PairError) Unwrap() error { return e.Err }

// ReadPairs reads a file of solved questions, a JSON object with question and
// SQL a line, {"question", "sql"} with "id" and "evidence" where there are; empty
// lines are skipped. The error about a line is a *PairError.
func ReadPairs(path string) ([]Pair, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("strategy: reading exemplars: %w", err)
	}
	var pairs []Pair
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p, err := readPair(line)
		if err != nil {
			return nil, &PairError{File: path, Line: i + 1, Err: err}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func readPair(line []byte) (p Pair, err error) {
	if err := json.Unmarshal(line, &p); err != nil {
		return p, err
	}
	return p, validPair(p)
}

func validPair(p Pair) error {
	if strings.TrimSpace(p.Question) == "" || strings.TrimSpace(p.SQL) == "" {
		return errors.New("a solved question needs a question and its SQL")
	}
	return nil
}

// OpenConfirmed opens or makes a file of confirmed answers, in the form of
// ReadPairs.
//
// Lines are only appended, each by one write, so several processes may use one
// file, and each sees what the others confirm. A line that a crash cut short has
// no line end: it is skipped, and the next one begins on a new line. Any other
// broken line is a *PairError. Close closes the file.
func OpenConfirmed(path string) (*Confirmed, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("strategy: confirmed answers: %w", err)
	}
	c := &Confirmed{file: f}
	if err := c.refresh(); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// Add keeps one answer. In a file it is synced to disk when Add returns.
func (c *Confirmed) Add(p Pair) error {
	if err := validPair(p); err != nil {
		return fmt.Errorf("strategy: %w", err)
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
	// Whatever stands before, in full or cut short by a crash, ends here; an empty
	// line is skipped.
	if _, err := c.file.Write(append(append([]byte("\n"), line...), '\n')); err != nil {
		return fmt.Errorf("strategy: keeping a confirmed answer: %w", err)
	}
	if err := c.file.Sync(); err != nil {
		return fmt.Errorf("strategy: keeping a confirmed answer: %w", err)
	}
	return c.refresh()
}

// Pairs returns the answers in the order of their first confirmation, those of
// other processes included. The slice is not to be changed; it is the same one as
// long as nothing was added.
func (c *Confirmed) Pairs() ([]Pair, error) {
	if c == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.refresh()
	c.given = true
	return slices.Clip(c.pairs), err // who appends to it does so elsewhere
}

// Close closes the file. A Confirmed in memory needs none.
func (c *Confirmed) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// refresh reads what was appended to the file since.
func (c *Confirmed) refresh() error {
	if c.file == nil {
		return nil
	}
	info, err := c.file.Stat()
	if err != nil {
		return fmt.Errorf("strategy: confirmed answers: %w", err)
	}
	if info.Size() <= c.read {
		return nil
	}
	text, err := io.ReadAll(io.NewSectionReader(c.file, c.read, info.Size()-c.read))
	if err != nil {
		return fmt.Errorf("strategy: confirmed answers: %w", err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1 // the rest may still be written
	lines := bytes.Split(text[:whole], []byte("\n"))
	for i, line := range lines[:len(lines)-1] {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p, err := readPair(line)
		var syntax *json.SyntaxError
		// A line cut short by a crash, which Add ended later, stands before the
		// empty place that it began with.
		if errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
			continue
		}
		if err != nil {
			return &PairError{File: c.file.Name(), Line: c.lines + i + 1, Err: err}
		}
		c.put(p)
	}
	c.read += int64(whole)
	c.lines += len(lines) - 1
	return nil
}

// put keeps p in memory. Who has the pairs keeps them as they were: a new one
// stands behind all that they see, and one that is replaced is in a copy.
func (c *Confirmed) put(p Pair) {
	if c.place == nil {
		c.place = map[string]int{}
	}
	key := fold(p.Question)
	i, known := c.place[key]
	switch {
	case !known:
		c.place[key] = len(c.pairs)
		c.pairs = append(c.pairs, p)
		return
	case c.given:
		c.pairs, c.given = slices.Clone(c.pairs), false
	}
	c.pairs[i] = p
}
