package snapshot

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Stored is a text that a column stores.
type Stored struct{ Schema, Table, Column, Value string }

// MostTexts is how many distinct texts of a column are found by their words.
const MostTexts = 5000

const (
	mostTextBytes = 64 << 20 // of all tables of a snapshot
	mostTextWords = 8        // of a text that is found
	nearTexts     = 3        // that Near returns
	fewTexts      = 8        // of a column whose texts All returns
)

// texts are the stored texts of the tables that were profiled, by their words. A snapshot of a scope has its own. It
// grows with each table, so that one reading of the words of a question finds the texts of all of them.
type texts struct {
	mu     sync.Mutex
	tables map[schema.TableName]bool
	homes  []Stored            // columns, without a value
	few    map[Stored][]string // columns whose distinct texts are few: all of them
	list   []text
	first  map[string]int32 // by words: the last of list that has them
	read   int              // list[:read] are in first
	bytes  int
}

// text is one text of a column. next is the text before it in list that has the same words; -1: none.
type text struct {
	value      string
	home, next int32
}

// stored is what is found by words. It is needed: a table is read once for it and for its profile.
var stored = &Derived[struct{}, *texts]{Needed: true, Size: func(_ struct{}, t *texts) int { return t.size() }}

// unnamed is the snapshot under the names of the database: stored texts do not depend on what a prompt calls their
// table.
func (s *Snapshot) unnamed() *Snapshot {
	if s == nil {
		return nil
	}
	return s.Named("", s.Schema)
}

// KeepTexts adds the distinct texts of a table, by column, the frequent ones first; nil: those that its profile holds.
// The first call for a table counts.
func (s *Snapshot) KeepTexts(table *schema.Table, columns map[string][]string) {
	if s == nil {
		return
	}
	s = s.unnamed()
	t, _ := stored.Of(context.Background(), s, struct{}{}, func(context.Context) (*texts, error) { return &texts{}, nil })
	t.add(table, columns)
	stored.Keep(s, struct{}{}, t) // with its new size
}

// profileTexts are the texts among the values that the profiles of a table keep.
func profileTexts(t *schema.Table) map[string][]string {
	columns := map[string][]string{}
	for _, c := range t.Columns {
		if c.Profile == nil || c.Sensitive {
			continue
		}
		values := slices.Clone(c.Profile.Examples)
		for _, v := range c.Profile.Top {
			values = append(values, v.Value)
		}
		for _, v := range values {
			if text, ok := v.(string); ok && !slices.Contains(columns[c.Name], text) {
				columns[c.Name] = append(columns[c.Name], text)
			}
		}
	}
	return columns
}

// size is what the texts take in memory.
func (t *texts) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// add adds a table that is not there.
func (t *texts) add(of *schema.Table, columns map[string][]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tables == nil {
		t.tables, t.first, t.few = map[schema.TableName]bool{}, map[string]int32{}, map[Stored][]string{}
	}
	table := of.TableName()
	if t.tables[table] {
		return
	}
	whole := len(columns) > 0
	if !whole {
		columns = profileTexts(of)
	}
	t.tables[table] = true
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		home := int32(len(t.homes))
		t.homes = append(t.homes, Stored{Schema: table.Schema, Table: table.Name, Column: column})
		if (whole || hasAllTexts(of, column, columns[column])) && areFew(columns[column]) {
			t.few[t.homes[home]] = columns[column]
		}
		for _, value := range columns[column][:min(len(columns[column]), MostTexts)] {
			if t.bytes += 100 + 2*len(value); t.bytes > mostTextBytes {
				return
			}
			t.list = append(t.list, text{value, home, -1})
		}
	}
}

// hasAllTexts reports whether the texts are as many as the distinct values of the column's profile.
func hasAllTexts(t *schema.Table, column string, texts []string) bool {
	c, ok := t.Column(column)
	return ok && c.Profile != nil && c.Profile.Distinct == int64(len(texts))
}

// areFew reports whether a prompt may list all texts of a column: they are few, short, and no addresses of people.
func areFew(texts []string) bool {
	isUnfit := func(text string) bool { return len(text) > 40 || IsContact(text) }
	return len(texts) <= fewTexts && !slices.ContainsFunc(texts, isUnfit)
}

// Words finds stored texts by their words. Equal words are those without case, accents, hyphens, blanks and the plural.
type Words struct {
	of    *texts
	shown *schema.Schema
	names *names
}

// HasTexts reports whether texts of a table were kept.
func (s *Snapshot) HasTexts() bool {
	_, ok := stored.Known(s.unnamed(), struct{}{})
	return ok
}

// Words returns the stored texts of the columns that shown has. Where none were kept, they are those that the profiles
// of shown hold, and all of its columns are read for them.
func (s *Snapshot) Words(shown *schema.Schema) Words {
	if t, ok := stored.Known(s.unnamed(), struct{}{}); ok {
		return Words{t, shown, s.namesFor(shown)}
	}
	var own texts
	for i := range shown.Tables {
		if t := &shown.Tables[i]; isProfiled(t) {
			own.add(t, nil)
		}
	}
	return Words{&own, shown, s.namesFor(shown)}
}

// isProfiled reports whether a column of a table has a profile. Columns are large: it copies none.
func isProfiled(t *schema.Table) bool {
	for i := range t.Columns {
		if t.Columns[i].Profile != nil {
			return true
		}
	}
	return false
}

// hit is a text of a column whose words stand in a question: n of them from the word at on.
type hit struct {
	value string
	at, n int
}

// Named returns the stored texts whose words stand in a question in a row: those of more words first, and those of one
// place in the order of their columns. A text is not returned where a longer one of its column has its words. A text of
// up to three letters has to stand there as it is stored, and so has a code such as NO that is a usual word, too.
// Only columns with a profile in the schema count: what other questions profiled makes no difference.
func (w Words) Named(question string) (list []Stored) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.index()
	hits := map[Stored][]hit{} // by column
	asked := stemsOf(question)
	var key []byte // no text is made of words that no stored text has
	for n := min(mostTextWords, len(asked)); n > 0; n-- {
		for at := 0; at+n <= len(asked); at++ {
			key = key[:0]
			for _, word := range asked[at : at+n] {
				key = append(key, word...)
			}
			if _, isKnown := w.of.first[string(key)]; !isKnown {
				continue
			}
			for _, s := range w.having(string(key), question) {
				h := hit{s.Value, at, n}
				column := s
				column.Value = ""
				if !slices.ContainsFunc(hits[column], h.within) {
					hits[column], list = append(hits[column], h), append(list, s)
				}
			}
		}
	}
	return list
}

// within reports whether another text of the column is the same one, or a longer one that has the words of h.
func (h hit) within(other hit) bool {
	return h.value == other.value || h.n < other.n && other.at <= h.at && h.at+h.n <= other.at+other.n
}

// having returns the texts of the columns of shown that have some words of a question. The caller holds the lock.
func (w Words) having(key, question string) (list []Stored) {
	last, ok := w.of.first[key]
	for i := last; ok && i >= 0; i = w.of.list[i].next {
		s := w.of.homes[w.of.list[i].home]
		s.Value = w.of.list[i].value
		if w.shows(s, true) && says(question, key, s.Value) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Stored) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Value, b.Value))
	})
	return list
}

// says reports whether a question with the words of a text names it.
func says(question, key, value string) bool {
	code := value == strings.ToUpper(value)
	if len([]rune(value)) > 3 && !words.IsPlain(key) {
		return true
	}
	return words.Spelled(question, value) && (code || !words.IsPlain(key))
}

// index reads the words of the texts that were added since the last time.
func (t *texts) index() {
	for ; t.read < len(t.list); t.read++ {
		x := &t.list[t.read]
		stems := stemsOf(x.value)
		if len(stems) == 0 || len(stems) > mostTextWords || !strings.ContainsFunc(x.value, unicode.IsLetter) {
			continue
		}
		key := strings.Join(stems, "")
		if before, ok := t.first[key]; ok {
			x.next = before
		}
		t.first[key] = int32(t.read)
	}
}

// shows reports whether the schema shows the column of a text, with its profile if profiled is set.
func (w Words) shows(s Stored, profiled bool) bool {
	t := w.table(schema.TableName{Schema: s.Schema, Name: s.Table})
	if t == nil {
		return false
	}
	c, ok := t.Column(s.Column)
	return ok && !c.Sensitive && (c.Profile != nil || !profiled)
}

// All returns the texts of a column that has at most eight, the frequent ones first; nil: it has more, or was not
// profiled.
func (w Words) All(table schema.TableName, column string) []string {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	of := Stored{Schema: table.Schema, Table: table.Name, Column: column}
	if !w.shows(of, false) {
		return nil
	}
	return slices.Clone(w.of.few[of])
}

// Near returns the texts of a column that may be meant by one that it does not store: the nearest by spelling, and
// those that have all of its words; nil for one that it stores. E-mail addresses and phone numbers are never among
// them.
func (w Words) Near(table schema.TableName, column, value string) (list []string) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	of := Stored{Schema: table.Schema, Table: table.Name, Column: column}
	home := int32(slices.Index(w.of.homes, of))
	if home < 0 || !w.shows(of, false) {
		return nil
	}
	var all, having []string
	asked := stemsOf(value)
	for _, x := range w.of.list {
		if x.home != home || IsContact(x.value) {
			continue
		}
		if x.value == value {
			return nil
		}
		has := stemsOf(x.value)
		lacks := func(s string) bool { return !slices.Contains(has, s) }
		if all = append(all, x.value); len(asked) > 0 && !slices.ContainsFunc(asked, lacks) {
			having = append(having, x.value)
		}
	}
	if near := words.Nearest(value, all); near != "" && len([]rune(value)) > 3 {
		list = append(list, near)
	}
	slices.Sort(having)
	for _, text := range having {
		if len(list) < nearTexts && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// contact is the form of an e-mail address, alone or behind a name, or of a phone number.
var contact = regexp.MustCompile(`^\s*(?:(?:[^@<]*<|mailto:)?[^\s@<>:/]+@[^\s@<>:/]+\.\pL{2,}>?|` +
	`(?:\+|\()[\d(][\d ()./-]{6,20}\d|00[1-9](?:[ ()./-]*\d){9,13}|` +
	`(?:0[1-9]|[1-9]\d)\d[ .-]\d{3,4}[ .-]\d{4}|[1-9]\d{2}[ -]\d{7}|` +
	`0[1-9](?:[ .]\d{2}){4}|0[1-9] \d{4} \d{4}|0[1-9]\d{1,3}[ /-]\d{5,9})\s*$`)

// IsContact reports whether a stored text is an e-mail address or a phone number.
func IsContact(text string) bool { return len(text) < 100 && contact.MatchString(text) }

// stemsOf are the words of a text without accents, each in the singular.
func stemsOf(text string) []string {
	text = strings.ToLower(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		text = letters.Replace(text)
	}
	list := words.Of(text)
	for i, w := range list {
		list[i] = words.Stem(w)
	}
	return list
}

// letters are Latin letters with the plain ones that people type for them.
var letters = strings.NewReplacer(strings.Fields("à a á a â a ã a ä a å a ā a ă a ą a ç c ć c č c ď d è e é e ê e ë " +
	"e " +
	"ē e ė e ę e ě e ğ g ì i í i î i ï i ī i į i ı i ł l ñ n ń n ň n ò o ó o ô o õ o ö o ø o ő o ř r ś s š s ş s ș s " +
	"ß ss ť t ț t ù u ú u û u ü u ū u ů u ű u ý y ÿ y ź z ż z ž z æ ae œ oe")...)
