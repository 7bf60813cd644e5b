package petsql

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/prompttext"
)

// Published returns p with the prompt and the limits of its source. These are REp.Published, 200 tokens for the
// PreSQL and 256 for each other reply, unless a field sets another number.
func (p Strategy) Published() Strategy {
	p.Prompter = p.Prompter.Published()
	p.MaxTokens, p.Linker.MaxTokens = cmp.Or(p.MaxTokens, 256), cmp.Or(p.Linker.MaxTokens, p.MaxTokens, 200)
	return p
}

// Published returns r in the form of its source (zhshLii/PETSQL). It has the source's headings, sections and separators
// in one user message, without types, keys and descriptions. For each column it has the values of all rows, with
// repeats and NULLs ("None"). Four things differ, because the source's prompts break there. A text over 40 characters
// is left out. A text with characters that names do not have is quoted. A table of fewer than three rows keeps its
// values. A schema without foreign keys has no section for them. The rows are random, as in the paper; its code takes
// the first ones.
func (r REp) Published() REp {
	r.published = true
	return r
}

// publishedTask returns the task, its rule, what the source calls tables of an engine, and the end of the prompt.
func publishedTask(engine string) (task, rule, tables, end string) {
	engine = strings.ToLower(engine)
	return "Answer the question by " + engine + " SQL query only and with no explanation.",
		" You must minimize SQL execution time while ensuring correctness.", strings.ToUpper(engine[:1]) + engine[1:] +
			" SQL", " "
}

// publishedValue writes a value as the source of REp does: a text bare, where it could not be taken for the end of the
// list, else in quotes with those inside doubled. What would leave the line, as the source lets it, is a blank.
func publishedValue(v any) (string, bool) {
	text, ok := v.(string)
	switch {
	case v == nil:
		return "None", true
	case !ok:
		return prompttext.Literal(v)
	case !utf8.ValidString(text):
		return "", false // not shown in our form either
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	plain := text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_:/+@%&", r))
	}) < 0
	if plain {
		return text, true
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", true
}
