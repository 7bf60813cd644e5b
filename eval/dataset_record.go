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
	"unicode/utf8"
)

// record is one object of a file: a line of JSONL, a member of a JSON list, a
// row of CSV. The bytes are valid until the next one is read.
type record struct {
	line   int
	fields map[string]json.RawMessage
}

// get returns the value of a field, nil where there is none.
func (r *record) get(name string) []byte { return r.fields[name] }

// object returns the fields of a JSON object.
func object(data []byte) (fields map[string]json.RawMessage, err error) {
	if err = json.Unmarshal(data, &fields); err == nil && fields == nil {
		err = errors.New("null where an object belongs")
	}
	return fields, err
}

// records reads the objects of a file in whichever of the three forms it has.
// It stops after the first error.
func (s *source) records() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		first, err := s.first()
		switch {
		case err != nil:
			yield(record{}, err)
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
		if r.fields, err = object(line); err != nil {
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
	at := lineOf(data, dec)
	for dec.More() {
		r := record{line: at()}
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if err == nil {
			r.fields, err = object(raw)
		}
		if err != nil {
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

// lineOf returns a function that says on which line dec is about to read.
func lineOf(data []byte, dec *json.Decoder) func() int {
	line, counted := 1, 0
	return func() int {
		to := int(dec.InputOffset())
		to += len(data[to:]) - len(bytes.TrimLeft(data[to:], " \t\r\n,:"))
		line += bytes.Count(data[counted:to], []byte("\n"))
		counted = to
		return line
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
			text, _ := json.Marshal(v) // a string always can
			rec.fields[head[i]] = text
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
func (r *record) text(name string) (string, error) {
	raw := r.get(name)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
			return string(raw[1 : len(raw)-1]), nil
		}
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw), nil
	}
	return "", fmt.Errorf("a JSON %s where text belongs", kindOf(raw))
}

// integer reads a field that is a whole number, or one with nothing but zeros
// behind the point; ok is false where it is absent.
func (r *record) integer(name string) (n int, ok bool, err error) {
	s, err := r.text(name)
	if err != nil || s == "" {
		return 0, false, err
	}
	whole, zeros, _ := strings.Cut(s, ".")
	n, err = strconv.Atoi(whole)
	if err != nil || strings.Trim(zeros, "0") != "" {
		return 0, false, fmt.Errorf("%.20q is no whole number", s)
	}
	return n, true, nil
}

// number reads a field that is a number; ok is false where it is absent.
func (r *record) number(name string) (x float64, ok bool, err error) {
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

func kindOf(raw []byte) string {
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
