package trace

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// rowView is one span in the timeline.
type rowView struct {
	Name     string
	Depth    int    // 0 is the root; at most maxDepth, deeper ones look alike
	Brief    string // a few attributes on one line
	State    string // "", "failed", "cancelled", "open"
	X, Width string // of the bar, in thousandths of the whole
	Ticks    []string
	Duration string
	Tokens   string
	Failure  string
	Attrs    []attrView
	Warnings []Warning
	Events   []eventView
}

type attrView struct {
	Key, Text string
	Block     bool // text of several lines, or long: in a block of its own
	Withheld  bool
}

type eventView struct {
	At, Name string
	Attrs    []attrView
}

const maxDepth = 8

// rows lists s and all below it in tree order, each parent's cancelled children
// last, and the time from the start of s to the last end of all.
func (s *Span) rows(show Private) ([]rowView, time.Duration) {
	now := s.tree.since()
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	show |= s.tree.keep
	from, to := s.start, s.start
	var extent func(*Span)
	extent = func(c *Span) {
		from, to = min(from, c.start), max(to, c.until(now))
		for _, c := range c.children {
			extent(c)
		}
	}
	extent(s)
	var rows []rowView
	var add func(*Span, int, bool)
	add = func(c *Span, depth int, cancelled bool) {
		cancelled = cancelled || c.cancelled
		rows = append(rows, c.row(depth, cancelled, from, to, now, show))
		children := c.sorted()
		for _, late := range [...]bool{false, true} {
			for _, c := range children {
				if c.cancelled == late {
					add(c, depth+1, cancelled)
				}
			}
		}
	}
	add(s, 0, false)
	return rows, to - from
}

// row is s in the timeline that goes from from to to. The lock is held by the
// caller.
func (s *Span) row(depth int, cancelled bool, from, to, now time.Duration, show Private) rowView {
	// What is too short to be seen is drawn as wide as a line.
	const narrowest = 0.004
	at := func(t time.Duration) float64 {
		if to <= from {
			return 0
		}
		return clamp(float64(t-from) / float64(to-from))
	}
	x := min(at(s.start), 1-narrowest)
	end := s.until(now)
	r := rowView{
		Name: s.name, Depth: min(depth, maxDepth), Failure: s.failure.shown(show),
		X: thousandths(x), Width: thousandths(max(at(end)-x, narrowest)),
		Duration: durationText(end - s.start), Tokens: tokensText(s.usage),
		Attrs: attrViews(s.attrs, show), Warnings: s.warnings,
	}
	switch {
	case cancelled:
		r.State = "cancelled"
	case s.failure.whole != "":
		r.State = "failed"
	case !s.ended:
		r.State = "open"
	}
	r.Brief = brief(r.Name, r.Attrs)
	for _, e := range s.events {
		attrs := attrViews(e.Attrs, show)
		r.Events = append(r.Events, eventView{
			At: durationText(e.At - from), Name: e.Name, Attrs: attrs,
		})
		r.Ticks = append(r.Ticks, thousandths(at(e.At)))
	}
	return r
}

func tokensText(u Usage) string {
	if u == (Usage{}) {
		return ""
	}
	text := number(u.PromptTokens) + " → " + number(u.CompletionTokens)
	if !u.Known {
		text = "~" + text
	}
	if u.Partial {
		text += "+"
	}
	return text
}

func attrViews(attrs []Attr, show Private) []attrView {
	var out []attrView
	for _, a := range attrs {
		v := shown(a.Value, show)
		text := valueText(v)
		_, withheld := v.(Withheld)
		out = append(out, attrView{
			Key: a.Key, Text: text, Withheld: withheld,
			Block: len(text) > 120 || strings.Contains(text, "\n"),
		})
	}
	return out
}

// brief is the first few short attributes of a step on one line.
func brief(step string, attrs []attrView) string {
	const few, short = 3, 32
	var parts []string
	for _, a := range attrs {
		if a.Block || a.Withheld || len(a.Text) > short || a.Text == "" {
			continue
		}
		text := a.Key + " " + a.Text
		if a.Key == step { // "draw 3", not "draw draw 3"
			text = a.Text
		}
		if parts = append(parts, text); len(parts) == few {
			break
		}
	}
	return strings.Join(parts, " · ")
}

// valueText is the value of an attribute for a person.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	case json.RawMessage:
		return string(v)
	case time.Duration:
		return durationText(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64) // JSON has all digits
	default:
		return fmt.Sprint(v)
	}
}
