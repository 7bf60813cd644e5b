package meaning

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// Plural returns the name of a table as English words for several of its rows: "order_item", "OrderItem" and "order_items" are
// "order items". sure is false where the plural is not known to be right, and the words are then those of the name as it is.
//
// The rules are those of regular nouns, with short lists of others. Mass nouns, participles, abbreviations and names with digits
// are not sure.
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
	for one, irregular := range irregulars {
		if *last == irregular {
			*last = one
			return strings.Join(all, " "), true
		}
	}
	*last = words.Stem(*last)
	return strings.Join(all, " "), true
}

// nameWords are the words of a name, split at case and at what is no letter, without a prefix that says that it is a table.
func nameWords(name string) []string {
	all := words.OfName(name)
	if len(all) > 1 && slices.Contains(prefixes, all[0]) {
		return all[1:]
	}
	return all
}

// prefixes begin names and mean nothing to a reader.
var prefixes = []string{"tbl", "t", "dim", "fact", "fct", "stg", "vw", "v"}

// spoken is the name of a column in words.
func spoken(name string) string {
	all := words.OfName(name)
	for i, word := range all {
		if long := abbreviations[word]; long != "" {
			all[i] = long
		}
	}
	if len(all) == 0 {
		return strings.TrimSpace(name)
	}
	return strings.Join(all, " ")
}

// abbreviations are those that every reader of names of columns knows.
var abbreviations = map[string]string{
	"qty": "quantity", "amt": "amount", "avg": "average", "num": "number", "cnt": "count", "unitprice": "unit price",
}

// irregulars are nouns with a plural of their own.
var irregulars = map[string]string{
	"person": "people", "child": "children", "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth", "mouse": "mice",
	"hero": "heroes", "superhero": "superheroes", "potato": "potatoes", "tomato": "tomatoes", "bus": "buses", "gas": "gases",
	"status": "statuses", "campus": "campuses", "bonus": "bonuses", "virus": "viruses", "census": "censuses", "analysis": "analyses",
	"basis": "bases", "crisis": "crises", "knife": "knives", "life": "lives", "wife": "wives", "shelf": "shelves", "leaf": "leaves",
	"half": "halves", "quiz": "quizzes", "index": "indexes", "vertex": "vertices", "criterion": "criteria", "address": "addresses",
	"movie": "movies", "cookie": "cookies", "tie": "ties", "lens": "lenses", "bias": "biases", "canvas": "canvases", "atlas": "atlases",
}

// uncounted are words of which there is no sure plural.
var uncounted = words.Set(`data media staff information equipment inventory stock news series species sheep fish money software hardware
	feedback metadata history content revenue traffic weather music mail cash work research evidence knowledge hist log info misc
	temp tmp main master detail lookup map link rel xref value all other wide connected active bond schema admin config`)

var (
	plainNoun  = regexp.MustCompile(`^[a-z]{3,}$`)
	participle = regexp.MustCompile(`(ed|ing)$`)
	vowelO     = regexp.MustCompile(`[aeiou]o$`)
	hissing    = regexp.MustCompile(`(ss|x|ch|sh|zz)$`)
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
	case !plainNoun.MatchString(noun), uncounted[noun], uncounted[words.Stem(noun)] && noun != "values":
		return noun, false
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

// nounsIng are nouns that look like participles, nounsO those in -o that take an s.
var (
	nounsIng = []string{"booking", "building", "listing", "meeting", "rating", "reading", "setting", "training", "ranking", "painting",
		"filing", "thing", "ring", "king", "bed", "seed", "feed", "need", "breed"}
	nounsO = []string{"photo", "video", "memo", "logo", "auto", "zoo", "studio", "radio", "casino", "piano", "demo", "promo", "repo"}
)
