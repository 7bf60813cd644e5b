package doubt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/findings"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/vote"
)

// answer is a winner with the question that it answers.
type answer struct {
	contradict.Answer
	QuestionFeatures
}

// Contradictions returns the differences between the question and the statement: another value, year, number,
// direction or group, or a part of the question that the statement lacks. Each Detail is one sentence with the words
// of both. The Doubt of a difference is 1, or 0 if many right answers have it too.
//
// For a question in an unknown language, the kinds that read words find nothing.
//
// A program gets them in the warnings of texttosql.Result: the type of w is internal.
func (q QuestionFeatures) Contradictions(w contradict.Answer) (found []vote.Finding) {
	if w.Statement == nil || w.Schema == nil {
		return nil
	}
	a := answer{w, q}
	a.telegraphic()
	h := newHeld(a)
	for _, r := range readers() {
		if a.Language == "" && !wordless[r.name] {
			continue
		}
		if detail := r.find(h); detail != "" {
			f := vote.Finding{Rule: findings.Contradiction + r.name, Detail: detail, Doubt: 1}
			if weightless[r.name] {
				f.Doubt = 0
			}
			found = append(found, f)
		}
	}
	return found
}

// reader finds one kind of contradiction.
type reader struct {
	name string
	find func(held) string
}

// wordless are the kinds that read no words of a language.
var wordless = words.Set(`time value code country number join lost union null-first several outer text typed alias ties`)

// weightless are the kinds that many right answers have, too.
var weightless = words.Set("text ties spelling")

// readers are in the order of their findings.
func readers() []reader {
	return []reader{
		{"time", held.time},
		{"period", held.period},
		{"month", held.month},
		{"value", held.value},
		{"code", held.code},
		{"country", held.country},
		{"unit", held.unit},
		{"opposite", held.opposite},
		{"number", held.number},
		{"limit", held.limit},
		{"bound", held.bound},
		{"column", held.column},
		{"flag", held.flag},
		{"unasked", held.unasked},
		{"direction", held.direction},
		{"group", held.group},
		{"distinct", held.distinct},
		{"echo", held.echo},
		{"average", held.average},
		{"negation", held.negation},
		{"both", held.both},
		{"including", held.including},
		{"share", held.share},
		{"half", held.half},
		{"join", held.join},
		{"needless", held.needless},
		{"besides", held.besides},
		{"lost", held.lost},
		{"union", held.union},
		{"null-first", held.nullFirst},
		{"several", held.several},
		{"homonym", held.homonym},
		{"count", held.counted},
		{"repeated", held.repeated},
		{"outer", held.outer},
		{"pattern", held.pattern},
		{"late", held.lateness},
		{"weekend", held.weekends},
		{"tax", held.tax},
		{"text", held.text},
		{"typed", held.typed},
		{"null", held.nulls},
		{"alias", held.alias},
		{"ties", held.ties},
		{"spelling", held.spellings},
		{"months", held.months},
	}
}

// abrupt are words of English by which people shorten a question: "cheapest products", "revenue last month".
var abrupt = compile(`(?i)^(?:\pL+(?:lest|test|gest|nest|pest|dest|best|worst|rest|hest|iest)|last|next|this|
		months?|years?|weeks?|quarters?|days?|average|number|january|february|march|may|june|july|october|
		december|unpaid|gross|net|revenue|customers?|orders?|users?|newest|oldest|first|including|both|top|due|
		overdue|monthly|yearly|weekly|daily|quarterly|today|yesterday|tomorrow|all|every|except|excluding|never|
		not|only|which|who|open|closed|shipped|paid|sold|per|with|without|by|of|two|three|five|seven|eight|nine|
		ten|nobody|nothing|none|yet|ever|still|since|until|before|after|between|over|under|than|more|less|
		neither)$`)

// onlyEnglish are words that no other language has and that carry the sense of a short question.
var onlyEnglish = compile(`(?i)\b(?:since|before|after|between|without|outside|starting|ending|never|nobody|
		nothing|than|which|whose|cheaper|older|newer|still|both|each|every|how many|who)\b`)

// telegraphic takes a question for English that is in no known language because it has no usual word in it: where most
// of its words are names of the schema or words by which people shorten a question, and no word is of another language.
func (a *answer) telegraphic() {
	if a.Language != "" {
		return
	}
	l := english[0]
	known, all := 0, 0
	for _, w := range a.words {
		if len(w.text) < 3 || strings.Trim(w.text, "0123456789") == "" {
			continue
		}
		all++
		switch {
		case slices.Contains(l.Foreign, w.text) && w.text != "per" ||
			strings.ContainsFunc(w.text, func(r rune) bool { return r > unicode.MaxASCII }):
			return
		case abrupt.MatchString(w.text), slices.Contains(l.Common, w.text), a.inNames(w.text):
			known++
		}
	}
	if known > 0 && 2*known >= all || onlyEnglish.MatchString(a.Text) {
		a.read(&l)
	}
}

// tell is a sentence for a person.
func tell(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// differ tells that the question says something, and the statement something else.
func differ(asked, stated any) string {
	return tell("The question says %v, the statement %v.", asked, stated)
}

// lack tells that the question says something that the statement does not.
func lack(asked any) string {
	return tell("The question says %v, and the statement does not.", asked)
}
