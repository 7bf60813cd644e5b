// Package intent finds questions that want data changed, and words that explain what a check found odd.
package intent

import (
	"regexp"
	"slices"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// NothingChanged is the warning for a question that wants data changed. The closing line of its answer begins with it.
const NothingChanged = "Nothing was changed: this program only reads."

// wish finds a question that begins by wanting data changed. What is only read may be created, added up and
// set, too: a list,
// a sum, a limit.
var wish = regexp.MustCompile(`(?i)^(?:(?:please|kindly|now|then|ok(?:ay)?|hey|hi|bitte|por favor|s'il (?:vous|` +
	`te) pla[iî]t|per favore)[,!]?\s+|` +
	`(?:can|could|would|will) you (?:please\s+)?|(?:i|we) (?:want|need|would like|'d like) (?:you )?to |` +
	`i'd like (?:you )?to |(?:go ahead and|` +
	`let's|help me) |` +
	`(?:kannst|könntest) du |(?:puedes|podrías) |(?:peux-tu|pouvez-vous) )*(?:` +
	`(?:delete|truncate|erase|wipe|purge|insert|drop|deactivate|unsubscribe|refund)\s+[\pL\d'"#]|` +
	`(?:remove|cancel|archive|restore|rename|reassign|overwrite|deduplicate|anonymi[sz]e)\s+(?:the|all|every|` +
	`each|any|this|that|these|those|my|` +
	`our|his|her|their|\pL+|#?\d)|` +
	`(?:clear|bump|close|reopen|undo|revert|reverse|void|disable|enable|block|unblock|approve|reject|lock|unlock|` +
	`suspend|reactivate|get rid of|take out)\s+` +
	`(?:(?:the|all|every|each|this|that|these|those|my|our|his|her|their|any)\s|#?\d|\pL+ #?\d)|make (?:the |` +
	`this )?\pL+ #?\d+ \pL+|` +
	`(?:update|change|modify|edit|replace|correct|fix|increase|raise|lower|reduce|double|reset|mark|flag|move|` +
	`assign|transfer|` +
	`merge)\s+(?:(?:the|all|every|each|this|that|these|those|my|our|his|her|their)\s|.*\b(?:to|as|by|with|into|` +
	`from)\b)|` +
	`set\s+(?:the|all|every|each|this|that|my|our|his|her|their|\pL+)\b.*\b(?:to|=|as|on|off|null)\b|` +
	`(?:add|create|register|enter|append|make|save|store)\s+(?:(?:a|an|another|one|some|the)\s+)?(?:new\s|(?:a|` +
	`an|another)\s+(?:customer|` +
	`client|user|order|item|product|row|record|entry|column|table|index|employee|account|payment|invoice|note|` +
	`view|database|category|city|shop|` +
	`visit|player|team)\b|(?:customer|user|order|product|row|record|entry|column|table|employee)\s)|` +
	`(?:lösche?|entferne|storniere|ändere|aktualisiere|setze?|füge|ersetze|lege)\s.*\pL|` +
	`(?:borra|elimina|actualiza|cambia|inserta|añade|agrega|modifica|pon|aggiungi|cancella|aggiorna|inserisci|` +
	`rimuovi|supprime[rz]?|` +
	`efface[rz]?|modifie[rz]?|ajoute[rz]?|insère|mets|remplace|apague|exclua|delete|atualize|insira|verwijder|` +
	`voeg|wijzig)\s|` +
	`(?:删除|刪除|更新|修改|插入|添加|把.*(?:改|设)|将.*(?:改|设)|削除|удали|обнови|измени|добавь))`)

// passive finds a wish that names what should be done: "order 4 should be marked as paid", "I'd like order 3
// cancelled".
var passive = regexp.MustCompile(`(?i)\b(?:should|must|needs? to|ha(?:s|ve) to|ought to|can|` +
	`could) (?:now )?be (?:set|marked|flagged|changed|deleted|removed|cancell?ed|updated|closed|` +
	`archived|renamed|moved|refunded|reopened|corrected|added|inserted|assigned|increased|reduced|raised|lowered|` +
	`doubled|merged|cleared)\b(?:[^?]*[.!]?)$|` +
	`^\W*(?:i'd|i would|we'd|we would) like (?:.+) (?:deleted|removed|cancell?ed|changed|updated|closed|archived|` +
	`refunded|marked|set|renamed|moved)\b`)

// asking begins a question that asks for things of which it says what should be done.
var asking = regexp.MustCompile(`(?i)^\W*(?:please )?(?:which|what|how|who|when|where|show|list|find|give|get|` +
	`count|is|are|do|does|has|have|tell)\b`)

// reads are wishes by their verb that only want something read.
var reads = regexp.MustCompile(`(?i)\band (?:then )?(?:list|show|display|count) (?:them|the|it|those)\b|` +
	`^\W*(?:please\s+)?(?:(?:create|make|build|prepare|draw up)\s+(?:\pL+\s+){0,4}(?:list|report|table|overview|` +
	`summary|chart|ranking)\b|(?:create|make|add|set|update|save)\s+(?:(?:a|an|the|me|us|another|` +
	`new)\s+)*(?:list|report|chart|summary|overview|ranking|table of|table showing|table with|graph|view of|` +
	`breakdown|query|up\b|on\b|me\b|` +
	`together|difference|sum)|` +
	`(?:drop|change|increase|decrease|raise|reduction|cancel\w*|refund|fix|update|move|transfer|` +
	`delete)s?\s+(?:in|of|between|since|rates?|over|` +
	`per|by|from)\b|(?:remove|drop)\s+duplicates? and)`)

// AsksForWrite reports whether a question wants data changed. A question about a change that was made does not.
func AsksForWrite(question string) bool {
	line := words.Line(question)
	wanted := wish.MatchString(line) || passive.MatchString(line) && !asking.MatchString(line)
	return wanted && !reads.MatchString(line)
}

// excuses are words of a question that ask for what a check finds odd, by the rule of the finding.
var excuses = map[string]*regexp.Regexp{
	checks.Odd + "division": regexp.MustCompile(`(?i)\b(?:full|whole|entire|rounded? down|integer|quarters?|` +
		`decades?|centur(?:y|ies)|half[- ]years?|` +
		`dozens|bands?|buckets?|brackets?|steps of|groups of|batch(?:es)?|how many times|fits?)\b`),
	checks.Odd + "unjoined": regexp.MustCompile(`(?i)\bcombin\w+|\bcross[- ]join|\bpair(?:s|ings?)?\b|` +
		`\b(?:each|every|all) \pL+ (?:with|against|for) (?:each|every|all)\b|\bcartesian|\bmatrix\b`),
	checks.Odd + "or-and": regexp.MustCompile(`(?i),\s*or\b|\bor,|\bor else\b|\b(?:whatever|regardless|` +
		`irrespective|no matter|whichever|in any case|of any|with any|at any)\b`),
}

// Excuses reports whether the words of a question ask for what a check found odd: every combination, full
// dozens, "or, whatever
// the amount". rule names the finding of package exec.
func Excuses(question, rule string) bool {
	asking := excuses[rule]
	return asking != nil && asking.MatchString(question)
}

// ReadsInstead reports whether a statement does by reading what a question that [AsksForWrite] wants: it marks rows by
// a CASE or puts lists together.
func ReadsInstead(s *sqltext.Statement) bool {
	return s.Uses("CASE") || s.Uses("UNION") ||
		slices.ContainsFunc(s.Outline().Functions, func(f string) bool { return f == "IIF" || f == "IF" })
}
