package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Version is the version of the JSON form that this package writes.
//
// A document is an object with "version", "started" (when the trace started,
// RFC 3339), "total" (usage of all spans) and "root". A span is an object with
// "name", "at_ns" (since the trace started), "took_ns" or "open": true, and, if
// there are any: "failure", "attrs" (an object in the order of setting),
// "warnings", "events", "usage" (its own), "children" and "cancelled" (both
// lists of spans in order). Readers skip members they do not know; a change that
// an old reader would misread raises the version.
const Version = 1

// ErrVersion is returned for a document of a version this package cannot read.
var ErrVersion = errors.New("trace: version not supported")

// Format says how a trace is written as JSON. The zero Format is what
// json.Marshal gives.
type Format struct {
	// Show is which private values are written, besides those the [Tracer] was
	// told to keep. A value that the tree does not hold stays [Withheld].
	Show Private
	// Comparable leaves out what differs between two runs of the same replies:
	// times, durations (attributes too), whether a span ended, and cancelled
	// spans with their usage. Such a document can be read back, without them.
	Comparable bool
	// Indent is written once a level at the start of a line; "" writes one line.
	Indent string
}

// MarshalJSON writes s and all below it as one line. See [Version].
func (s *Span) MarshalJSON() ([]byte, error) { return s.JSON(Format{}) }

// Comparable writes s and all below it for byte comparison and for goldens:
// indented, with SQL, without what two runs of the same replies may differ in.
func (s *Span) Comparable() ([]byte, error) {
	return s.JSON(Format{Comparable: true, Show: PrivateSQL, Indent: "\t"})
}

// JSON writes s and all below it, as they are at one moment. Equal trees give
// equal bytes. A nil or zero s gives "null".
func (s *Span) JSON(f Format) ([]byte, error) {
	var doc any
	if s.lock() {
		d := wireDoc{Version: Version, Total: s.sum(!f.Comparable), Root: s.wire(f, f.Show|s.tree.keep)}
		if !f.Comparable {
			started := s.tree.start.UTC()
			d.Started = &started
		}
		s.tree.mu.Unlock()
		doc = d
	}
	b, err := marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("trace: writing JSON: %w", err)
	}
	if f.Indent == "" {
		return b, nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", f.Indent); err != nil {
		return nil, fmt.Errorf("trace: writing JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON or JSON wrote, in place of what s held.
// Written again it gives the same bytes. A trace that was read has no clock:
// what is added to it has no time.
func (s *Span) UnmarshalJSON(b []byte) error {
	if string(bytes.TrimSpace(b)) == "null" {
		return nil
	}
	// The version is looked at first: another one may have another shape.
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return fmt.Errorf("trace: reading JSON: %w", err)
	}
	if head.Version != Version {
		return fmt.Errorf("%w: %d", ErrVersion, head.Version)
	}
	var doc wireDoc
	if err := json.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("trace: reading JSON: %w", err)
	}
	// What was written was meant to be seen, so it is written again.
	t := &tree{keep: privateAll}
	if doc.Started != nil {
		if t.start = doc.Started.UTC(); t.start.Year() < 0 || t.start.Year() > 9999 {
			return errors.New("trace: reading JSON: started is out of range")
		}
	}
	t.now = func() time.Time { return t.start }
	doc.Root.into(s, t, nil, order{})
	return nil
}

// The wire types are the JSON form. They are apart from Span so that the form
// changes only on purpose.
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

// wire copies s and all below it. The lock is held by the caller.
func (s *Span) wire(f Format, show Private) wireSpan {
	w := wireSpan{Name: s.name, Failure: s.failure.shown(show), Attrs: wireAttrsOf(s.attrs, f, show)}
	if !f.Comparable {
		w.At = nanoseconds(s.start)
		if w.Open = !s.ended; s.ended {
			w.Took = nanoseconds(s.end - s.start)
		}
	}
	w.Warnings = append(w.Warnings, s.warnings...)
	for _, e := range s.events {
		we := wireEvent{Name: e.Name, Attrs: wireAttrsOf(e.Attrs, f, show)}
		if !f.Comparable {
			we.At = nanoseconds(e.At)
		}
		w.Events = append(w.Events, we)
	}
	if s.usage != (Usage{}) {
		u := s.usage
		w.Usage = &u
	}
	for _, c := range s.sorted() {
		switch {
		case !c.cancelled:
			w.Children = append(w.Children, c.wire(f, show))
		case !f.Comparable:
			w.Cancelled = append(w.Cancelled, c.wire(f, show))
		}
	}
	return w
}

// into makes s of w.
func (w *wireSpan) into(s *Span, t *tree, parent *Span, o order) {
	*s = Span{tree: t, parent: parent, name: w.Name, order: o, ended: !w.Open,
		failure: failure{w.Failure, w.Failure}, attrs: w.Attrs, warnings: w.Warnings}
	if w.At != nil {
		s.start = time.Duration(*w.At)
	}
	s.end = s.start
	if w.Took != nil {
		s.end += time.Duration(*w.Took)
	}
	for _, we := range w.Events {
		e := Event{Name: we.Name, Attrs: we.Attrs}
		if we.At != nil {
			e.At = time.Duration(*we.At)
		}
		s.events = append(s.events, e)
	}
	if w.Usage != nil {
		s.usage = s.usage.Add(*w.Usage)
	}
	below := func(w *wireSpan, cancelled bool) {
		s.starts++
		c := new(Span)
		w.into(c, t, s, order{group: s.starts, first: true, seq: len(s.children)})
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

func nanoseconds(d time.Duration) *int64 {
	n := d.Nanoseconds()
	return &n
}

// wireAttrs is an object whose members keep their order, each key once.
type wireAttrs []Attr

func wireAttrsOf(attrs []Attr, f Format, show Private) wireAttrs {
	out := make(wireAttrs, 0, len(attrs))
	for _, a := range attrs {
		if _, measured := a.Value.(time.Duration); measured && f.Comparable {
			continue
		}
		out = append(out, Attr{a.Key, shown(a.Value, show)})
	}
	return out
}

func (a wireAttrs) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, attr := range a {
		if i > 0 {
			out = append(out, ',')
		}
		for j, part := range [...]any{attr.Key, wireValue(attr.Value)} {
			b, err := marshal(part)
			if err != nil {
				return nil, err
			}
			if j > 0 {
				out = append(out, ':')
			}
			out = append(out, b...)
		}
	}
	return append(out, '}'), nil
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
	index := make(map[string]int) // put would be quadratic in a hostile document
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
		name := key.(string) // the decoder allows nothing else here
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

type wireDuration struct {
	NS int64 `json:"duration_ns"`
}

type wirePrivate struct {
	Private string  `json:"private"`
	Text    *string `json:"text,omitempty"`
	Bytes   *int    `json:"bytes,omitempty"`
	Sum     string  `json:"sha256,omitempty"`
}

// wireValue is what stands for the value of an attribute in JSON.
func wireValue(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return wireDuration{v.Nanoseconds()}
	case Withheld:
		return wirePrivate{Private: kindName(v.Kind), Bytes: &v.Bytes, Sum: v.Sum}
	case SQL, Prompt, Reply, Rows:
		text := privateText(v)
		return wirePrivate{Private: kindName(kindOf(v)), Text: &text}
	default:
		return v
	}
}

// decodeValue is the inverse of wireValue: it gives the value that is written
// as b again, less its blanks.
func decodeValue(b []byte) (any, error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil, errors.New("no value")
	}
	switch b[0] {
	case 'n':
		return nil, nil
	case 't', 'f':
		return b[0] == 't', nil
	case '"':
		var text string
		err := json.Unmarshal(b, &text)
		return text, err
	case '[':
		var texts []*string // a null among them stays what it is
		if json.Unmarshal(b, &texts) == nil {
			out := make([]string, 0, len(texts))
			for _, text := range texts {
				if text == nil {
					return canonical(b)
				}
				out = append(out, *text)
			}
			return out, nil
		}
	case '{':
		if v, ok := decodeObject(b); ok {
			return v, nil
		}
	default:
		return decodeNumber(b), nil
	}
	return canonical(b)
}

// decodeObject reads the objects that stand for values of our own.
func decodeObject(b []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var duration struct {
		NS *int64 `json:"duration_ns"`
	}
	if d.Decode(&duration) == nil && duration.NS != nil {
		return time.Duration(*duration.NS), true
	}
	d = json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var private wirePrivate
	if d.Decode(&private) != nil {
		return nil, false
	}
	kind := kindNamed(private.Private)
	switch {
	case kind == 0:
		return nil, false
	case private.Text != nil && private.Bytes == nil && private.Sum == "":
		return privateValue(kind, *private.Text), true
	case private.Text == nil && private.Bytes != nil:
		return Withheld{Kind: kind, Bytes: *private.Bytes, Sum: private.Sum}, true
	}
	return nil, false
}

// decodeNumber gives an int64 or a float64 if that is written as b again, else
// b itself: no digit is lost.
func decodeNumber(b []byte) any {
	text := string(b)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) {
		if again, err := json.Marshal(x); err == nil && string(again) == text {
			return x
		}
	}
	return json.RawMessage(bytes.Clone(b))
}

// canonical is b with one spelling for strings and blanks and with the keys of
// objects in order, so that a value is the same bytes before and after a round
// trip.
func canonical(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	out, err := marshal(v)
	return json.RawMessage(out), err
}

// marshal is json.Marshal without the escapes for HTML: json.Marshal of a whole
// Span adds them, JSON does not need them.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
