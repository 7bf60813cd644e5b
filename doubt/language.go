package doubt

import (
	"slices"
	"strings"
)

// Language lists the words by which rules read a question in one natural language. Another language is another
// value and needs no code.
//
// The lists from HowMany on hold phrases: words in lower case, separated by blanks. The words of a question are
// runs of letters, digits and inner apostrophes; % is also a word. A phrase without a word never matches. Each
// word of a phrase may be
//
//	word      that word
//	word*     a word that begins so;  *word  one that ends so
//	a/b       either
//	*         any one word
//	#         a number: digits, or one of Numbers
//	...       any number of words, also none
type Language struct {
	Name string // "en"

	// Common holds frequent words of this language, Foreign frequent words of other languages. A question is in this
	// language if at least one word in eight is in Common and more words are in Common than in Foreign. Quoted
	// text is ignored. A repeated word counts once.
	Common, Foreign []string

	Numbers []string // number words

	HowMany    []string // beginnings of a question that asks for one number
	Count      []string // asks for a number of things, or for a share
	Each       []string // asks for a row a group
	Sum        []string // asks for a total
	NotSum     []string // taken out before Sum is looked for
	Everything []string // asks for all columns
	Open       []string // beginnings that ask who something is, or whether it is so, and name no columns
	Negation   []string // denies or excludes

	// The lists by which QuestionFeatures.Columns is counted.
	Ask       []string // words that ask
	AskFill   []string // may stand between a word of Ask and the first thing asked for
	EachFirst []string // "for each", in front of the asking phrase
	Cut       []string // where the list of things ends
	And       []string // joins two things
	Also      []string // asks for one thing more, after the cut
	AsksAgain []string // begins a second question in the sentence, which counts as one thing more

	Furthermore []string // begins a sentence that asks for more than the previous sentence
	By          []string // begins what a question groups or ranks by, which the answer shows; not in NotGroup
	Measures    []string // names a number; a question by group asks for it together with the group

	// The lists by which QuestionFeatures.Asks and QuestionFeatures.Sorted are read.
	NotFirst []string // taken out before the others are looked for
	NotGroup []string // taken out before Groups are looked for
	NotValue []string // taken out before OneValue is looked for
	First    []string // asks for the first or the last of a ranking
	Sort     []string // asks for an order, or for something that needs an order
	Groups   []string // asks for numbers by group
	EachOf   []string // asks for numbers by group if a word of OneValue is in the question
	Beside   []string // asks for numbers by group unless a word of OneValue stands before it
	OneValue []string // asks for one number if the question does not ask for groups
	Theirs   []string // joins things to their owner
	Compare  []string // compares the things named before it
}

// english are the languages of Rules without any. It is only read.
var english = []Language{English()}

// English returns the words of English.
func English() Language {
	return Language{
		Name: "en",
		Common: list(`
			the, of, what, what's, which, how, many, much, who, whose, whom, when, where, are, have, has, does,
			did, were, with, from, that, than, their, there, these, those, they, each, every, and, not, list,
			show, find, give, please, tell, return, count, number, names, both, by, any, only, less, least,
			been, whether, it, its, you, is, to, for, average, amount, between, more, most, never, highest,
			lowest, largest, smallest, top`),
		// German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Polish, Turkish, Indonesian: words
		// that English questions do not have outside of names.
		Foreign: list(`
			der, das, und, ist, wie, viele, welche, welcher, welches, wurde, wurden, sind, wird, nicht, zeige,
			alle, aus, mit, für, von, den, dem, gibt, haben, hat, jeder, jede, jedes, nach, oft, le, les, des,
			est, et, quel, quels, quelle, quelles, combien, dans, pour, avec, sont, du, une, qui, liste, el,
			los, las, qué, que, cuál, cuáles, cuántos, cuántas, cuantos, cuantas, cual, por, para, con, tiene,
			tienen, son, del, una, en, y, hay, muestra, il, gli, della, dei, delle, quanti, quante, quali, che,
			di, nel, sono, per, hanno, elenca, più, os, dos, das, da, quantos, quantas, quais, são, não, com,
			têm, mais, foram, het, een, hoeveel, welke, van, zijn, voor, met, er, hebben, wat, heeft, geef,
			naam, alle, och, är, många, hur, vilka, som, har, på, hvor, mange, hvilke, af, og, ett, ile, jest,
			które, który, się, na, jakie, ilu, kaç, ve, hangi, olan, berapa, yang, dan, dari, apa`),
		Numbers: list(`two, three, four, five, six, seven, eight, nine, ten, eleven, twelve`),

		HowMany: list(`
			how many, count, what is the number, what is the total number, what's the number,
			what's the total number`),
		Count: list(`
			how many, number/numbers of, count/counts, how often, compare*, vs/versus, percent*, ratio,
			proportion, rate, %, group/split/divide/sort/classify/bucket ... into`),
		Each: list(`each, every, per, for all, corresponding, respective*, different ... how many,
			grouped/summarised/summarized/aggregated/categorised/categorized/bucketed/segmented/counted by`),
		Sum: list(`total, sum, overall, how much, combined`),
		NotSum: list(`
			total number/count/numbers, how much does/is/was, total more/less than, total of more/less/over/under,
			total over/above/under/below/between/exceeds/exceeding/higher/lower/greater`),
		Everything: list(`
			all information/details/info/columns/attributes/data,
			all the information/details/info/columns/attributes/data, details of, information about`),
		Open: list(`who/whom, is/are/was/were, do/does/did, has/have/had, can`),
		Negation: list(`
			not, no, never, without, except, *n't, neither, nor, exclud*, other than, none, missing, unknown,
			null, blank, empty, lack*, different from, besides, apart from, unless, only`),

		Ask: list(`
			what's, what, which, who, whose, how many/much/old/often/long, list, show, find, give, return,
			tell, count, display, select, get, provide, state, name, identify, calculate, compute, describe,
			report, determine, print, retrieve, fetch, indicate, mention, enumerate, output, search, include,
			write`),
		AskFill:   list(`is, are, was, were, me, us, the, all, out, down, a, an, different, distinct, both`),
		EachFirst: list(`for/in/of each/every`),
		Cut: list(`
			of, for, whose, who, that, which, with, where, in, from, by, sorted, ordered, have, has, are, is,
			do, on, at, to, having, if, along`),
		And: list(`and, &`),
		Also: list(`
			along with its/their/the, along with, as well as, and its/their/the, with its/their,
			with the number/total/average, with number/total/average`),
		AsksAgain: list(`
			and what/who/which/how/when/where, has/have/had how many/much, and is/are/was/were, and also,
			also list/show/give/find/return,
			and list/show/give/find/tell/state/include/calculate/describe/indicate/mention/name`),
		Furthermore: list(`also, please also, indicate/include/mention/state, please indicate/include/mention/state`),
		By:          list(`by`),
		Measures:    list(`how many/much, number/numbers, count, average, mean, sum, total, maximum, minimum, max, min`),

		NotFirst: list(`at least, at most, first/last name/names, first and last name/names, top level`),
		NotGroup: list(`*ed by, *en by, made by, miles per`),
		NotValue: list(`above/below/than average, above/below/than the average`),
		First: list(`
			top, highest, lowest, largest, smallest, biggest, most, least, fewest, cheapest, best, worst,
			first/last #`),
		Sort: list(`
			sort*, order/ordered/ordering by/from/in, alphabetical*, ascending, descending, rank*, latest,
			earliest, newest, oldest, youngest, recent, longest, shortest, tallest, heaviest, lightest,
			greatest, maximum, minimum, max, min, first, last, closest, nearest, strongest, weakest, fastest,
			slowest`),
		Groups: list(`per, count/number/total/sum/average/revenue/sales/amount/value ... by, how many ... by`),
		EachOf: list(`each, every, corresponding, respective*`),
		Beside: list(`
			and/with how many, and/with number of, and/with total/average, and/with the number of,
			and/with the total/average, as well as how many, as well as the number of, along with how many,
			along with the number of`),
		OneValue: list(`how many, number of, count, total, sum, average, mean`),
		Theirs:   list(`with/and their/its`),
		Compare: list(`
			above, over, below, under, more/less/greater/fewer/larger/smaller/higher/lower than, exceeding,
			at least/most, equal to`),
	}
}

// list reads phrases that commas part.
func list(text string) []string {
	phrases := strings.Split(text, ",")
	for i, p := range phrases {
		phrases[i] = strings.TrimSpace(p)
	}
	return phrases
}

// speaks reports whether a question of these words is in the language.
func (l *Language) speaks(words []token) bool {
	common, foreign := distinct(words, l.Common), distinct(words, l.Foreign)
	return common > foreign && 8*common >= len(words)
}

// distinct counts the members of list that stand in words.
func distinct(words []token, list []string) int {
	seen := make(map[string]bool)
	for _, w := range words {
		if slices.Contains(list, w.text) {
			seen[w.text] = true
		}
	}
	return len(seen)
}
