package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// countries have their adjectives and their codes of two letters behind them.
const countries = `germany german de france french fr spain spanish es italy italian it portugal portuguese pt
	austria austrian at switzerland swiss ch belgium belgian be netherlands dutch nl poland polish pl sweden swedish
	se norway norwegian no denmark danish dk finland finnish fi ireland irish ie greece greek gr hungary hungarian
	hu japan japanese jp china chinese cn india indian in brazil brazilian br canada canadian ca mexico mexican mx
	australia australian au turkey turkish tr ukraine ukrainian ua egypt egyptian eg argentina argentinian ar chile
	chilean cl peru peruvian pe colombia colombian co usa american us uk british gb`

// languages are like countries.
const languages = `germany german de england english en france french fr spain spanish es italy italian it
	portugal portuguese pt netherlands dutch nl poland polish pl sweden swedish sv norway norwegian no denmark
	danish da finland finnish fi greece greek el hungary hungarian hu japan japanese ja china chinese zh russia
	russian ru turkey turkish tr arabia arabic ar ukraine ukrainian uk korea korean ko czechia czech cs`

var ofLanguage = compile(`(?i)lang|locale|tongue`)

// country compares a country, or a language, of the question with the code of another one.
func (h held) country() string {
	for _, c := range h.constant {
		list, written := strings.Fields(countries), strings.ToUpper
		if ofLanguage.MatchString(c.column.Column) {
			list, written = strings.Fields(languages), strings.ToLower
		}
		other := slices.Index(list, strings.ToLower(c.text))
		isName := other >= 0 && other%3 == 0
		if c.op != "=" || !isName && (other%3 != 2 || c.text != written(c.text)) || words.Spelled(h.Text, c.text) {
			continue
		}
		own := list[other/3*3 : other/3*3+2]
		for i := 0; i < len(list); i += 3 {
			said := list[i : i+2]
			if isName {
				said = said[1:] // value compares names
			}
			if h.says(said...) && !h.says(own...) && !h.writesConstant(written(list[i+2])) &&
				!h.writes("'"+strings.ToUpper(list[i])) {
				return differ(list[i], c.text)
			}
		}
	}
	return h.sex()
}

var (
	women = compile(`\b(?:women|woman|females?|girls?|wom[ae]n['’]s)\b`)
	men   = compile(`\b(?:men|man|males?|boys?)\b`)
	ofSex = compile(`(?i)^(?:gender|sex)$`)
)

// sex compares women and men with the code of the others.
func (h held) sex() string {
	word, isWomen := h.oneOf(women, men)
	for _, c := range h.constant {
		if word != "" && c.op == "=" && ofSex.MatchString(c.column.Column) && !h.inCase(c.at) &&
			(isWomen && strings.EqualFold(c.text, "M") || !isWomen && strings.EqualFold(c.text, "F")) {
			return differ(word, c.text)
		}
	}
	return ""
}

// units are those of questions, smaller ones in which figures are stored, and what the one is of the other.
var units = [][3]string{
	{"euro", "cent", "100"}, {"dollar", "cent", "100"}, {"hour", "minute", "60"}, {"minute", "second", "60"},
	{"km", "m", "1000"}, {"kilometer", "m", "1000"}, {"kilometre", "m", "1000"}, {"kg", "g", "1000"},
	{"tonne", "kg", "1000"},
}

// unit looks for a column in a smaller unit than that of the question, which the statement does not convert.
func (h held) unit() string {
	for _, u := range units {
		if !h.says(u[0]) || h.says(u[1]) || h.writes(u[2]) {
			continue
		}
		for _, c := range h.constant {
			if c.number && named(c.column.Column, u[1]) && words.Spelled(h.Text, c.text) {
				return tell("The question says %s %ss, the statement compares %s with %[1]s.", c.text, u[0], c.column.Column)
			}
		}
		if len(u[1]) < 2 {
			continue // who rode the most kilometers?
		}
		listed := !h.asks(anyNumber)
		for _, c := range h.columns {
			if named(c.Column, u[1]) && !c.Operand && (listed || len(h.Aggregates) > 0) {
				return tell("The question says %ss, the statement takes %s.", u[0], c.Column)
			}
		}
	}
	return ""
}
