package trial

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/texttosql/texttosql/internal/cli"
)

// Statement is one line of a file of statements.
type Statement struct {
	ID        string     `json:"id"`
	Engine    string     `json:"engine"`
	Expect    string     `json:"expect"`
	Text      *string    `json:"text"`
	Base64    *string    `json:"base64"`
	Generator *generator `json:"generator"`
	Rows      *int       `json:"rows"`
	Policy    policy     `json:"policy"`

	text string // the statement
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

// UnmarshalJSON refuses unknown members, because ignoring a misspelt one would try another statement.
func (g *generator) UnmarshalJSON(data []byte) error {
	type plain generator
	return strictly("generator", data, (*plain)(g))
}

// UnmarshalJSON refuses unknown members, because ignoring a misspelt one would try the statement without its policy.
func (p *policy) UnmarshalJSON(data []byte) error {
	type plain policy
	return strictly("policy", data, (*plain)(p))
}

func strictly(name string, data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// mostText bounds a line of the file and a generated text, in bytes.
const mostText = 64 << 20

// mostFaults bounds the broken lines that an error names.
const mostFaults = 5

// Read reads a whole file of statements for an engine, and counts its lines for others. The error names the broken lines.
func Read(path, engine string) (items []Statement, skipped int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("statements %s: %w", path, cli.PathlessError(err))
	}
	defer f.Close()
	return read(path, f, engine)
}

func read(path string, f io.Reader, engine string) (items []Statement, skipped int, err error) {
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostText)
	n := 1
	var faults []string
	for ; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		s, err := readStatement(lines.Bytes(), engine)
		if err != nil {
			faults = append(faults, fmt.Sprintf("line %d: %v", n, err))
			continue
		}
		if s.Engine != "" && s.Engine != engine {
			skipped++
			continue
		}
		if s.ID == "" {
			s.ID = fmt.Sprintf("line-%d", n)
		}
		items = append(items, s)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		faults = append(faults, fmt.Sprintf("line %d: over %d MiB", n, mostText>>20))
	case err != nil:
		return nil, 0, fmt.Errorf("statements %s: %w", path, cli.PathlessError(err))
	}
	if more := len(faults) - mostFaults; more > 0 {
		faults = append(faults[:mostFaults], fmt.Sprintf("%d more broken lines", more))
	}
	if len(faults) > 0 {
		return nil, 0, fmt.Errorf("statements %s: %s", path, strings.Join(faults, "; "))
	}
	if len(items) == 0 {
		return nil, 0, fmt.Errorf("statements %s: no statement for %s in it", path, engine)
	}
	return items, skipped, nil
}

func readStatement(line []byte, engine string) (Statement, error) {
	var s Statement
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
		if s.Engine == "" || s.Engine == engine {
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
