package eval

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// LeftOut counts the answers of a file that were not used. The lists of places have the first three of each kind.
type LeftOut struct {
	Unknown       int      // answers to questions that the dataset does not have
	UnknownAt     []string // file, line and id
	Mismatched    int      // answers that name another database than their question
	MismatchAt    []string // file, line and id
	Overwritten   int      // answers of one run to a question that it answered before
	OverwrittenAt []string // file, line and id
}

// mostPlaces is how many places a LeftOut names.
const mostPlaces = 3

// addPlace adds a place to a list of them, unless there are enough.
func addPlace(places *[]string, format string, args ...any) {
	if len(*places) < mostPlaces {
		*places = append(*places, fmt.Sprintf(format, args...))
	}
}

// String returns one line about the unused answers; "" if there are none.
func (l LeftOut) String() string {
	var parts []string
	add := func(n int, what string, places []string) {
		if n == 0 {
			return
		}
		text := fmt.Sprintf("%s: %d (%s", what, n, strings.Join(places, "; "))
		if n > mostPlaces {
			text += "; …"
		}
		parts = append(parts, text+")")
	}
	add(l.Unknown, "answers to unknown questions", l.UnknownAt)
	add(l.Mismatched, "answers about another database than their question", l.MismatchAt)
	add(l.Overwritten, "answers to a question that the run had answered", l.OverwrittenAt)
	return strings.Join(parts, "; ")
}

// find returns the question of an answer, and counts the answers without one.
func (l *LeftOut) find(d *Dataset, a Answer, byLine bool, file string) (Question, bool) {
	var (
		q  Question
		ok bool
	)
	if a.Question != "" {
		q, ok = d.Question(a.Question)
	} else {
		q, ok = d.place(a.Place, byLine)
	}
	if !ok {
		addPlace(&l.UnknownAt, "%s:%d, question %s", file, a.Line, cmp.Or(a.Question, strconv.Itoa(a.Place)))
		l.Unknown++
		return Question{}, false
	}
	if a.DB != "" && q.DB != "" && a.DB != q.DB {
		addPlace(&l.MismatchAt, "%s:%d, question %s about %s, not %s", file, a.Line, q.ID, q.DB, a.DB)
		l.Mismatched++
		return Question{}, false
	}
	return q, true
}
