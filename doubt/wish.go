package doubt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// NothingChanged is what who wishes for a change is told.
const NothingChanged = "nothing was changed: only reading is possible"

// wish finds a question that begins by wanting data changed. What is only read may be created, added up and set, too: a list,
// a sum, a limit.
var wish = regexp.MustCompile(`(?i)^(?:(?:please|kindly|now|then|ok(?:ay)?|hey|hi|bitte|por favor|s'il (?:vous|te) pla[iî]t|per favore)[,!]?\s+|` +
	`(?:can|could|would|will) you (?:please\s+)?|(?:i|we) (?:want|need|would like|'d like) (?:you )?to |i'd like (?:you )?to |(?:go ahead and|` +
	`let's|help me) |` +
	`(?:kannst|könntest) du |(?:puedes|podrías) |(?:peux-tu|pouvez-vous) )*(?:` +
	`(?:delete|truncate|erase|wipe|purge|insert|drop|deactivate|unsubscribe|refund)\s+[\pL\d'"#]|` +
	`(?:remove|cancel|archive|restore|rename|reassign|overwrite|deduplicate|anonymi[sz]e)\s+(?:the|all|every|each|any|this|that|these|those|my|` +
	`our|his|her|their|\pL+|#?\d)|` +
	`(?:update|change|modify|edit|replace|correct|fix|increase|raise|lower|reduce|double|reset|mark|flag|move|assign|transfer|` +
	`merge)\s+(?:(?:the|all|every|each|this|that|these|those|my|our|his|her|their)\s|.*\b(?:to|as|by|with|into|from)\b)|` +
	`set\s+(?:the|all|every|each|this|that|my|our|his|her|their|\pL+)\b.*\b(?:to|=|as|on|off|null)\b|` +
	`(?:add|create|register|enter|append|make|save|store)\s+(?:(?:a|an|another|one|some|the)\s+)?(?:new\s|(?:a|an|another)\s+(?:customer|` +
	`client|user|order|item|product|row|record|entry|column|table|index|employee|account|payment|invoice|note|view|database|category|city|shop|` +
	`visit|player|team)\b|(?:customer|user|order|product|row|record|entry|column|table|employee)\s)|` +
	`(?:lösche?|entferne|storniere|ändere|aktualisiere|setze?|füge|ersetze|lege)\s.*\pL|` +
	`(?:borra|elimina|actualiza|cambia|inserta|añade|agrega|modifica|pon|aggiungi|cancella|aggiorna|inserisci|rimuovi|supprime[rz]?|` +
	`efface[rz]?|modifie[rz]?|ajoute[rz]?|insère|mets|remplace|apague|exclua|delete|atualize|insira|verwijder|voeg|wijzig)\s|` +
	`(?:删除|刪除|更新|修改|插入|添加|把.*(?:改|设)|将.*(?:改|设)|削除|удали|обнови|измени|добавь))`)

// reads are wishes by their verb that only want something read.
var reads = regexp.MustCompile(`(?i)^\W*(?:please\s+)?(?:(?:create|make|add|set|update|save)\s+(?:(?:a|an|the|me|us|another|` +
	`new)\s+)*(?:list|report|chart|summary|overview|ranking|table of|table showing|table with|graph|view of|breakdown|query|up\b|on\b|me\b|` +
	`together|difference|sum)|` +
	`(?:drop|change|increase|decrease|raise|reduction|cancel\w*|refund|fix|update|move|transfer|delete)s?\s+(?:in|of|between|since|rates?|over|` +
	`per|by|from)\b|(?:remove|drop)\s+duplicates? and)`)

// Wishes reports whether a question wants data changed. A question about what was changed is no wish.
func Wishes(question string) bool {
	line := words.Line(question)
	return wish.MatchString(line) && !reads.MatchString(line)
}

// referring are words by which a follow-up keeps what was asked before.
var referring = regexp.MustCompile(`(?i)\b(?:them|they|their|theirs|those|these|this|that|its?|he|she|his|her|him|same|also|ones?|` +
	`there(?:of|in)|former|latter|such|again|instead|only|just|now|sort(?:ed)?|order(?:ed)? by|what about|how about|davon|diese\w*|deren|` +
	`ihre\w*|dort|auch|jene\w*|estos?|esas?|esos?|ellos|ellas|también|ceux|celles?|leurs?|aussi|questi|queste|loro|anche)\b|^\s*(?:and|but|or|` +
	`und|aber|y|pero|et|mais|e|ma)\b`)

// whole are words by which a question means all there is.
var whole = regexp.MustCompile(`(?i)\b(?:in total|overall|altogether|in all|entire\w*|whole|regardless|everywhere|anywhere|every one|` +
	`insgesamt|überhaupt|alle|en total|todos|todas|au total|tous|toutes|in totale|tutti|tutte)\b|\btotal number\b|\ball\b`)

// Carried returns a rule that a statement keeps no condition of the question before, which question, a follow-up, neither
// names nor refers to: in "How many orders are there in total?" behind "How many customers are from France?" nothing asks for
// France. earlier are the statements before, the oldest first. A condition of all of several belongs to the data.
func Carried(question string, earlier ...*sqltext.Statement) Rule {
	return Rule{
		Name: "carried_filter", Source: "who asks a whole question does not repeat the conditions of the one before",
		Broken: func(in Input) (string, bool) {
			const detail = "a condition of an earlier question is kept, which this one does not name"
			if len(earlier) == 0 || referring.MatchString(question) && !whole.MatchString(question) || len(strings.Fields(question)) < 4 {
				return "", false
			}
			last := conditionsOf(earlier[len(earlier)-1])
			for key, c := range conditionsOf(in.Statement) {
				always := len(earlier) > 1 && !slices.ContainsFunc(earlier, func(s *sqltext.Statement) bool { _, has := conditionsOf(s)[key]; return !has })
				if _, kept := last[key]; kept && !always && !names(question, c) {
					return detail, true
				}
			}
			return "", false
		},
	}
}

// conditionsOf are the comparisons of columns with constants, by column, operator and constants.
func conditionsOf(s *sqltext.Statement) map[string]sqltext.Comparison {
	found := map[string]sqltext.Comparison{}
	for _, c := range s.Comparisons() {
		key := strings.ToLower(c.Column) + " " + c.Op
		for _, l := range c.Literals {
			key += " " + strings.ToLower(l.Value)
		}
		found[key] = c
	}
	return found
}

// names reports whether a question names a constant of a comparison, or its column.
func names(question string, c sqltext.Comparison) bool {
	line := strings.ToLower(question)
	stems := words.Of(question)
	for _, l := range c.Literals {
		value := strings.ToLower(strings.Trim(l.Value, "%_"))
		if value == "" || strings.Contains(line, value) || strings.Contains(value, "-") && strings.Contains(line, value[:min(4, len(value))]) {
			return true
		}
		for _, w := range words.Of(value) {
			if slices.ContainsFunc(stems, func(s string) bool { n := min(len(s), len(w), 4); return n >= 3 && s[:n] == w[:n] }) {
				return true
			}
		}
	}
	return false
}
