package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// dayStart begins the line of a request that says which day it is. Recordings hold the line: it never changes.
const dayStart = "Today is "

// DayLine says in one line which day t is in the time zone of t: "Today is Friday, 2026-11-27 (time zone CET, UTC+01:00)."
// It is the same from midnight to midnight: the zone is that of noon.
func DayLine(t time.Time) string {
	noon := time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, t.Location())
	zone := noon.Format("MST, UTC-07:00")
	if _, offset := noon.Zone(); offset == 0 {
		zone = "UTC"
	}
	return dayStart + noon.Format("Monday, 2006-01-02") + " (time zone " + zone + ")."
}

// Today is a middleware that tells the model the day, so that it can decide what "last month" means: the line ends the
// system message of every request, where a prefix that is cached lasts for a day. A request without a system message gets
// one. "": it changes nothing. See DayLine.
func Today(line string) Middleware {
	if line == "" {
		return func(next Model) Model { return next }
	}
	return func(next Model) Model { return today{inner{next}, line} }
}

type today struct {
	inner
	line string
}

func (t today) Complete(ctx context.Context, req Request) (Response, error) {
	return t.next.Complete(ctx, req.OnDay(t.line))
}

// Day is the line of the request that says which day it is; "": it has none.
func (r Request) Day() string {
	for _, m := range r.Messages {
		if at := strings.LastIndex(m.Text, "\n"+dayStart); m.Role == System && at >= 0 {
			return strings.TrimSuffix(m.Text[at+1:], "\n")
		}
	}
	return ""
}

// OnDay is the request with another line that says which day it is; with "" it has none.
func (r Request) OnDay(line string) Request {
	at := slices.IndexFunc(r.Messages, func(m Message) bool { return m.Role == System })
	switch was := r.Day(); {
	case was == line:
		return r
	case at < 0:
		r.Messages = slices.Insert(slices.Clone(r.Messages), 0, Message{Role: System})
		at = 0
		if r.CachePrefix > 0 {
			r.CachePrefix++
		}
	default:
		r.Messages = slices.Clone(r.Messages)
		if was != "" {
			r.Messages[at].Text = strings.TrimSuffix(r.Messages[at].Text, fmt.Sprintf("\n%s\n", was))
		}
	}
	if line == "" && r.Messages[at].Text == "" {
		r.Messages = slices.Delete(r.Messages, at, at+1)
		r.CachePrefix = max(r.CachePrefix-1, 0)
		return r
	}
	if line != "" {
		r.Messages[at].Text += "\n" + line + "\n"
	}
	return r
}

// ParseDay reads what DayLine wrote: noon of the day in its time zone.
func ParseDay(line string) (time.Time, bool) {
	date, zone, _ := strings.Cut(strings.TrimSuffix(line, ")."), " (time zone ")
	day, err := time.Parse(dayStart+"Monday, 2006-01-02", date)
	if err != nil {
		return time.Time{}, false
	}
	in := time.UTC
	if zone != "UTC" {
		at, err := time.Parse("UTC-07:00", zone[strings.LastIndex(zone, " ")+1:])
		if err != nil {
			return time.Time{}, false
		}
		name, _, _ := strings.Cut(zone, ",")
		_, offset := at.Zone()
		in = time.FixedZone(name, offset)
	}
	return time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, in), true
}
