package strategy

import (
	"regexp"
	"slices"

	"github.com/texttosql/texttosql/schema"
)

// ofTime finds words of time, in the languages that questions mostly come in, and years.
var ofTime = regexp.MustCompile(`(?i)\b(?:to-?day|yester\w*|tomorrow|now|current\w*|ago|since|until|recent\w*|last|past|next|previous|` +
	`(?:mon|tues|wednes|thurs|fri|satur|sun)?days?|dates?|weeks?|weekends?|months?|quarters?|years?|daily|weekly|monthly|yearly|annual\w*|` +
	`january|february|march|april|may|june|july|august|september|october|november|december|hours?|minutes?|when|(?:19|20)\d\d|` +
	`heute|gestern|morgen|seit|letzte\w*|vergangene\w*|nächste\w*|tage?|woche\w*|monate?\w*|quartale?|jahre?s?|wann|` +
	`hoy|ayer|mañana|semanas?|mes|meses|año|años|últim\w*|pasad\w*|cuándo|` +
	`aujourd|hier|demain|jours?|semaines?|mois|trimestre|ans?|années?|derni\w*|depuis|quand|` +
	`oggi|ieri|settiman\w*|mese|mesi|anno|scors\w*|hoje|ontem|mês|ano|vandaag|gisteren|maand|jaar)(?:[^\pL\pN]|$)|` +
	`今|昨|明天|本月|上月|年|月|日|週|周|오늘|어제|지난|сегодня|вчера|недел|месяц|год|اليوم|أمس`)

// SpeaksOfTime reports whether a question speaks of time, so that a prompt says how the database writes days: see Task.Dates.
func SpeaksOfTime(question string) bool { return ofTime.MatchString(question) }

// ofMathematics finds words of functions that a SQLite may have been built without.
var ofMathematics = regexp.MustCompile(`(?i)\b(?:square roots?|sqrt|standard deviations?|stddev|logarithm\w*|exponential\w*|geometric mean|` +
	`co?sines?|radians|haversine|great[- ]circle|Standardabweichung\w*|Quadratwurzeln?|Logarithm\w*|racine|écart[- ]type|raíz|desviación)(?:[^\pL\pN]|$)`)

// Lacks says which functions a question may ask for and a database lacks, as a line of its prompts: those of mathematics where
// [schema.Schema.Functions] has no sqrt. "": none, or the schema does not tell its functions.
func Lacks(question string, s *schema.Schema) string {
	if s.Functions == nil || slices.Contains(s.Functions, "sqrt") || !ofMathematics.MatchString(question) {
		return ""
	}
	return "The mathematical functions are not in this build: no sqrt, power, exp, ln, log, floor, ceil, sin or cos. Write x * x for a square."
}
