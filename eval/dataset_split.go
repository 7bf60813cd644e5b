package eval

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// splitter cuts one JSON object into its fields without making anything of their
// values. Files of answers have ten fields of which four are used, and a map of
// decoded ones took a quarter of the time of scoring them.
//
// It is as strict as it has to be to find the fields; a value is looked at by
// whoever reads it. What it cannot cut goes through encoding/json, whose errors
// are better.
type splitter struct {
	fields []field
	names  map[string]string // each name is one string, however many lines have it
}

// object returns the fields of an object, valid until the next call. Of two fields
// of one name the last one counts.
func (s *splitter) object(line []byte) ([]field, error) {
	s.fields = s.fields[:0]
	if s.names == nil {
		s.names = map[string]string{}
	}
	if s.cut(line) {
		return s.fields, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, errors.New("null where an object belongs")
	}
	s.fields = s.fields[:0]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.fields = append(s.fields, field{name, all[name]})
	}
	return s.fields, nil
}

func (s *splitter) cut(line []byte) bool {
	i := blank(line, 0)
	if i == len(line) || line[i] != '{' {
		return false
	}
	if i = blank(line, i+1); i < len(line) && line[i] == '}' {
		return blank(line, i+1) == len(line)
	}
	for {
		end := text(line, i)
		if end < 0 {
			return false
		}
		name := s.name(line[i+1 : end-1])
		if i = blank(line, end); name == "" || i == len(line) || line[i] != ':' {
			return false
		}
		i = blank(line, i+1)
		if end = value(line, i); end < 0 {
			return false
		}
		if slices.ContainsFunc(s.fields, func(f field) bool { return f.name == name }) {
			return false // which of the two counts, encoding/json says
		}
		s.fields = append(s.fields, field{name, line[i:end]})
		if i = blank(line, end); i == len(line) {
			return false
		}
		switch line[i] {
		case '}':
			return blank(line, i+1) == len(line)
		case ',':
			i = blank(line, i+1)
		default:
			return false
		}
	}
}

// name returns a name as a string, "" where it has to be decoded.
func (s *splitter) name(raw []byte) string {
	if name, ok := s.names[string(raw)]; ok {
		return name
	}
	for _, c := range raw {
		if c == '\\' || c >= 0x80 {
			return ""
		}
	}
	name := string(raw)
	if len(s.names) < 1000 {
		s.names[name] = name
	}
	return name
}

// blank returns the place of the next byte that is no white space.
func blank(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\n' || line[i] == '\r') {
		i++
	}
	return i
}

// text returns the end of the string that starts at i, -1 where there is none.
func text(line []byte, i int) int {
	if i >= len(line) || line[i] != '"' {
		return -1
	}
	for i++; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			i++
		case c < ' ':
			return -1
		}
	}
	return -1
}

// value returns the end of the value that starts at i, -1 where there is none.
func value(line []byte, i int) int {
	if i >= len(line) {
		return -1
	}
	switch line[i] {
	case '"':
		return text(line, i)
	case '{', '[':
		return nested(line, i)
	}
	start := i
	for i < len(line) {
		switch line[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			if i == start || !json.Valid(line[start:i]) {
				return -1
			}
			return i
		}
		i++
	}
	return -1
}

// nested returns the end of the object or list that starts at i.
func nested(line []byte, i int) int {
	start, depth := i, 0
	for i < len(line) {
		switch line[i] {
		case '"':
			if i = text(line, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				if !json.Valid(line[start : i+1]) {
					return -1
				}
				return i + 1
			}
		}
		i++
	}
	return -1
}
