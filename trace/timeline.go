package trace

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
)

// rowView is one span in the timeline.
type rowView struct {
	Name     string
	Depth    int    // 0 is the root; at most maxDepth
	Brief    string // a few attributes on one line
	State    string // "", "failed", "cancelled", "open"
	X, Width string // position and width of the bar, in thousandths of the whole
	Ticks    []string
	Duration string
	Tokens   string
	Failure  string
	Attrs    []attrView
	Warnings []Warning
	Events   []eventView
	Steps    []*rowView // those below it
	Cluster  string     // the class of its colour; "": none
}

type attrView struct {
	Key, Text string
	Block     bool // the text is long or has several lines, and is shown in a block
	Withheld  bool
}

type eventView struct {
	At, Name string
	Attrs    []attrView
}

const maxDepth = 8

// rows returns s with everything below it, each parent's cancelled children last, how many steps these are, and the
// time from the first start to the last end. clusters has the class of a sample, by its number.
func (s *Span) rows(show Sensitivity, clusters map[string]string) (*rowView, int, time.Duration) {
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
	n := 0
	var add func(*Span, int, bool) *rowView
	add = func(c *Span, depth int, cancelled bool) *rowView {
		cancelled = cancelled || c.cancelled
		r := c.row(depth, cancelled, from, to, now, show)
		for _, a := range r.Attrs {
			if a.Key == "sample" {
				r.Cluster = clusters[a.Text]
			}
		}
		n++
		for _, c := range append(c.sorted(false), c.sorted(true)...) {
			r.Steps = append(r.Steps, add(c, depth+1, cancelled))
		}
		return &r
	}
	return add(s, 0, false), n, to - from
}

// row returns s in the timeline between from and to. The caller holds the lock.
func (s *Span) row(depth int, cancelled bool, from, to, now time.Duration, show Sensitivity) rowView {
	// a bar that is too short to be seen is drawn as wide as a line
	const narrowest = 0.004
	at := func(t time.Duration) float64 { return clamp(float64(t-from) / float64(to-from)) } // 0 if to is from
	x := min(at(s.start), 1-narrowest)
	end := s.until(now)
	r := rowView{
		Name: s.name, Depth: min(depth, maxDepth), Failure: s.failure.shown(show),
		X: thousandths(x), Width: thousandths(max(at(end)-x, narrowest)),
		Duration: durationText(end - s.start), Tokens: tokensText(s.sum(true)),
		Attrs: attrViews(s.attrs, show), Warnings: s.warnings,
	}
	switch {
	case cancelled:
		r.State = "cancelled"
	case s.failure.text != "":
		r.State = "failed"
	case !s.ended:
		r.State = "open"
	}
	r.Brief = brief(r.Name, r.Attrs)
	for _, e := range s.events {
		r.Events = append(r.Events, eventView{At: durationText(e.At - from), Name: e.Name, Attrs: attrViews(e.Attrs, show)})
		r.Ticks = append(r.Ticks, thousandths(at(e.At)))
	}
	return r
}

func tokensText(u Usage) string {
	if u == (Usage{}) {
		return ""
	}
	text := words.Thousands(u.PromptTokens) + " → " + words.Thousands(u.CompletionTokens)
	if !u.Known {
		text = "~" + text
	}
	if u.Partial {
		text += "+"
	}
	return text
}

func attrViews(attrs []Attr, show Sensitivity) []attrView {
	var out []attrView
	for _, a := range attrs {
		v := shown(a.Value, show)
		text := valueText(v)
		secret, _ := v.(Secret)
		block := len(text) > 120 || strings.Contains(text, "\n")
		out = append(out, attrView{Key: a.Key, Text: text, Block: block, Withheld: secret.Withheld})
	}
	return out
}

// brief returns the first few short attributes of a step on one line.
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

// valueText returns the value of an attribute for a person.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []string:
		return strings.Join(v, ", ")
	case json.RawMessage:
		return string(v)
	case time.Duration:
		return durationText(v)
	case float64: // JSON has all digits
		if v >= 1000 || v <= -1000 {
			return words.Thousands(int(v))
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	case int:
		return words.Thousands(v)
	case int64:
		return words.Thousands(int(v))
	default:
		return fmt.Sprint(v)
	}
}
