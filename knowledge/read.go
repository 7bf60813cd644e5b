package knowledge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
)

// Read reads the project's own form, the JSON of a Model. An unknown key is an error with its place, and so is text
// after the object. Read does not check names in a database: see [Model.Check].
func Read(r io.Reader) (m Model, err error) { return m, decode("knowledge", r, &m, true) }

// Decode reads the JSON object of a file into v, for a reader of another format. It ignores keys that v does not
// have; text after the object is an error. An error names the line and the path of the fault.
func Decode(format string, in io.Reader, v any) error { return decode(format, in, v, false) }

func decode(format string, in io.Reader, v any, strict bool) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("%s: reading the file: %w", format, err)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	d := json.NewDecoder(bytes.NewReader(data))
	if strict {
		d.DisallowUnknownFields()
	}
	fails := func(at int64, path, problem string) error {
		line := 1 + bytes.Count(data[:min(max(at, 0), int64(len(data)))], []byte("\n"))
		return &fileerr.Knowledge{Format: format, Line: line, Path: path, Problem: problem}
	}
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch err := d.Decode(v); {
	case err == nil:
	case errors.Is(err, io.EOF):
		return &fileerr.Knowledge{Format: format, Problem: "the file is empty"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fails(int64(len(data)), "", "the file ends in the midst of its JSON: it was cut off")
	case bytes.ContainsRune(data, 0):
		return &fileerr.Knowledge{Format: format, Problem: "the file is no UTF-8: save it as such"}
	case errors.As(err, &syntax) && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return fails(syntax.Offset, "", "this is no JSON object; a YAML file becomes one by knowledge/yaml")
	case errors.As(err, &syntax):
		return fails(syntax.Offset, "", err.Error())
	case errors.As(err, &kind):
		return fails(kind.Offset, keys(kind.Field), fmt.Sprintf("here is a JSON %s, where %s is wanted", kind.Value,
			wanted(kind)))
	default:
		return fails(d.InputOffset(), "", err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fails(d.InputOffset(), "", "something follows the JSON object")
	}
	return nil
}

// keys writes the path of Go fields as the keys of JSON that they are read from.
func keys(path string) string {
	parts := strings.Split(path, ".")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToLower(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, ".")
}

// wanted is the kind of JSON that a Go type is read from.
func wanted(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "struct", "map":
		return "an object"
	case "slice", "array":
		return "a list"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	}
	return "a number"
}
