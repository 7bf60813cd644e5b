package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/dateprompt"
)

// Day returns the line of the request with the current day; "" if it has none.
func (r Request) Day() string {
	for _, m := range r.Messages {
		if at := strings.LastIndex(m.Text, "\n"+dateprompt.Start); m.Role == System && at >= 0 {
			return strings.TrimSuffix(m.Text[at+1:], "\n")
		}
	}
	return ""
}

// OnDay returns the request with another line for the current day; "" removes the line.
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
