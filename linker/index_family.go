package linker

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

const (
	wholeFamily = 4 // a family of fewer tables is linked whole
	mostMembers = 8 // of a family that a question's numbers choose

	mostNumbered = 4096 // characters that are looked through for numbers
)

// member is a table of a family, with the numbers in its name.
type member struct {
	place int32
	runs  []string
}

var (
	isoDates  = regexp.MustCompile(`\b([0-9]{4})[-/.]([0-9]{2})(?:[-/.]([0-9]{2}))?\b`)
	months    = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	monthName = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	wordDates = regexp.MustCompile(`(?i)\b(?:([0-9]{1,2})(?:st|nd|rd|th)? (?:of )?)?` + monthName +
		`(?: ([0-9]{1,2})(?:st|nd|rd|th)?)?,? (?:of )?([0-9]{4})\b`)
)

// askedNumbers are the numbers and dates of a question as names write them: 2017, 201701, 20170131.
func askedNumbers(in Input) (numbers []string) {
	text := words.Cut(in.Question+" "+in.Evidence, mostNumbered) // evidence may be a document
	for line := range strings.Lines(text) {                      // on which a date stands whole
		if runs := digitRuns(line); !slices.ContainsFunc(runs, func(run string) bool { return len(run) == 4 }) {
			numbers = append(numbers, runs...) // there is no year, and the expressions are slow
			continue
		}
		for _, d := range isoDates.FindAllStringSubmatch(line, -1) {
			numbers = append(numbers, d[1]+d[2]+d[3])
		}
		line = isoDates.ReplaceAllString(line, " ")
		for _, d := range wordDates.FindAllStringSubmatch(line, -1) {
			number := fmt.Sprintf("%s%02d", d[4], 1+slices.Index(months, strings.ToLower(d[2])))
			if day := cmp.Or(d[1], d[3]); day != "" {
				number += strings.Repeat("0", 2-len(day)) + day
			}
			numbers = append(numbers, number)
		}
		numbers = append(numbers, digitRuns(wordDates.ReplaceAllString(line, " "))...)
	}
	return numbers
}

func digitRuns(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// Family returns the tables that form one entry with t, in the order of the schema. It returns only t if t has no
// family, and nil if the schema does not have t.
func (x *Index) Family(t schema.TableName) (family []schema.TableName) {
	if e, ok := x.entryOf[t]; ok {
		for _, i := range x.entries[e].members {
			family = append(family, x.schema.Tables[i].TableName())
		}
	}
	return family
}

// choose returns the tables of an entry that the numbers of a question mean: all of a small family, else those that a
// number names, those between two that are named, or the newest. note says what was left out.
func (x *Index) choose(e int, numbers []string) (places []int32, note string) {
	all := x.entries[e].members
	if len(all) < wholeFamily {
		return all, ""
	}
	members := make([]member, len(all))
	for i, place := range all {
		members[i] = member{place, digitRuns(x.schema.Tables[place].Name)}
	}
	slices.SortStableFunc(members, func(a, b member) int { return slices.CompareFunc(a.runs, b.runs, compareNumbers) })
	longest := 0
	var chosen []int // places in members
	for i, m := range members {
		switch length := m.named(numbers); {
		case length == 0 || length < longest:
		case length > longest:
			longest, chosen = length, []int{i}
		default:
			chosen = append(chosen, i)
		}
	}
	newest := len(members) - 1
	switch n := len(chosen); {
	case n == 0:
		chosen = []int{newest}
	case n > mostMembers:
		chosen = chosen[n-1:]
	case n > 1 && chosen[n-1]-chosen[0] < mostMembers: // from the first to the last
		first, last := chosen[0], chosen[n-1]
		chosen = nil
		for i := first; i <= last; i++ {
			chosen = append(chosen, i)
		}
	}
	var linked []string
	for _, i := range chosen {
		places = append(places, members[i].place)
		linked = append(linked, x.schema.Tables[members[i].place].Name)
	}
	first := x.schema.Tables[members[0].place].TableName()
	if len(chosen) < len(members) {
		note = fmt.Sprintf("%s to %s are a family of %d tables alike: the question means %s", first,
			x.schema.Tables[members[newest].place].Name, len(members), strings.Join(linked, ", "))
		if longest == 0 {
			note = strings.Replace(note, "the question means", "the question names none, the last is linked:", 1)
		}
	}
	return places, note
}

// named is the length of the longest number that a name holds: in full, or a year or month that it begins with.
func (m member) named(numbers []string) (length int) {
	for _, run := range m.runs {
		for _, n := range numbers {
			if compareNumbers(run, n) == 0 || len(n) >= 4 && strings.HasPrefix(run, n) {
				length = max(length, len(n))
			}
		}
	}
	return length
}

// compareNumbers compares runs of digits of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
