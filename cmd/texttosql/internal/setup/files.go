package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
)

// span is a time.Duration, written as "30s" in JSON.
type span time.Duration

// UnmarshalJSON reads "1m30s".
func (s *span) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return errors.New(`a time is written as "30s" or "5m"`)
	}
	d, err := time.ParseDuration(text)
	if *s = span(d); err != nil {
		return fmt.Errorf(`%q is no time: write "30s" or "5m"`, text)
	}
	return nil
}

// ReadLimits reads exec.Limits of one JSON object, whose members are its fields: {"Answer": {"Rows": 500, "Timeout":
// "10s"}}. A member that is unknown or given twice is an error.
func ReadLimits(r io.Reader) (exec.Limits, error) {
	type bounds struct {
		Rows      int
		Bytes     int64
		CellBytes int
		Columns   int
		Timeout   span
	}
	var l struct {
		Candidate, Answer, Stream bounds
		EngineCost                float64
		Connections               int
	}
	err := readObject(r, &l)
	for _, b := range []bounds{l.Candidate, l.Answer, l.Stream} {
		if err == nil &&
			(min(int64(b.Rows), b.Bytes, int64(b.CellBytes), int64(b.Columns), int64(b.Timeout), int64(l.Connections)) < 0 ||
				l.EngineCost < 0) {
			err = errors.New("a bound is negative")
		}
	}
	of := func(b bounds) exec.Bounds {
		return exec.Bounds{Rows: b.Rows, Bytes: b.Bytes, CellBytes: b.CellBytes, Columns: b.Columns,
			Timeout: time.Duration(b.Timeout)}
	}
	return exec.Limits{
		Candidate: of(l.Candidate), Answer: of(l.Answer), Stream: of(l.Stream), EngineCost: l.EngineCost,
		Connections: l.Connections,
	}, err
}

// ReadBudget reads an llm.Budget of one JSON object, whose members are its fields: {"Calls": 20, "Timeout": "2m"}. Time
// and Room are older names of Timeout and ReasoningTokens. A member that is unknown or given twice is an error.
func ReadBudget(r io.Reader) (llm.Budget, error) {
	var b struct {
		llm.Budget
		Timeout, Time span
		Room          int
	}
	err := readObject(r, &b)
	b.Budget.Timeout = time.Duration(cmp.Or(b.Timeout, b.Time))
	b.ReasoningTokens = cmp.Or(b.ReasoningTokens, b.Room)
	return b.Budget, err
}

// scope is an exec.Scope as a file has it.
type scope struct {
	Key      string
	Params   map[string]json.RawMessage
	Settings map[string]string
}

// scope returns it. A number without a fraction is an integer, so that none is rounded.
func (s scope) scope() (*exec.Scope, error) {
	out := &exec.Scope{Key: s.Key, Settings: s.Settings, Params: map[string]any{}}
	if s.Key == "" {
		return nil, errors.New("a scope needs a Key")
	}
	for name, raw := range s.Params {
		var v any
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			v = n
		} else if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		switch v.(type) {
		case nil, bool, int64, float64, string:
		default:
			return nil, fmt.Errorf("%s is neither a number, a text, a truth value nor null", name)
		}
		out.Params[name] = v
	}
	return out, nil
}

func readScope(r io.Reader) (*exec.Scope, error) {
	var s scope
	if err := readObject(r, &s); err != nil {
		return nil, err
	}
	return s.scope()
}

// Scopes say whose rows a client of a server reads, by what it shows.
type Scopes struct {
	Header string                 // the header in which a proxy names the signed-in user; "": the keys of Of are tokens
	Of     map[string]*exec.Scope // by user or token
}

func readScopes(r io.Reader) (*Scopes, error) {
	var file struct {
		Header        string
		Users, Tokens map[string]scope
	}
	if err := readObject(r, &file); err != nil {
		return nil, err
	}
	if (file.Header == "") != (len(file.Users) == 0) || (len(file.Users) == 0) == (len(file.Tokens) == 0) {
		return nil, errors.New(`want {"Header": "X-User", "Users": {USER: SCOPE}} or {"Tokens": {TOKEN: SCOPE}}`)
	}
	if file.Users == nil {
		file.Users = file.Tokens
	}
	all := &Scopes{Header: file.Header, Of: map[string]*exec.Scope{}}
	for name, s := range file.Users {
		one, err := s.scope()
		if err != nil {
			return nil, err // a token is not repeated
		}
		all.Of[name] = one
	}
	return all, nil
}

// maxFile bounds a file of settings, in bytes.
const maxFile = 1 << 20

// readObject decodes one object, strictly.
func readObject(r io.Reader, into any) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return err
	}
	if len(raw) > maxFile {
		return fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err = d.Decode(into); err == nil && len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		err = errors.New("something stands behind the object")
	}
	if err == nil {
		err = twice(json.NewDecoder(bytes.NewReader(raw)))
	}
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends in the middle")
	case errors.As(err, &kind) && kind.Field == "":
		return errors.New("want an object")
	case errors.As(err, &kind):
		return fmt.Errorf("%s: a %s stands where it wants %s", kind.Field, kind.Value, article(kind.Type.Kind().String()))
	case err != nil:
		text := strings.TrimPrefix(err.Error(), "json: ")
		if name, unknown := strings.CutPrefix(text, "unknown field "); unknown {
			name = strings.Trim(name, `"`)
			same := func(n string) bool { return strings.EqualFold(n, name) } // at another place
			text += words.Like(name, slices.DeleteFunc(members(reflect.TypeOf(into)), same))
		}
		return errors.New(text)
	}
	return nil
}

// members are the names of the fields of a type, and of the types of its fields.
func members(t reflect.Type) (names []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		return members(t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			names = append(append(names, f.Name), members(f.Type)...)
		}
	}
	return names
}

func article(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	}
	return "an object"
}

// twice finds a member that is given twice, of which encoding/json would take the later one.
func twice(d *json.Decoder) error {
	token, err := d.Token()
	if err == nil && token == json.Delim('[') {
		for d.More() {
			if err := twice(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	if err != nil || token != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name := strings.ToLower(key.(string)) // names match in any case
		if seen[name] {
			return fmt.Errorf("%q is given twice", key)
		}
		seen[name] = true
		if err := twice(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// read reads the file of a flag; "" is none, and gives the zero value.
func read[T any](flag, path string, from func(io.Reader) (T, error)) (v T, err error) {
	if path == "" {
		return v, nil
	}
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		v, err = from(f)
	}
	if err != nil {
		return v, &UsageError{fmt.Errorf("--%s %s: %w", flag, path, cli.PathlessError(err))}
	}
	return v, nil
}
