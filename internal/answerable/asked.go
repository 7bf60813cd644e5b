package answerable

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// word is a word of a question.
type word struct{ text, stem string }

// content returns the words of a question that have a meaning of their own, each once.
func content(question string) (list []word) {
	for _, w := range words.Of(question) {
		stem := words.Stem(w)
		empty := words.IsPlain(w) || words.IsPlain(stem) || asking[w] || asking[stem]
		if !empty && !slices.ContainsFunc(list, func(x word) bool { return x.stem == stem }) {
			list = append(list, word{w, stem})
		}
	}
	return list
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// english reports whether a question has a word that only English has.
func english(question string) bool {
	return slices.ContainsFunc(words.Of(question), func(w string) bool { return len(w) > 2 && words.IsPlain(w) })
}

// asking are the words by which people ask, count, compare and speak of time. A statement answers them by its form, not
// by a name.
var asking = words.Set(`
	my our your his her them he she they if than then so but also just only same other more most less least very since until
	till within during before after between over under about per into out up down off first last second third next previous
	previously current currently recent recently latest earliest new old begin end one two three four five six seven eight
	nine ten top number count total sum average mean maximum minimum max min highest lowest largest smallest longest shortest
	frequent frequently frequency common commonly often times time date day month year week hour today yesterday now ago past
	present tomorrow will shall may might must need want know see let make use used using take took taken taking place happen happened
	occur occurred result value name different distinct unique difference compare compared greater higher lower percentage
	percent rate ratio again ever yet still already being having done got provide identify determine calculate retrieve describe
	report specify indicate enumerate whether check receive received give given gave perform performed find found follow
	followed following include included including among throughout via older younger above below come came call called record
	recorded conduct conducted carry carried measure measured based related associated involve involved instance people person
	someone anyone thing s t m d ll re ve didn't don't doesn't isn't wasn't aren't couldn't wouldn't pull order ordered look
	yearly monthly daily weekly detail information data like well back here whose either both neither none nothing anything
	something everything without except against through across along around because while although though even really several
	few lot kind sort type amount quantity age aged never instead exist own owned place placed made raise raised produce
	produced belong contain work smaller bigger larger heavier lighter taller shorter younger youngest older oldest earlier
	later fewer fewest better worse best worst no one`)

// beyond are words that ask for what no statement makes.
var beyond = words.Set(`
	explain predict prediction forecast recommend recommendation suggest suggestion why algorithm develop design visualize
	visualization visualise plot draw cluster translate convert generate create image picture photo chart graph correlate
	correlation affect impact should advise advice`)
