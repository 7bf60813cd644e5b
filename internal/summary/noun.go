package summary

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// Plural returns the name of a table as English words for several of its rows: "order_item", "OrderItem" and
// "order_items" are "order items". sure is false where the plural is not known to be right, and the words are then
// those of the name as it is.
//
// The rules are those of regular nouns, with short lists of others. Mass nouns, participles, abbreviations and names
// with digits are not sure.
func Plural(name string) (text string, sure bool) {
	all := nameWords(name)
	if len(all) == 0 {
		return strings.TrimSpace(name), false
	}

	last := all[len(all)-1]
	many, sure := plural(last)
	if !sure {
		return strings.Join(all, " "), false
	}
	return strings.Join(append(slices.Clone(all[:len(all)-1]), many), " "), true
}

// Singular returns the name of a table as English words for one of its rows. sure is as for [Plural].
func Singular(name string) (text string, sure bool) {
	many, sure := Plural(name)
	if !sure {
		return many, false
	}

	all := strings.Fields(many)
	last := &all[len(all)-1]
	found := words.Stem(*last)
	for one, irregular := range irregulars {
		if *last == irregular {
			found = one
		}
	}
	*last = found
	return strings.Join(all, " "), true
}

// nameWords are the words of a name, split at case and at what is no letter, without marks that say that it is a table
// or a view.
func nameWords(name string) []string {
	all := words.OfName(name)
	if len(all) > 1 && slices.Contains(prefixes, all[0]) {
		all = all[1:]
	}
	if last := len(all) - 1; last > 0 && slices.Contains(suffixes, all[last]) {
		all = all[:last]
	}
	return strings.Fields(strings.Join(expandWords(all), " "))
}

// prefixes and suffixes of names mean nothing to a reader.
var (
	prefixes = []string{"tbl", "tb", "t", "dim", "fact", "fct", "stg", "vw", "v", "lkp", "lookup", "lu", "lut", "ref",
		"mst", "tab", "d", "f"}
	kinds    = []string{"dbl", "str", "lng", "bln", "txt", "chr", "nvc"} // of columns
	suffixes = []string{"tbl", "vw", "v", "table", "dim", "fact", "lookup", "lkp"}
)

// spoken is the name of a column in words: "number of days" of num_days, "duration in minutes" of DurationMin.
func spoken(name string) string {
	all := words.OfName(name)
	if len(all) == 0 {
		return strings.TrimSpace(name)
	}
	if len(all) > 1 && slices.Contains(kinds, all[0]) {
		all = all[1:]
	}
	text := ordinal.ReplaceAllString(strings.Join(expandWords(all), " "), " number")
	if rest, counts := strings.CutPrefix(text, "number "); counts && !strings.HasPrefix(rest, "of ") {
		text = "number of " + rest
	}
	if m := measured.FindStringSubmatch(text); m != nil {
		text = m[1] + " in " + units[m[2]]
	}
	if m := areaUnit.FindStringSubmatch(text); m != nil {
		text = m[1] + " in " + m[2] + map[string]string{"2": "²", "3": "³"}[m[3]]
	}
	return text
}

// expandWords are words without their abbreviations.
func expandWords(all []string) []string {
	for i, word := range all {
		if long := abbreviations[word]; long != "" {
			all[i] = long
		}
	}
	return all
}

// abbreviations are those that every reader of names of columns knows.
var abbreviations = words.Pairs(`ts timestamp qty quantity amt amount avg average num number nbr number cnt count
	unitprice unit_price dt date yr year pct percent dob date_of_birth desc description descr description emp
	employee empl employee dept department mgr manager addr address acct account cust customer prod product ord
	order pmt payment appt appointment veh vehicle dur duration fname first_name lname last_name trx transaction txn
	transaction hrs hours mins minutes secs seconds ctry country usr user tot total bal balance`)

// measured is a quantity with its unit, ordinal the end of a name of numbers.
var (
	areaUnit = regexp.MustCompile(`^(.*) (km|m|cm|mm|ft|mi) ([23])$`)
	ordinal  = regexp.MustCompile(` (no|nr)$`)
	measured = regexp.MustCompile(
		`^(.*\b(?:duration|time|length|delay|wait|runtime|visit|stay|break|travel|service|response|weight|distance|height|` +
			`width|depth|load|capacity|amount|price|cost|fee|consumption|energy|temperature)) (min|sec|ms|hours|minutes|seconds|days|kg|km|cm|mm|m|kwh|usd|eur|gbp)$`)
	units = words.Pairs(`min minutes sec seconds ms milliseconds hours hours minutes minutes seconds seconds days days kg
		kg km km cm cm mm mm m m kwh kWh usd USD eur EUR gbp GBP`)
)

// irregulars are nouns with a plural of their own.
var irregulars = words.Pairs(`person people child children man men woman women foot feet tooth teeth mouse mice hero
	heroes superhero superheroes potato potatoes tomato tomatoes bus buses gas gases status statuses campus campuses
	bonus bonuses virus viruses census censuses analysis analyses basis bases crisis crises knife knives life lives
	wife wives shelf shelves leaf leaves half halves quiz quizzes index indexes vertex vertices criterion criteria
	address addresses movie movies cookie cookies tie ties lens lenses bias biases canvas canvases atlas atlases`)

// uncounted are words of which there is no sure plural.
var uncounted = words.Set(`maintenance data media staff information equipment inventory stock news series species sheep fish
	money software hardware feedback metadata history content revenue traffic weather music mail cash work research
	evidence knowledge hist log info misc temp tmp main master detail lookup map link rel xref value all other wide
	connected active bond schema admin config`)

var (
	plainNoun  = regexp.MustCompile(`^[a-z]{3,}$`)
	participle = regexp.MustCompile(`(ed|ing)$`)
	vowelO     = regexp.MustCompile(`[aeiou]o$`)
	hissing    = regexp.MustCompile(`(ss|x|ch|sh|zz)$`)
	foreign    = regexp.MustCompile(`[b-df-hj-np-tv-z]en$|[^aeou]i$`) // plurals of German, Dutch, Italian and Polish
	consonantY = regexp.MustCompile(`[^aeiou]y$`)
)

// plural returns a noun in the plural, in which it may stand already.
func plural(noun string) (many string, sure bool) {
	if irregular := irregulars[noun]; irregular != "" {
		return irregular, true
	}
	for _, irregular := range irregulars {
		if noun == irregular {
			return noun, true
		}
	}

	switch {
	case !plainNoun.MatchString(noun), uncounted[noun]:
		return noun, false
	case foreign.MatchString(noun) && !slices.Contains(nounsEn, noun):
		return noun, true
	case hissing.MatchString(noun):
		return noun + "es", true
	case strings.HasSuffix(noun, "us"), strings.HasSuffix(noun, "is"):
		return noun, false
	case strings.HasSuffix(noun, "s"):
		return noun, true
	case participle.MatchString(noun) && !slices.Contains(nounsIng, noun):
		return noun, false
	case consonantY.MatchString(noun):
		return noun[:len(noun)-1] + "ies", true
	case strings.HasSuffix(noun, "o") && !vowelO.MatchString(noun):
		return noun + "s", slices.Contains(nounsO, noun)
	}
	return noun + "s", true
}

// nounsIng are nouns that look like participles, nounsO those in -o and nounsEn those in -en and -i that take an s.
var (
	nounsEn = strings.Fields(`garden token citizen kitchen specimen oven pen hen chicken maiden burden warden heaven
		raven siren sven alien men women taxi ski kiwi pi omen dozen bikini safari`)
	nounsIng = strings.Fields(`booking building listing meeting rating reading setting training ranking painting
		filing thing ring king bed seed feed need breed`)
	nounsO = strings.Fields(`photo video memo logo auto zoo studio radio casino piano demo promo repo`)
)
