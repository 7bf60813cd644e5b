package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/redact"
)

// Attr is a name and a value.
//
// A value is nil, a string, bool, int64, float64, time.Duration, []string or [Secret]. Any other value is stored as
// its JSON (json.RawMessage). Other integers become int64, and []string is copied. NaN and infinite floats are stored
// as text. An error is stored as its text without parts of statements; see [Span.Fail]. A time.Duration is a measured
// time, which [Span.Comparable] leaves out.
type Attr struct {
	Key   string // a constant in the code, never text from outside
	Value any    // a value of one of the types above
}

// Event is something that happened at one moment of a span.
type Event struct {
	Name  string        // a constant in the code: "retry"
	At    time.Duration // the time since the root started
	Attrs []Attr        // each key once
}

// Warning is a fact that the person who asked should know.
type Warning struct {
	Code    string `json:"code"`    // never changes; lower case with dashes: "schema-linked"
	Message string `json:"message"` // one line for a person
}

// put sets a in attrs.
func put(attrs []Attr, a Attr) []Attr {
	if i := slices.IndexFunc(attrs, func(b Attr) bool { return b.Key == a.Key }); i >= 0 {
		attrs[i] = a
		return attrs
	}
	return append(attrs, a)
}

// frozen returns attrs with every value frozen and each key once. The last value of a key counts.
func (t *tree) frozen(attrs []Attr) []Attr {
	if len(attrs) == 0 {
		return nil
	}
	out := make([]Attr, 0, len(attrs))
	for _, a := range attrs {
		out = put(out, t.freeze(a))
	}
	return out
}

// freeze copies the value of a, so that nobody can change it any more, and withholds a secret that is not to be kept.
func (t *tree) freeze(a Attr) Attr {
	a.Key = valid(a.Key)
	switch v := a.Value.(type) {
	case nil, bool, int64, time.Duration:
		return a
	case string:
		a.Value = valid(v)
	case Secret:
		v.Text = valid(v.Text)
		a.Value = v.Shown(t.keep | PrivateSQL)
	case int:
		a.Value = int64(v)
	case float64:
		if !finite(v) {
			a.Value = fmt.Sprint(v)
		}
	case []string:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = valid(v[i])
		}
		a.Value = texts
	case error:
		a.Value = redact.Error(v)
	default:
		a.Value = encoded(v)
	}
	return a
}

// encoded returns v as JSON, in the form in which a trace that is read back holds it. The error of a value that does
// not encode becomes the value, because a trace must not end an answer.
func encoded(v any) any {
	b, err := json.Marshal(v)
	if err == nil {
		var out any
		if out, err = decodeValue(b); err == nil {
			return out
		}
	}
	return fmt.Sprintf("trace: a %T does not encode to JSON", v)
}

// valid replaces bytes that are not UTF-8, as JSON would, so that a trace is the same before and after a round trip.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
