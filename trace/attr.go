package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Attr is a name and a value.
//
// Values are nil, string, bool, int64, float64, time.Duration, []string, the
// private kinds [SQL], [Prompt], [Reply] and [Rows], or anything else that
// encodes to JSON, which is held as json.RawMessage. Other integers become
// int64, and []string is copied. A float that is no number is held as its text.
// An error is held as its text without parts of statements, see [Span.Fail].
// A time.Duration is a measured time, and as such no part of a comparison.
type Attr struct {
	Key   string // written in code, never from outside
	Value any    // see above
}

// Event is something that happened at one moment of a span.
type Event struct {
	Name  string        // written in code: "retry"
	At    time.Duration // since the root started
	Attrs []Attr        // each key once
}

// Warning is something the person who asked should know.
type Warning struct {
	Code    string `json:"code"`    // stable, lower case with dashes: "schema-linked"
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

// frozen returns attrs with every value frozen and each key once; the later
// value wins.
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

// freeze makes the value of a one that nobody can change any more, and
// withholds it if it is private and not to be kept.
func (t *tree) freeze(a Attr) Attr {
	a.Key = valid(a.Key)
	switch v := a.Value.(type) {
	case nil, bool, int64, time.Duration, Withheld:
		return a
	case string:
		a.Value = valid(v)
	case SQL:
		a.Value = SQL(valid(string(v)))
	case Prompt, Reply, Rows:
		a.Value = privateValue(kindOf(v), valid(privateText(v)))
		if kind := kindOf(v); t.keep&kind == 0 {
			a.Value = withhold(v)
		}
	case int:
		a.Value = int64(v)
	case int32:
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
		a.Value = failureText(publicText(v))
	default:
		a.Value = encoded(v)
	}
	return a
}

// encoded is v as JSON. A value that cannot be encoded says so in its place:
// a trace has no way to fail, and should not end an answer.
func encoded(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("trace: a %T does not encode to JSON", v)
	}
	// One spelling for one value: what is held here is what is read back.
	var out any
	if out, err = decodeValue(b); err != nil {
		return fmt.Sprintf("trace: a %T does not encode to JSON", v)
	}
	return out
}

// valid is text with bytes that are no UTF-8 replaced, as they would be in JSON:
// so a trace is the same before and after a round trip.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
