package prompttext

import (
	"regexp"
	"slices"
)

// ofTime finds words of time, in the languages that questions mostly come in, and years.
var ofTime = regexp.MustCompile(
	`(?i)\b(?:to-?day|yester\w*|tomorrow|now|current\w*|ago|since|until|recent\w*|last|past|next|previous|` +
		`(?:mon|tues|wednes|thurs|fri|satur|sun)?days?|dates?|weeks?|weekends?|months?|quarters?|years?|daily|weekly|monthly|yearly|annual\w*|` +
		`january|february|march|april|may|june|july|august|september|october|november|december|hours?|minutes?|when|(?:19|20)\d\d|` +
		`heute|gestern|morgen|seit|letzte\w*|vergangene\w*|nächste\w*|tage?|woche\w*|monate?\w*|quartale?|jahre?s?|wann|` +
		`hoy|ayer|mañana|semanas?|mes|meses|año|años|últim\w*|pasad\w*|cuándo|` +
		`aujourd|hier|demain|jours?|semaines?|mois|trimestre|ans?|années?|derni\w*|depuis|quand|` +
		`oggi|ieri|settiman\w*|mese|mesi|anno|scors\w*|hoje|ontem|mês|ano|vandaag|gisteren|maand|jaar)(?:[^\pL\pN]|$)|` +
		`今|昨|明天|本月|上月|年|月|日|週|周|오늘|어제|지난|сегодня|вчера|недел|месяц|год|اليوم|أمس`)

// HasDate reports whether a question mentions a time. Then a prompt says how the database writes days
// (strategy.Task.Dates).
func HasDate(question string) bool { return ofTime.MatchString(question) }

// ofMathematics finds words of functions that a SQLite may have been built without.
var ofMathematics = regexp.MustCompile(`(?i)\b(?:square roots?|sqrt|standard deviations?|stddev|logarithm\w*|exponential\w*|geometric mean|` +
	`co?sines?|radians|haversine|great[- ]circle|Standardabweichung\w*|Quadratwurzeln?|Logarithm\w*|racine|écart[- ]type|raíz|desviación)(?:[^\pL\pN]|$)`)

// MissingFunctions returns a line for prompts about functions that a question may need and a database does not have. It
// names the mathematical ones if functions, those of the database, are known and sqrt is not among them. "": none.
func MissingFunctions(question string, functions []string) string {
	if functions == nil || slices.Contains(functions, "sqrt") || !ofMathematics.MatchString(question) {
		return ""
	}
	return "The mathematical functions are not in this build: no sqrt, power, exp, ln, log, floor, ceil, sin or cos. " +
		"Write x * x for a square."
}
