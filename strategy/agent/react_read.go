package agent

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/words"
)

// action is what a reply says.
type action struct {
	thought  string // one line
	name     string // in small letters; "": the reply could not be read
	argument string
	open     bool // nothing shows where the argument ends
}

const (
	maxThought = 500   // runes
	maxEcho    = 4_000 // runes of an argument in the conversation and in the trace
)

// The marks of the protocol, with what models put around them.
const (
	before = `[ \t*_>#-]*`
	number = `(?:[ \t]*\d{1,3})?`
	colon  = `[*_]*[ \t]*[:：][*_]*[ \t]*`
)

var (
	actionLine  = regexp.MustCompile(`(?mi)^` + before + `action` + number + colon)
	actionWord  = regexp.MustCompile(`\b(?:Action|ACTION)` + number + colon)
	thoughtMark = regexp.MustCompile(`(?i)\bthought` + number + colon)
	nextMark    = regexp.MustCompile(`(?mi)^` + before + `(?:observation|thought|action)` + number + colon)
	actionName  = regexp.MustCompile("^[ \\t\\n`*_\"']*([A-Za-z][A-Za-z0-9_]*)[`*\"']*")
	inputMark   = regexp.MustCompile(`(?i)^\s*(?:action[ _]*)?(?:input|argument)` + colon)
)

// named matches the name of a tool before a bracket, for replies without "Action:".
func (r *run) named() *regexp.Regexp {
	return regexp.MustCompile("(?mi)^[ \\t`*]*(?:" + strings.Join(append(r.names(), actionFinish), "|") + `)[ \t]*\[`)
}

// read finds the last action of a reply. A reply without one may be a bare statement, which is a query.
func (r *run) read(reply string) action {
	text := prompttext.AnswerText(reply)
	at, from := -1, -1 // where the mark stands, and what is behind it
	for _, mark := range []*regexp.Regexp{actionLine, actionWord, r.calls} {
		if all := mark.FindAllStringIndex(text, -1); len(all) > 0 {
			last := all[len(all)-1]
			at, from = last[0], last[1]
			if mark == r.calls {
				from = last[0]
			}
			break
		}
	}
	if at < 0 {
		if found, err := (replies.Extractor{Dialect: r.env.DB.Language().Text, Ended: true}).Extract(text); err == nil {
			return action{name: actionQuery, argument: found.SQL(), open: true}
		}
		return action{thought: oneThought(text)}
	}
	a := action{thought: oneThought(text[:at])}
	rest := text[from:]
	if next := nextMark.FindStringIndex(rest); next != nil && next[0] > 0 {
		rest = rest[:next[0]]
	}
	name := actionName.FindStringSubmatchIndex(rest)
	if name == nil {
		return a
	}
	a.name = strings.ToLower(rest[name[2]:name[3]])
	a.argument, a.open = argument(rest[name[1]:])
	if a.name == actionFinish && !r.published && r.tool(actionQuery) != nil {
		a.name = actionQuery // models that know the source's form hand over their answer so
	}
	return a
}

// oneThought is the last thought of a text.
func oneThought(text string) string {
	if all := thoughtMark.FindAllStringIndex(text, -1); len(all) > 0 {
		text = text[all[len(all)-1][1]:]
	}
	return words.Short(prompttext.OneLine(text), maxThought)
}

// argument reads what follows the name of an action. open says that no bracket ends it.
func argument(rest string) (argument string, open bool) {
	shut := byte(0)
	if trimmed := strings.TrimLeft(rest, " \t\n"); strings.HasPrefix(trimmed, "[") {
		rest, shut = trimmed[1:], ']'
	} else if strings.HasPrefix(rest, "(") {
		rest, shut = rest[1:], ')'
	}
	if shut == 0 {
		if mark := inputMark.FindStringIndex(rest); mark != nil {
			rest = rest[mark[1]:]
		}
		return strings.TrimSpace(strings.TrimLeft(rest, " \t\n:")), true
	}
	end := closing(rest, shut)
	if end < 0 {
		end = strings.LastIndexByte(rest, shut)
	}
	if end < 0 {
		return strings.TrimSpace(rest), true
	}
	return strings.TrimSpace(rest[:end]), false
}

// closing is the place of the bracket that ends a text, brackets and quotes within it aside; -1 for none.
func closing(text string, shut byte) int {
	opens := map[byte]byte{']': '[', ')': '('}[shut]
	depth, quote := 1, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == opens:
			depth++
		case c == shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// said writes an action as the conversation shows it: what was read, and nothing that stood behind it.
func (a action) said() string {
	if a.name == "" {
		return "Thought: " + cmp.Or(a.thought, "…")
	}
	return "Thought: " + cmp.Or(a.thought, "…") + "\nAction: " + a.name + "[" +
		words.Short(words.Unbarred(words.Clean(a.argument)), maxEcho) + "]"
}
