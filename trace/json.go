package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// version is the version of the JSON form. See the package comment.
const version = 1

// MarshalJSON writes s and all spans under it. See [Span.JSON].
func (s *Span) MarshalJSON() ([]byte, error) { return s.JSON(0) }

// JSON writes s and all spans under it in one line, in their state at one moment. It shows the secrets whose kind is
// in show or in [Tracer.Keep]. Equal trees give equal bytes. A nil or zero s gives "null".
func (s *Span) JSON(show Sensitivity) ([]byte, error) { return s.encode(show, false) }

// Comparable writes s and all spans under it for byte comparison and for golden files: indented by tabs and with SQL.
// It leaves out everything that may differ between two runs with the same replies: times, durations (attributes too),
// whether a span ended, and cancelled spans with their usage.
func (s *Span) Comparable() ([]byte, error) {
	b, err := s.encode(PrivateSQL, true)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "\t"); err != nil {
		return nil, fmt.Errorf("trace: writing JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (s *Span) encode(show Sensitivity, comparable bool) ([]byte, error) {
	var doc any
	if s.lock() {
		d := wireDoc{Version: version, Total: s.sum(!comparable), Root: s.wire(show|s.tree.keep, comparable)}
		if !comparable {
			d.Started = new(s.tree.start.UTC())
		}
		s.tree.mu.Unlock()
		doc = d
	}
	b, err := marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("trace: writing JSON: %w", err)
	}
	return b, nil
}

// UnmarshalJSON reads the output of MarshalJSON, JSON or Comparable into s. Written again it gives the same bytes. A
// trace that was read has no clock, so times of later additions are 0.
func (s *Span) UnmarshalJSON(b []byte) error {
	if string(bytes.TrimSpace(b)) == "null" {
		return nil
	}
	// The version comes first, because a document of another version may have another shape.
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return fmt.Errorf("trace: reading JSON: %w", err)
	}
	if head.Version != version {
		return fmt.Errorf("trace: version not supported: %d", head.Version)
	}
	var doc wireDoc
	if err := json.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("trace: reading JSON: %w", err)
	}
	t := &tree{keep: privateAll} // the document shows what was meant to be seen
	if doc.Started != nil {
		if t.start = doc.Started.UTC(); t.start.Year() < 0 || t.start.Year() > 9999 {
			return errors.New("trace: reading JSON: started is out of range")
		}
	}
	t.now = func() time.Time { return t.start }
	doc.Root.into(s, t, nil, order{})
	return nil
}

// The wire types are the JSON form. They are not Span itself, so that the form changes only on purpose.
type wireDoc struct {
	Version int        `json:"version"`
	Started *time.Time `json:"started,omitempty"`
	Total   Usage      `json:"total"`
	Root    wireSpan   `json:"root"`
}

type wireSpan struct {
	Name      string      `json:"name"`
	At        *int64      `json:"at_ns,omitempty"`
	Took      *int64      `json:"took_ns,omitempty"`
	Open      bool        `json:"open,omitempty"`
	Failure   string      `json:"failure,omitempty"`
	Attrs     wireAttrs   `json:"attrs,omitempty"`
	Warnings  []Warning   `json:"warnings,omitempty"`
	Events    []wireEvent `json:"events,omitempty"`
	Usage     *Usage      `json:"usage,omitempty"`
	Children  []wireSpan  `json:"children,omitempty"`
	Cancelled []wireSpan  `json:"cancelled,omitempty"`
}

type wireEvent struct {
	Name  string    `json:"name"`
	At    *int64    `json:"at_ns,omitempty"`
	Attrs wireAttrs `json:"attrs,omitempty"`
}

// wire copies s and everything below it. The caller holds the lock.
func (s *Span) wire(show Sensitivity, comparable bool) wireSpan {
	w := wireSpan{Name: s.name, Failure: s.failure.shown(show), Attrs: wireAttrsOf(s.attrs, show, comparable)}
	if !comparable {
		w.At = new(s.start.Nanoseconds())
		if w.Open = !s.ended; s.ended {
			w.Took = new((s.end - s.start).Nanoseconds())
		}
	}
	w.Warnings = append(w.Warnings, s.warnings...)
	for _, e := range s.events {
		we := wireEvent{Name: e.Name, Attrs: wireAttrsOf(e.Attrs, show, comparable)}
		if !comparable {
			we.At = new(e.At.Nanoseconds())
		}
		w.Events = append(w.Events, we)
	}
	if s.usage != (Usage{}) {
		w.Usage = new(s.usage)
	}
	for _, c := range s.sorted(false) {
		w.Children = append(w.Children, c.wire(show, comparable))
	}
	if !comparable {
		for _, c := range s.sorted(true) {
			w.Cancelled = append(w.Cancelled, c.wire(show, comparable))
		}
	}
	return w
}

// into fills s from w.
func (w *wireSpan) into(s *Span, t *tree, parent *Span, o order) {
	ns := func(n *int64) time.Duration {
		if n == nil {
			return 0
		}
		return time.Duration(*n)
	}
	*s = Span{tree: t, parent: parent, name: w.Name, order: o, ended: !w.Open, start: ns(w.At), end: ns(w.At) + ns(w.Took),
		failure: failure{w.Failure, w.Failure}, attrs: w.Attrs, warnings: w.Warnings}
	for _, we := range w.Events {
		s.events = append(s.events, Event{Name: we.Name, At: ns(we.At), Attrs: we.Attrs})
	}
	if w.Usage != nil {
		s.usage = s.usage.Add(*w.Usage)
	}
	below := func(w *wireSpan, cancelled bool) {
		s.starts++
		c := new(Span)
		w.into(c, t, s, order{group: s.starts})
		c.cancelled = cancelled
		s.children = append(s.children, c)
	}
	for i := range w.Children {
		below(&w.Children[i], false)
	}
	for i := range w.Cancelled {
		below(&w.Cancelled[i], true)
	}
}

// wireAttrs is an object whose members keep their order, each key once.
type wireAttrs []Attr

func wireAttrsOf(attrs []Attr, show Sensitivity, comparable bool) wireAttrs {
	out := make(wireAttrs, 0, len(attrs))
	for _, a := range attrs {
		if _, measured := a.Value.(time.Duration); measured && comparable {
			continue
		}
		out = append(out, Attr{a.Key, shown(a.Value, show)})
	}
	return out
}

func (a wireAttrs) MarshalJSON() ([]byte, error) {
	members := make([][]byte, len(a))
	for i, attr := range a {
		key, _ := marshal(attr.Key) // a string always encodes
		value, err := marshal(wireValue(attr.Value))
		if err != nil {
			return nil, err
		}
		members[i] = fmt.Appendf(key, ":%s", value)
	}
	return fmt.Appendf(nil, "{%s}", bytes.Join(members, []byte(","))), nil
}

func (a *wireAttrs) UnmarshalJSON(b []byte) error {
	*a = nil
	if string(b) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil {
		return err
	} else if open != json.Delim('{') {
		return errors.New("attrs is not an object")
	}
	index := make(map[string]int) // put would take quadratic time for a hostile document
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		v, err := decodeValue(raw)
		if err != nil {
			return err
		}
		name := key.(string) // the decoder allows only a string here
		i, again := index[name]
		if !again {
			i = len(*a)
			index[name] = i
			*a = append(*a, Attr{Key: name})
		}
		(*a)[i].Value = v
	}
	return nil
}

// wireObject is the value of an attribute that JSON has no form for: a duration or a secret.
type wireObject struct {
	NS      *int64  `json:"duration_ns,omitempty"`
	Private *string `json:"private,omitempty"`
	Text    *string `json:"text,omitempty"`
	Bytes   *int    `json:"bytes,omitempty"`
	Sum     string  `json:"sha256,omitempty"`
}

// wireValue returns the form of an attribute's value in JSON.
func wireValue(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return wireObject{NS: new(v.Nanoseconds())}
	case Secret:
		w := wireObject{Private: new(v.Kind.name())}
		if v.Withheld {
			w.Bytes, w.Sum = &v.Bytes, v.Sum
		} else {
			w.Text = &v.Text
		}
		return w
	default:
		return v
	}
}

// decodeValue is the inverse of wireValue. A value that this package does not know stays JSON, with one spelling for
// strings and white space and with the keys of objects in order.
func decodeValue(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case nil, bool, string:
		return x, nil
	case json.Number:
		return decodeNumber(x.String()), nil
	case []any:
		if texts, ok := stringsOf(x); ok {
			return texts, nil
		}
	case map[string]any:
		if object, ok := decodeObject(b); ok {
			return object, nil
		}
	}
	out, err := marshal(v)
	return json.RawMessage(out), err
}

func stringsOf(list []any) ([]string, bool) {
	texts := make([]string, len(list))
	for i, v := range list {
		var ok bool
		if texts[i], ok = v.(string); !ok {
			return nil, false
		}
	}
	return texts, true
}

// decodeObject reads a wireObject.
func decodeObject(b []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var w wireObject
	if d.Decode(&w) != nil {
		return nil, false
	}
	switch {
	case w.NS != nil:
		return time.Duration(*w.NS), w == wireObject{NS: w.NS}
	case w.Private == nil || kindNamed(*w.Private) == 0:
		return nil, false
	case w.Text != nil:
		return Secret{Kind: kindNamed(*w.Private), Text: *w.Text}, w.Bytes == nil && w.Sum == ""
	case w.Bytes != nil:
		return Secret{Kind: kindNamed(*w.Private), Withheld: true, Bytes: *w.Bytes, Sum: w.Sum}, true
	}
	return nil, false
}

// decodeNumber returns an int64 or a float64 if JSON writes it like text. Otherwise it returns text, so that no digit
// is lost.
func decodeNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		if again, err := json.Marshal(x); err == nil && string(again) == text {
			return x
		}
	}
	return json.RawMessage(text)
}

// marshal is json.Marshal without the escapes for HTML, which json.Marshal of a whole Span adds.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
