package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/texttosql/texttosql/internal/words"
)

// plainTypes gives each part of a schema one type. The schema of a Go slice has ["null", "array"], and clients of some
// providers refuse a tool whose arguments have several.
func plainTypes(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	plainTypes(s.Items)
	for part := range maps.Values(s.Properties) {
		plainTypes(part)
	}
	return s
}

// meant reads the arguments of a call as their schema has them, where a model wrote them in another type: "5" for 5,
// null for an argument that may be missing, a list as a text. What it cannot read stays, for the schema to refuse.
func meant(s *jsonschema.Schema, raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil && strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
		raw = json.RawMessage(text)
	}
	var given map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&given) != nil {
		return raw
	}
	if given == nil {
		return json.RawMessage("{}")
	}
	for name, value := range given {
		part := s.Properties[name]
		switch {
		case part == nil:
		case value == nil:
			delete(given, name)
		default:
			given[name] = asType(part, value)
		}
	}
	read, err := json.Marshal(given)
	if err != nil {
		return raw
	}
	return read
}

// asType is a value in the type of its part of the schema.
func asType(s *jsonschema.Schema, value any) any {
	text, isText := value.(string)
	text = strings.TrimSpace(text)
	switch s.Type {
	case "integer", "number":
		if n, ok := value.(json.Number); ok {
			text, isText = n.String(), true
		}
		if f, err := strconv.ParseFloat(text, 64); isText && err == nil && (s.Type == "number" || f == float64(int64(f))) {
			if s.Type == "integer" {
				return int64(f)
			}
			return f
		}
	case "boolean":
		if b, err := strconv.ParseBool(strings.ToLower(text)); isText && err == nil {
			return b
		}
	case "array":
		return asList(s.Items, value)
	case "string":
		switch v := value.(type) {
		case json.Number:
			return v.String()
		case bool:
			return strconv.FormatBool(v)
		case []any:
			if len(v) == 1 {
				return asType(s, v[0])
			}
		}
		if len(s.Enum) > 0 && isText {
			for _, known := range s.Enum {
				if name, ok := known.(string); ok && strings.EqualFold(strings.Trim(text, `"'`), name) {
					return name
				}
			}
		}
	}
	return value
}

// asList reads a list: as it is, written as a text of JSON, with commas, or one element alone.
func asList(items *jsonschema.Schema, value any) any {
	list, ok := value.([]any)
	if text, isText := value.(string); isText {
		switch text = strings.TrimSpace(text); {
		case text == "":
			return []any{}
		case json.Unmarshal([]byte(text), &list) == nil, json.Unmarshal([]byte(strings.ReplaceAll(text, "'", `"`)),
			&list) == nil:
		default:
			for part := range strings.SplitSeq(strings.Trim(text, "[]"), ",") {
				list = append(list, strings.Trim(strings.TrimSpace(part), `"'`))
			}
		}
	} else if !ok {
		list = []any{value}
	}
	read := []any{}
	for _, v := range list {
		if v != nil {
			read = append(read, asType(items, v))
		}
	}
	return read
}

// misfit says in words why the arguments of a call do not fit the schema.
func misfit(s *jsonschema.Schema, raw json.RawMessage) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	takes := "this tool takes " + strings.Join(names, ", ")
	var given map[string]any
	if json.Unmarshal(raw, &given) != nil {
		return "The arguments are no JSON object; " + takes
	}

	for _, name := range slices.Sorted(maps.Keys(given)) {
		if s.Properties[name] == nil {
			return fmt.Sprintf("There is no argument %q; %s", words.Short(words.Line(name), maxName), takes)
		}
	}
	for _, name := range slices.Backward(s.Required) { // the database is the last one, and says most
		if _, has := given[name]; has {
			continue
		}
		if part := s.Properties[name]; len(part.Enum) > 0 {
			return sayOne(name, part)
		}
		return fmt.Sprintf("Say the %s; %s", name, takes)
	}
	for _, name := range names {
		value, has := given[name]
		part := s.Properties[name]
		resolved, err := part.Resolve(nil)
		switch {
		case !has || err == nil && resolved.Validate(value) == nil:
		case len(part.Enum) > 0:
			return sayOne(name, part)
		default:
			return fmt.Sprintf("The argument %s takes %s.", name, kindOf(part))
		}
	}
	return "The arguments do not fit; " + takes
}

// sayOne asks for a value of an enumeration: "Say the form: ddl, code or mschema."
func sayOne(name string, s *jsonschema.Schema) string {
	var names []string
	for _, v := range s.Enum {
		names = append(names, fmt.Sprint(v))
	}
	last := len(names) - 1
	return fmt.Sprintf("Say the %s: %s or %s.", name, strings.Join(names[:last], ", "), names[last])
}

// kindOf says in words which values a part of a schema takes.
func kindOf(s *jsonschema.Schema) string {
	switch {
	case s.Type == "integer" && s.Maximum != nil:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Type == "integer":
		return "a whole number"
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "array" && s.MaxItems != nil:
		return fmt.Sprintf("a list of %d texts at most", *s.MaxItems)
	case s.Type == "array":
		return "a list of texts"
	case s.MaxLength != nil && s.MinLength != nil:
		return fmt.Sprintf("a text of %d to %d characters", *s.MinLength, *s.MaxLength)
	case s.MaxLength != nil:
		return fmt.Sprintf("a text of %d characters at most", *s.MaxLength)
	}
	return "a text"
}
