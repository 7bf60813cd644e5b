package eval

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
)

// record is one object of a file: a line of JSONL, a member of a JSON list, a
// row of CSV.
type record struct {
	line   int
	fields map[string]json.RawMessage
}

// records reads the objects of a file in whichever of the three forms it has.
// It stops after the first error.
func (s *source) records() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		first, err := s.first()
		switch {
		case err != nil:
			yield(record{}, err)
		case first == 0:
			yield(record{}, s.fault(0, "", errors.New("the file is empty")))
		case first == '[':
			s.list(yield)
		case first == '{':
			s.lines(yield)
		default:
			s.csv(yield)
		}
	}
}

func (s *source) lines(yield func(record, error) bool) {
	for {
		line, err := s.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(record{}, err)
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r := record{line: s.line}
		if err := json.Unmarshal(line, &r.fields); err != nil {
			yield(r, s.fault(s.line, "", badJSON(err)))
			return
		}
		if !yield(r, nil) {
			return
		}
	}
}

// list reads one JSON list of objects. The file is held whole: published lists
// are, and only so a place in it has a line.
func (s *source) list(yield func(record, error) bool) {
	data, err := s.all()
	if err != nil {
		yield(record{}, err)
		return
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.Token() // the bracket
	line, counted := 1, 0
	at := func() int {
		from := int(dec.InputOffset())
		from += len(data[from:]) - len(bytes.TrimLeft(data[from:], " \t\r\n,"))
		line += bytes.Count(data[counted:from], []byte("\n"))
		counted = from
		return line
	}
	for dec.More() {
		r := record{line: at()}
		if err := dec.Decode(&r.fields); err != nil {
			yield(r, s.fault(r.line, "", badJSON(err)))
			return
		}
		if !yield(r, nil) {
			return
		}
	}
	if _, err := dec.Token(); err != nil {
		yield(record{}, s.fault(at(), "", badJSON(err)))
	}
}

func (s *source) csv(yield func(record, error) bool) {
	r := csv.NewReader(s.text)
	head, err := r.Read()
	if err != nil {
		yield(record{}, s.fault(1, "", badCSV(err)))
		return
	}
	for i, name := range head {
		head[i] = strings.TrimSpace(name)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			line := 0
			var at *csv.ParseError
			if errors.As(err, &at) {
				line = at.StartLine
			}
			yield(record{}, s.fault(line, "", badCSV(err)))
			return
		}
		line, _ := r.FieldPos(0)
		rec := record{line: line, fields: make(map[string]json.RawMessage, len(row))}
		for i, v := range row {
			rec.fields[head[i]], _ = json.Marshal(v)
		}
		if !yield(rec, nil) {
			return
		}
	}
}

// badJSON and badCSV say what is wrong without the place, which the caller gives.
func badJSON(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("a JSON %s where an object belongs", kind.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "unexpected end"):
		return errors.New("the JSON is cut off")
	}
	return fmt.Errorf("broken JSON: %w", err)
}

func badCSV(err error) error {
	var at *csv.ParseError
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("broken CSV: %w", at.Err)
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty")
	}
	return packed(err)
}

// text reads a field that is text; a number is taken as it is written, null as "".
func (r record) text(name string) (string, error) {
	raw := r.fields[name]
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw), nil
	}
	return "", fmt.Errorf("a JSON %s where text belongs", kindOf(raw))
}

// integer reads a field that is a whole number; ok is false where it is absent.
func (r record) integer(name string) (n int, ok bool, err error) {
	s, err := r.text(name)
	if err != nil || s == "" {
		return 0, false, err
	}
	n, err = strconv.Atoi(s)
	if err != nil {
		return 0, false, fmt.Errorf("%.20q is no whole number", s)
	}
	return n, true, nil
}

// number reads a field that is a number; ok is false where it is absent.
func (r record) number(name string) (x float64, ok bool, err error) {
	s, err := r.text(name)
	if err != nil || s == "" {
		return 0, false, err
	}
	x, err = strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false, fmt.Errorf("%.20q is no number", s)
	}
	return x, true, nil
}

// truth reads a verdict: 0, 1, true, false; nil where it is absent or null.
func (r record) truth(name string) (*bool, error) {
	raw := r.fields[name]
	yes := true
	no := false
	switch strings.Trim(string(raw), `"`) {
	case "", "null":
		return nil, nil
	case "1", "true", "True":
		return &yes, nil
	case "0", "false", "False":
		return &no, nil
	}
	return nil, fmt.Errorf("%.20s is neither 0 nor 1", raw)
}

func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "list"
	case 't', 'f':
		return "bool"
	}
	return "value"
}
