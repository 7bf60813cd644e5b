package replies

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// This file undoes what gateways, templates and keyboards do to the marks of a statement.

var entity = regexp.MustCompile(`&(?:amp;)*(?:#\d{1,5}|#[xX][0-9a-fA-F]{1,4}|[a-zA-Z]{2,8});`)

// unescaped replaces HTML entities outside of strings: there they are data.
func unescaped(d sqltext.Dialect, text string) string {
	if !entity.MatchString(text) {
		return text
	}
	return outside(d, text, func(part string) string {
		return entity.ReplaceAllStringFunc(part, func(e string) string {
			for range 3 { // escaped twice
				e = html.UnescapeString(e)
			}
			return e
		})
	})
}

// narrowEnd writes the semicolon of East Asian keyboards as that of SQL. Other marks may be part of a name.
func narrowEnd(d sqltext.Dialect, text string) string {
	if !strings.ContainsRune(text, '；') {
		return text
	}
	return outside(d, text, func(part string) string { return strings.ReplaceAll(part, "；", ";") })
}

// typeset writes the signs of printed text and the escapes of Markdown as SQL does.
var typeset = strings.NewReplacer("≥", ">=", "≤", "<=", "≠", "<>", "−", "-", `\_`, "_", `\*`, "*")

// narrowed replaces the marks of East Asian keyboards and of text programs outside of strings.
func narrowed(d sqltext.Dialect, text string) string {
	return outside(d, text, func(part string) string {
		return typeset.Replace(strings.Map(func(r rune) rune {
			switch {
			case r > 0xFF00 && r < 0xFF5F && (r < 0xFF10 || r > 0xFF19) && (r < 0xFF21 || r > 0xFF3A) &&
				(r < 0xFF41 || r > 0xFF5A):
				return r - 0xFEE0
			case r == '、':
				return ','
			case r == '。':
				return ';'
			case r == '‘', r == '’', r == '‚', r == '´':
				return '\''
			case r == '“', r == '”':
				return '"'
			}
			return r
		}, part))
	})
}

// outside changes what stands outside of strings and quoted names.
func outside(d sqltext.Dialect, text string, change func(string) string) string {
	var b strings.Builder
	from, to := 0, 0
	for t := range d.Tokens(text) {
		if t.Kind == sqltext.String || t.Kind == sqltext.QuotedName {
			b.WriteString(change(text[from:t.Pos]) + t.Text)
			from = t.Pos + len(t.Text)
		}
		to = t.Pos + len(t.Text)
	}
	return b.String() + change(text[from:max(from, to)]) + text[max(from, to):]
}

var (
	quoted    = regexp.MustCompile(`(?i)(?:^|\n)[ \t]{0,3}>[ \t]*(?:select|with)\b`)
	quoteMark = regexp.MustCompile(`(?m)^[ \t]{0,3}>[ \t]?`)
	prompted  = regexp.MustCompile(
		`(?i)(?:^|\n)[ \t]*(?:[\w.:-]+(?: ?[(\[][^\n)\]]*[)\]])?>|\w+[=-][#>]|\w{1,12}@[^\s>]+>|D)[ \t]+(select|with)\b`)
	prompt = regexp.MustCompile(`(?m)^[ \t]*(?:\.\.\.>|->|·|\w*[-('"]+[#>])[ \t]?`)
)

// unprompted takes off the marks of a quotation, and the prompt of a shell with those of its further lines.
func unprompted(text string) string {
	if quoted.MatchString(text) {
		return quoteMark.ReplaceAllString(text, "")
	}
	if at := prompted.FindStringSubmatchIndex(text); at != nil {
		return prompt.ReplaceAllString(text[at[2]:], "")
	}
	return text
}

// Pasted returns what somebody copied out of a chat, a page or a shell as the statement that it shows: without a fence,
// a quotation or a prompt around it, its entities and marks as SQL writes them. Other text it returns as it is.
func Pasted(d sqltext.Dialect, text string) string {
	plain := d.Visible(trimReply(text))
	if blocks := fencedBlocks(plain); len(blocks) == 1 &&
		strings.TrimSpace(plain[:blocks[0].start]+plain[blocks[0].end:]) == "" {
		plain = trimReply(blocks[0].body)
	}
	plain = narrowEnd(d, unescaped(d, trimReply(unprompted(plain))))
	if len(plain) > 1 && plain[0] == '`' && plain[len(plain)-1] == '`' {
		plain = plain[1 : len(plain)-1]
	}
	if d.Head(plain) == "" {
		return text
	}
	if _, err := d.Check(plain); err != nil {
		return narrowed(d, plain)
	}
	return plain
}

var (
	opening = regexp.MustCompile(`"""|'''|["'\x60“]`)
	// A string of a program may go on in the next line.
	endsLine = regexp.MustCompile(`^[ \t]*\r?\n\s*[^\s"'+.&|:]`)
	escapes  = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`)
)

// literals returns the texts in quotation marks that start with a query: fields of what is nearly JSON, arguments of
// calls and values of variables in any language.
func literals(d sqltext.Dialect, text string) (found []string) {
	for tries := 0; tries < maxPlaces; {
		at := opening.FindStringIndex(text)
		if at == nil {
			break
		}
		mark := strings.ReplaceAll(text[at[0]:at[1]], "“", "”")
		text = text[at[1]:]
		if d.Head(strings.TrimLeft(escapes.Replace(text[:min(len(text), 40)]), " \r\n\t")) == "query" {
			tries++
			if inner, behind := literal(d, text, mark); behind > 0 {
				found, text = append(found, inner), text[behind:]
			}
		}
	}
	return found
}

// literal returns the text up to the mark that ends it, and where it goes on behind that: the first place at which the
// text is a statement, or else the first one that may be its end. behind is 0 where there is none.
func literal(d sqltext.Dialect, text, mark string) (inner string, behind int) {
	for i := 0; ; {
		n := strings.Index(text[i:], mark)
		if n < 0 {
			return inner, behind
		}
		end := i + n
		i = end + len(mark)
		rest := strings.TrimSpace(text[i:])
		ends := rest == "" || len(mark) == 3 && mark != "”" || strings.ContainsRune(",}])", rune(rest[0])) ||
			mark == "`" && isSpace(text[i]) || endsLine.MatchString(text[i:])
		if !ends || strings.HasSuffix(text[:end], `\`) {
			continue
		}
		whole := strings.TrimSpace(escapes.Replace(text[:end]))
		if _, err := d.Check(whole); err == nil {
			return whole, i
		}
		if behind == 0 {
			inner, behind = whole, i
		}
	}
}

// jsonText is a JSON string alone.
func jsonText(text string) (inner string, ok bool) {
	return inner, text[0] == '"' && json.Unmarshal([]byte(text), &inner) == nil
}

var (
	alternative = regexp.MustCompile(`(?i)\b(?:if you|in case|alternativ\w*|optional\w*|you (?:could|can|may|might)|to (?:look|inspect|check|` +
		`verify|see|explore|debug|test|preview|get|list|show|find|include|exclude)|` +
		`(?:option|version|variant|approach|method) (?:[2-9b-e]|two|three)|another (?:way|option|query|version|approach)|a variant|or,? (?:if|for|to|with|equivalently)|for (?:example|reference|comparison|only|` +
		`just)|as well|additionally|equivalent\w*|bonus|should you|` +
		`falls|wenn sie|oder|si (?:solo|sólo|vous|tu|quieres?|desea|voulez)|sinon|oppure|se vuoi)|(?:如果|或者|另外|若)`)
	corrected = regexp.MustCompile(
		`(?i)\b(?:wait|actually|correct\w*|fix\w*|mistake\w*|wrong|error|final\w*|should be|oops|sorry|rather|` +
			`revised|improved|better|therefore|hence|thus|so,? |` +
			`the (?:answer|query|statement|solution) is|does not exist|doesn't exist|not exist|is called|instead of|step \d|now|then|putting|` +
			`combin\w*|korrigiert|corregid\w*)|(?:更正|最终|错)`)
)

// isAlternative reports whether what stands between two blocks introduces another question's statement, and does not
// take the first one back.
func isAlternative(between string) bool {
	line := words.Line(between)
	return alternative.MatchString(line) && !corrected.MatchString(line)
}
