package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// statement is one line of a file of statements.
type statement struct {
	ID        string     `json:"id"`
	Engine    string     `json:"engine"`
	Expect    string     `json:"expect"`
	Text      *string    `json:"text"`
	Base64    *string    `json:"base64"`
	Generator *generator `json:"generator"`
	Rows      *int       `json:"rows"`
	Policy    policy     `json:"policy"`

	text string // the statement itself
}

type policy struct {
	DenyTables  []string `json:"deny_tables"`
	DenyColumns []string `json:"deny_columns"`
}

// generator stands for a long text.
type generator struct {
	Prefix string `json:"prefix"`
	Repeat string `json:"repeat"`
	Times  int    `json:"times"`
	Middle string `json:"middle"`
	Close  string `json:"close"`
	Suffix string `json:"suffix"`
}

// mostText bounds a line of the file and a generated text, in bytes.
const mostText = 64 << 20

// readStatements reads a file of statements, and how many of its lines are for
// another engine. It reads all of it before anything runs: a broken line is an
// error, not half a report.
func readStatements(path string) (items []statement, skipped int, err error) {
	f, err := os.Open(path)
	if err != nil {
		var fault *os.PathError
		if errors.As(err, &fault) {
			err = fault.Err // without the name, which stands before it
		}
		return nil, 0, fmt.Errorf("statements %s: %w", path, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostText)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		s, err := readStatement(lines.Bytes())
		if err != nil {
			return nil, 0, fmt.Errorf("statements %s: line %d: %w", path, n, err)
		}
		if s.Engine != "" && s.Engine != "sqlite" {
			skipped++
			continue
		}
		if s.ID == "" {
			s.ID = fmt.Sprintf("line-%d", n)
		}
		items = append(items, s)
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("statements %s: %w", path, err)
	}
	if len(items) == 0 {
		return nil, 0, fmt.Errorf("statements %s: no statement for sqlite in it", path)
	}
	return items, skipped, nil
}

func readStatement(line []byte) (statement, error) {
	var s statement
	if err := json.Unmarshal(line, &s); err != nil {
		return s, fmt.Errorf("no JSON object of a statement: %w", err)
	}
	forms := 0
	if s.Text != nil {
		forms++
		s.text = *s.Text
	}
	if s.Base64 != nil {
		forms++
		b, err := base64.StdEncoding.DecodeString(*s.Base64)
		if err != nil {
			return s, fmt.Errorf("base64: %w", err)
		}
		s.text = string(b)
	}
	if s.Generator != nil {
		forms++
		text, err := s.Generator.text()
		if err != nil {
			return s, err
		}
		s.text = text
	}
	if forms != 1 {
		return s, fmt.Errorf("%d of text, base64 and generator are given, want one", forms)
	}
	switch s.Expect {
	case "", "refuse", "survive", "accept":
	default:
		if s.Engine == "" || s.Engine == "sqlite" {
			return s, fmt.Errorf("unknown expectation %q", s.Expect)
		}
	}
	return s, nil
}

func (g generator) text() (string, error) {
	if g.Times < 0 || g.Times > mostText || g.Times*(len(g.Repeat)+len(g.Close)) > mostText {
		return "", fmt.Errorf("the generator repeats %d times; a text may have %d MiB", g.Times, mostText>>20)
	}
	return g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle + strings.Repeat(g.Close, g.Times) + g.Suffix, nil
}
