package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// value is a value of one row, in words, or of many.
type value struct {
	words   string
	column  columnRef // the only one that it is made of
	span    string    // the part of a time that it is: "month"
	whole   bool      // another statement computes a part of it
	filled  bool      // a text stands for missing values
	measure *measure
}

// columnRef is a column of a table.
type columnRef struct {
	name, words string // as the statement has it, and in words
	text        string // what a reader calls it, with its table where the rows are others
	of          *table // nil: it is not known
	own         bool   // it needs no table
	stamp       stamp
}

// column reads t.c or c.
func (r *reader) column() columnRef {
	c := columnRef{name: r.name()}
	present := r.present()
	if len(present) == 1 {
		c.of = present[0]
	}
	if r.take(".") {
		of := c.name
		if c.name = r.name(); r.take(".") { // schema.t.c
			of, c.name = c.name, r.name()
		}
		if c.of = r.aliases[strings.ToLower(of)]; c.of == nil {
			r.fail()
		}
	}
	if r.failed || r.is("(") {
		r.fail()
		return c
	}

	c.words = spoken(c.name)
	c.stamp = stampOf(c.words, c.of)
	c.text = flagVerb.ReplaceAllString(c.stamp.named(c.words), "")
	if strings.HasSuffix(c.text, " by") {
		c.text = "“" + c.text + "”"
	}
	c.own = c.of == nil || len(present) == 1 && !c.of.absent || c.of == r.subject
	if !c.own {
		c.text = c.of.possess(c.text)
	}
	return c
}

// belong notes that nothing says of which of several tables a column is.
func (r *reader) belong(c columnRef) {
	if c.name != "" && c.of == nil {
		r.facts.of = " from " + listed(r.facts.from, "and")
	}
}

// possess puts the name of a table before what its rows have.
func (t *table) possess(words string) string {
	switch {
	case !t.sure:
		return words + " of " + t.many
	case words == t.one || strings.HasSuffix(" "+t.called(), " "+words),
		words == "label", words == "description" && lookup.MatchString(t.one):
		return t.called()
	case strings.HasPrefix(words, t.called()+" "):
		return words
	}
	return t.called() + " " + strings.TrimPrefix(words, lastWord(t.called())+" ")
}

func lastWord(text string) string { return text[strings.LastIndex(text, " ")+1:] }

// lookup are the names of rows that are nothing but their description.
var lookup = regexp.MustCompile(`(^| )(type|kind|status|state|category|class|group|level|reason|method)$`)

// called is one row of the table in words, as what the rows that count have it: "home team" of a match.
func (t *table) called() string { return cmp.Or(t.role, t.one) }

// rows are the rows of the table in words.
func (t *table) rows() string {
	if t.sure || strings.ContainsFunc(t.many, func(c rune) bool { return c > 'ɏ' }) {
		return t.many
	}
	return "entries in " + t.many
}

// is reports whether words name the rows of a table.
func (t *table) is(base string) bool {
	alike := len(base) > 3 && strings.HasPrefix(t.one, base) && len(t.one)-len(base) < 3
	return base != "" && (alike || base == t.many || strings.ReplaceAll(base, " ", "") == strings.ReplaceAll(t.one, " ",
		""))
}

// may reports whether words may name the rows of a table: items are order items.
func (t *table) may(base string) bool {
	return t.is(base) || base != "" && strings.HasSuffix(t.one, " "+base)
}

var (
	keyTail   = regexp.MustCompile(`(^| )?(id|ids|uid|no|nr|number|code|key|uuid|guid|pk|sk)$`)
	endsInKey = regexp.MustCompile(`(^| )(id|uid|uuid|guid|key|pk|sk)$`)
	nameTail  = regexp.MustCompile(`(^| )(name|title|label|description)$`)
)

// keyOf reports whether a column has the name of the key of a table: id, order_id or OrderID of orders.
func keyOf(name string, t *table) bool {
	words := spoken(name)
	base := keyTail.ReplaceAllString(words, "")
	return t != nil && base != words && (base == "" || t.is(base))
}

// joins reports whether rows of two tables belong together by the key of one of them.
func (c columnRef) joins(o columnRef) bool { return c.refersTo(o) || o.refersTo(c) }

// refersTo reports whether c has the key of the table of o.
func (c columnRef) refersTo(o columnRef) bool {
	if c.keyBase() == "" && o.keyBase() == "" {
		return false // two ids, two codes
	}
	return keyOf(o.name, o.of) || !keyOf(c.name, c.of) && o.of.may(o.keyBase())
}

// keyBase is the name of a key without its end.
func (c columnRef) keyBase() string { return keyTail.ReplaceAllString(c.words, "") }

// isKey reports whether a column has the name of the key of its table t, or of a reference to it.
func (c columnRef) isKey(t *table) bool {
	return t != nil && (c.of == t && keyOf(c.name, t) || c.of != t && c.keyBase() != c.words &&
		(t.may(c.keyBase()) || t.role == c.keyBase()))
}

// base returns the word for the rows that a column refers to: "customer" of customer_id. "": it refers to nothing.
func (c columnRef) base() string {
	if base := endsInKey.ReplaceAllString(c.words, ""); base != c.words && !keyOf(c.name, c.of) {
		return base
	}
	return ""
}

// keyFor returns the word for the rows whose keys a column has: "order" of orders.id and of order_id. "": it has other
// values.
func (c columnRef) keyFor() string {
	if c.of != nil && c.of.sure && keyOf(c.name, c.of) {
		return c.of.called()
	}
	return c.base()
}

// namesRows reports whether a column names the rows of its table.
func namesRows(c columnRef) bool { return c.of != nil && nameTail.MatchString(c.words) }

// stamp is what the name of a column says about the time that it has.
type stamp struct {
	is   bool   // it has one
	verb string // what happened then: "created"; "": nothing is known
	self bool   // the row itself happened
	unit string // "time" or "date"
	base string // the name without its end
}

var (
	stampTail = regexp.MustCompile(`^(.*?) ?\b(at|on|date|time|timestamp|datetime|day)$`)
	plainTime = regexp.MustCompile(`^(check ?in|check ?out|deadline|birthday)$`) // a date, or one with its time
	pastVerb  = regexp.MustCompile(
		`(^| )(\w+ed|taken|written|given|chosen|eaten|driven|born|paid|sent|sold|made|held|met|built|` +
			`bought|left|won|begun|done|seen|said)$`)
	flagVerb   = regexp.MustCompile(`^(is|was|are) `)
	adjectives = words.Set(`vip active inactive open paid unpaid public private primary available full empty new valid
		invalid hidden online remote urgent free done current final external internal manual automatic chronic acute
		foreign legal present absent late overdue confidential optional mandatory required billable taxable
		refundable renewable recurring visible reusable fragile perishable vegan vegetarian organic alive pregnant`)
	nominals = words.Pairs(
		`expires expiry created creation updated update modified change changed change paid payment hired hire shipped
		shipping visited visit ordered order booked booking deleted deletion cancelled cancellation canceled
		cancellation started start ended end closed closing opened opening registered registration signed signing
		received receipt delivered delivery admitted admission discharged discharge born birth published publication
		released release returned return logged login submitted submission approved approval completed completion
		enrolled enrolment departed departure arrived arrival borrowed loan loaned loan invoiced invoice billed
		billing sold sale purchased purchase bought purchase posted posting finished finish recorded recording
		resolved resolution repaired repair rented rental reserved reservation expired expiry dispatched dispatch
		loaded loading tested test transferred transfer called call played play reported report raised alarm
		prescribed prescription`)
)

// stampOf reads the name of a column of t.
func stampOf(name string, t *table) (s stamp) {
	m := stampTail.FindStringSubmatch(name)
	if m == nil {
		switch {
		case name == "created" || name == "updated" || name == "modified":
			return stamp{is: true, verb: name, unit: "time", base: name}
		case plainTime.MatchString(name):
			return stamp{is: true, base: name}
		}
		return s
	}
	s = stamp{base: m[1], unit: "time"}
	if m[2] == "on" || m[2] == "date" || m[2] == "day" {
		s.unit = "date"
	}
	if past := pastVerb.FindString(m[1]); past != "" {
		s.verb = m[1]
	}
	s.self = m[1] == "" && m[2] != "at" && m[2] != "on"
	if t != nil && m[1] != "" && (s.verb != "" || m[2] != "time") { // a lap time is a duration
		s.self = happens(m[1], t.one)
	}
	s.is = s.self || s.verb != "" || (m[2] == "at" || m[2] == "on") && m[1] != ""
	return s
}

// happens reports whether a verb, or a noun, says of a row what the row is: ordered of an order.
func happens(verb, one string) bool {
	last := lastWord(one)
	root := strings.TrimSuffix(strings.TrimSuffix(verb, "d"), "e")
	if n := len(root); n > 4 && root[n-1] == root[n-2] { // shipped, a shipment
		root = root[:n-1]
	}
	return verb == one || verb == last || nominals[verb] == last || len(root) > 3 && strings.HasPrefix(last, root)
}

// named is the time as a reader calls it: "creation time"; the name of the column where that is as good.
func (s stamp) named(name string) string {
	noun := nominals[cmp.Or(s.verb, s.base)]
	switch {
	case !s.is, s.unit == "", s.self && s.base == "":
		return name
	case s.self:
		return s.unit
	case noun == "" && s.verb != "":
		noun = s.verb
	case noun == "":
		noun = words.Stem(s.base)
	}
	return noun + " " + s.unit
}

// happened says what happened then; "" where the row itself did.
func (s stamp) happened() string {
	if s.self {
		return ""
	}
	return s.verb
}

// flag says in words that a column is true.
type flag struct {
	adjective string // "active", "managers"
	one       string // "manager"
	has       string // "parking" of has_parking
}

// flag reads the name of a column that is true or false.
func (c columnRef) flag() (f flag) {
	if has, ok := strings.CutPrefix(c.words, "has "); ok {
		return flag{has: has}
	}
	rest := flagVerb.ReplaceAllString(c.words, "")
	last := lastWord(rest)
	prefixed := rest != c.words
	switch many, sure := Plural(rest); {
	case prefixed && sure && person.MatchString(last) && !adjectives[last]:
		return flag{adjective: many, one: rest}
	case prefixed, adjectives[last], pastVerb.MatchString(rest) && !c.stamp.is && !slices.Contains(nounsIng, last),
		strings.HasPrefix(rest, "in ") || strings.HasPrefix(rest, "on ") || strings.HasPrefix(rest, "not "):
		return flag{adjective: rest}
	}
	return f
}

// isAdjective reports whether the name of a column says something of its rows, and is no noun: is_active, joined,
// last_seen.
func (c columnRef) isAdjective() bool {
	return c.flag() != (flag{}) && nounless.MatchString(c.words)
}

var nounless = regexp.MustCompile(`^(has|is|was|are|last|first|most|not|in|on|newly|recently|previously|fully|already|ever|never) |^\S+$`)

// person is a noun that rows may be.
var person = regexp.MustCompile(
	`^(member|manager|admin|administrator|student|patient|customer|user|owner|driver|leader|founder|partner|teacher|` +
		`smoker|donor|volunteer|subscriber|buyer|seller|supplier|vendor|employee|trainee|intern|contractor|parent|supervisor|doctor|nurse|player|` +
		`captain|tourist|bug|defect|emergency|duplicate|` +
		`bounce|holiday|weekend|gift|refund|return|bot|guest|visitor|tenant|lecturer|professor|director|veteran|orphan)$`)

// says reports that the column is true, or is not, where its rows are named: "that are active" has "active".
func (f flag) says(of string, yes bool) (phrase string, at place) {
	switch {
	case f.adjective != "" && yes:
		return f.adjective, thatAre
	case f.adjective != "":
		return "not " + f.adjective, thatAre
	case f.has != "" && yes:
		return "with " + f.has, withOne
	case f.has != "":
		return "without " + f.has, withOne
	case yes:
		return "marked " + of, marked
	}
	return "not marked " + of, marked
}

func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}
