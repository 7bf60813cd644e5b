package doubt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

var (
	denies = compile(`(?i)\b(?:never|without|not|neither|nor|except(?:ing)?|excluding|excluded?|other than|
		besides|apart from|aside from|(?:leaving|left) out|\pL+n['’]t|nobody|no one|nothing|(?:all|any\pL+|every\pL+) but|
		(?:have|has|had|with|are|is|who) no|with none|have none|none of)\b`)
	// allows are phrases that deny nothing.
	allows = compile(`(?i)\b(?:not only|with or without|whether or not|if not|or not|
		not (?:less|more|fewer|later|earlier) than|no (?:less|more|fewer|later|earlier|longer)(?: than)?|not just|
		even (?:if|when|those) .*\b(?:never|not|no|none|without)\b|<too>|
		(?:excluding|without|except|leaving out|not counting) (?:\pL+ )?(?:unknown|missing|empty|blank|null)|
		(?:excluding|ignoring|skipping|except(?: for)?|leaving out|not counting) (?:the|those|ones|any|all)
		(?: \pL+)? (?:without|with no)|
		without (?:repetition|duplicat\w+|repeat\w*|counting twice)|not \w+ yet, or|
		do(?:n['’]t| not) (?:show|list|include|count|need|want|repeat)|
		can['’]?t|doesn['’]t matter|isn['’]t it|other than that|not sure|don['’]t know|no matter|not null)\b`)
	unWord = compile(`(?i)\bun(\pL{4,})`)
)

// negation looks for a part that the question excludes and the statement does not.
func (h held) negation() string {
	if detail := h.keepsDenied(); detail != "" {
		return detail
	}
	text := replace(withoutTax, replace(allows, h.asked, " "), " ")
	word := cmp.Or(denies.FindString(text), h.unWord(text))
	if word == "" || denies.MatchString(replace(allows, h.evidence, " ")) ||
		h.anyConstant(func(c constant) bool { return h.listsOthers(c.column) }) ||
		h.Has("yet") && h.anyConstant(h.unnamed) {
		return ""
	}
	switch excluded, careless := h.excludes(); {
	case excluded, h.rulesOut():
		return h.undone()
	case !careless:
		return differ(word, "excludes nothing")
	case word == "never", word == "without" && h.anyConstant(h.keepsOthers):
		return tell("The question says %s, the statement asks for one that is not.", word)
	}
	return ""
}

// keepsDenied looks for a value that the statement keeps while the question wants what is outside of it, or without it.
func (h held) keepsDenied() string {
	for _, c := range h.constant {
		text := strings.ToLower(strings.Trim(c.text, "%"))
		switch {
		case !c.equal() || c.number || text == "":
		case h.hasPhrase("outside " + text), h.hasPhrase("outside of " + text):
			return tell("The question says outside %s, the statement keeps %[1]s.", c.text)
		case h.says("un"+text) && !h.says(text) && !h.inCase(c.at) && !h.asks(comparing) &&
			!h.Statement.Uses("NOT") && !h.Statement.Uses("EXCEPT"):
			return tell("The question says un%s, the statement keeps %[1]s.", text)
		}
	}
	return ""
}

// keepsOthers reports whether a constant that the question names is unequal to one of several rows of a thing that the
// question asks for: a feature of an account.
func (h held) keepsOthers(c constant) bool {
	return (c.op == "<>" || c.op == "!=") && c.column.of != nil && h.named(c.text) &&
		h.anyTable(func(t *schema.Table) bool {
			return t != c.column.of && h.says(nounOf(t.Name)) && !refersToTable(t, c.column.of) &&
				h.anyTable(func(of *schema.Table) bool {
					return refersToTable(of, t) && (of == c.column.of || refersToTable(of, c.column.of))
				})
		})
}

// notDone finds what has not happened.
var notDone = compile(`\b(?:not|never|n['’]t)(?: been| yet| \pL+ly)? (\pL+)`)

// undone looks for rows for which something has happened, where the question asks for those for which it has not.
func (h held) undone() string {
	m := notDone.FindStringSubmatch(replace(allows, h.asked, " "))
	denied := h.places("IS", "NOT", "NULL")
	if m == nil || !h.single || len(h.places("NOT")) > len(denied) || h.Statement.Uses("EXCEPT") {
		return ""
	}
	for _, i := range denied {
		c := h.columnBefore(i)
		if c.ofTime() && h.filtersAt(i) && !h.inCase(i) && slices.Contains(words.OfName(c.Column), m[1]) {
			return tell("The question says not %s, the statement takes those that are.", m[1])
		}
	}
	return ""
}

// butNot finds a state and another one that it excludes: "pledged but not paid".
var butNot = compile(`\b(\pL+),? but (?:not|never) (?:yet )?(\pL+)`)

// rulesOut reports whether the statement keeps such a state, and no name of the schema is like the other one.
func (h held) rulesOut() bool {
	m := butNot.FindStringSubmatch(h.asked)
	return m != nil && h.writesConstant(m[1]) &&
		!slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return isLike(&t, m[2]) })
}

// unWord is a word like unpaid, of which the statement has the other part: paid.
func (h held) unWord(text string) string {
	for _, m := range unWord.FindAllStringSubmatch(text, -1) {
		if h.anyMention(func(c mention) bool { return alike(words.OfName(c.Column), m[1], 4, 4) }) {
			return m[0]
		}
	}
	return ""
}

// excludes reports whether the statement leaves something out; careless says that it does so by an inequality alone,
// which keeps rows of things that have others, too. A filter on the state of rows that the question does not name is
// none.
func (h held) excludes() (excluded, careless bool) {
	for i, t := range h.tokens {
		switch w := h.word(i); {
		case excluding[w], w == "NOT" && !h.stand(i-1, "IS", "NOT", "NULL"), h.stand(i-1, "IS", "DISTINCT"),
			t.Kind == sqltext.String && denying.MatchString(t.Text) &&
				!h.denied(strings.ReplaceAll(h.Statement.Dialect().Value(t), "_", " ")),
			w == "-" && h.verbalized(h.columnBehind(t.Pos).Column):
			return true, true
		case w == "NULL" && h.word(i-1) == "IS", w == "ISNULL", w == "<>", w == "!=":
			c := h.columnBefore(i)
			switch {
			case careful.MatchString(c.Column) && !h.verbalized(c.Column) && !h.namesState(i) &&
				!(ended.MatchString(c.Column) && h.asks(notOver)):
			case (w == "<>" || w == "!=") && len(h.tables) > 1:
				careless = true
			default:
				return true, true
			}
		case w == "<" || w == "<=" || w == ">":
			careless = careless || !h.asks(doesNot) || !h.inRange(i)
		}
	}
	return false, careless
}

// goneState are states of rows that count as neither.
var goneState = compile(`(?i)^(?:deleted|removed|archived|cancell?ed|void(?:ed)?|refunded)$`)

// notOver finds a denial that something has ended.
var notOver = compile(`(?:\bnot|\bnever|n['’]t)(?: \pL+){0,3} (?:resolved|finished|completed|closed|ended|
		cancell?ed|quit|left|terminated|churned|expired|retired|done|settled)\b`)

// inRange reports whether the comparison at a token is an end of a time, from one day to another, whose rows the
// statement keeps in whatever state.
func (h held) inRange(at int) bool {
	return h.anyConstant(func(c constant) bool {
		return c.opAt == at && !c.number && slices.ContainsFunc(h.statedTimes(), func(s stated) bool {
			return strings.EqualFold(s.column, c.column.Column) && !s.from.IsZero() && !s.to.IsZero()
		})
	}) && !h.anyConstant(func(c constant) bool {
		return c.equal() && careful.MatchString(c.column.Column)
	})
}

// excluding are words by which a statement leaves something out.
var excluding = words.Set("EXCEPT MINUS INTERSECT HAVING CASE FALSE ANTI 0")

// listsOthers reports whether a statement keeps all stored texts of a column but those that the question names: IN
// ('done', 'withdrawn') for "not open". It may also keep one text where the question names that one and another one:
// kind = 'person' for "people, not companies".
func (h held) listsOthers(of mention) bool {
	if of.known == nil || int64(len(profileOf(of.known).Top)) != profileOf(of.known).Distinct {
		return false
	}

	left, said, rest := false, false, false
	for _, stored := range profileOf(of.known).Top {
		text, ok := stored.Value.(string)
		kept := h.anyConstant(func(c constant) bool {
			return c.column.known == of.known && c.equal() && c.text == text
		})
		switch {
		case !ok:
			return false
		case kept:
			said = said || h.named(text) && !h.denied(text)
		case h.named(text):
			left = true
		case goneState.MatchString(text):
		default:
			rest = true
		}
	}
	return left && (said || !rest)
}

// denying are texts that say no.
var denying = compile(`(?i)^['"](?:[-%]|n|no|f|false|0|none|n/a)?['"]$|\b(?:not?|non|un\w+|in\w+|never|none)\b|
		^'(?:un|non|in|dis|no[-_ ])`)

// verbalized reports whether the question has a word of a column: not shipped and shipped_at, undeleted and deleted_at.
func (h held) verbalized(column string) bool {
	return slices.ContainsFunc(words.OfName(column), func(w string) bool {
		return !general[w] && (h.related(w) || strings.Contains(h.asked, "un"+w[:min(4, len(w))]) ||
			strings.Contains(h.asked, "in"+w))
	})
}

// namesState reports whether the question names the constant behind the operator at token i.
func (h held) namesState(i int) bool {
	return i+1 < len(h.tokens) && h.tokens[i+1].Kind == sqltext.String &&
		h.named(h.Statement.Dialect().Value(h.tokens[i+1]))
}

var bothOf = compile(`(?i)\bboth\b.*\band\b|\band also\b|\b(?:with|includ\w+|contain\w*|tagged|have|has|had|
		use[sd]?|bought|take[ns]?|took|speak|offer|like) .*\bas well as\b`)

// impossible looks for two values that one column of one row should have.
func (h held) impossible() string {
	for i, c := range h.constant {
		for _, d := range h.constant[i+1:] {
			if c.op == "=" && d.op == "=" && c.at < d.opAt && !strings.EqualFold(c.text, d.text) &&
				c.column.Qualifier == d.column.Qualifier && strings.EqualFold(h.word(d.opAt-1), d.column.Column) &&
				strings.EqualFold(h.word(c.opAt-1), d.column.Column) && !slices.ContainsFunc(h.tokens[c.at:d.opAt], isParted) {
				return tell("No row has both %s and %s in %s.", c.text, d.text, c.column.Column)
			}
		}
	}
	return ""
}

// parted are words between conditions that need not hold for one row.
var parted = words.Set("( ) ; OR WHEN THEN ELSE END SELECT WHERE ON JOIN GROUP HAVING ORDER UNION EXCEPT INTERSECT")

// isParted reports whether conditions before and after a token need not hold for one row.
func isParted(t sqltext.Token) bool { return t.Text == "," || parted[strings.ToUpper(t.Text)] }

// both looks for two things that one has to have and of which the statement takes either, or no row has both.
func (h held) both() string {
	if detail := h.impossible(); detail != "" {
		return detail
	}
	read := except(h.Statement.Tables(), func(t sqlshape.TableRef) bool { return !t.Base() })
	if !h.asks(bothOf) || h.Statement.Uses("INTERSECT") || h.Statement.Uses("HAVING") || h.Statement.Uses("CASE") ||
		len(h.Aggregates)+len(h.GroupBy) > 0 || len(read) > len(h.tables) { // by two rows of one table
		return ""
	}
	var last constant
	for _, c := range h.constant {
		if !c.equal() || !h.named(c.text) {
			continue
		}
		if last.text != "" && strings.EqualFold(last.column.Column, c.column.Column) &&
			(c.op == "IN" || h.Statement.Uses("OR")) && !h.haveOne(c.column.of) {
			return tell("The question says both %s and %s, the statement takes either.", last.text, c.text)
		}
		last = c
	}
	return ""
}

// haveOne reports whether each thing that the question asks for and the statement shows has one row of a table, or is
// one: a customer has one country.
func (h held) haveOne(of *schema.Table) bool {
	asked := func(t *schema.Table) bool {
		return h.says(nounOf(t.Name)) &&
			h.shows(func(c mention) bool { return c.of == t && refersTo(t, c.Column) == "" })
	}
	return of != nil &&
		h.anyTable(func(t *schema.Table) bool { return asked(t) && (t == of || refersToTable(t, of)) }) &&
		!h.anyTable(func(t *schema.Table) bool {
			return h.anyTable(func(o *schema.Table) bool { return asked(o) && refersToTable(t, o) })
		})
}

var withNone = compile(`(?i)\b(?:<too>|even (?:if|those|the ones) .*\b(?:no|none|without|not|never)\b|
		(?:with|including) zeros?\b|zeros? included|none included|0 if (?:none|there)|
		also (?:if|when) (?:they|it) ha\w+ no|(?:including|also|even) (?:the )?empty(?: ones)?)`)

// including looks for rows without a partner that the question wants kept.
func (h held) including() string {
	outer := false
	for _, s := range h.selects {
		for i, join := range s.Joined {
			kind, _, _ := strings.Cut(join, " ")
			outer = outer || keeping[kind]
			looksUp := func(t *schema.Table) bool { return refersToTable(t, cmp.Or(h.table(s.Tables[i]), t)) } // its country
			if kind == "LEFT" && (h.everyOne() || h.asks(withNone)) && h.filters(s, s.Tables[i]) && !h.anyTable(looksUp) {
				return tell("The question asks for all of them, the condition on %s drops those without.", s.Tables[i].Name)
			}
		}
	}
	if outer || len(h.SetOps) > 0 || len(h.tables) < 2 && len(h.Statement.Tables()) < 2 {
		return ""
	}
	if m := withNone.FindString(h.asked); m != "" && !h.scalar() {
		return tell("The question says %s, the join keeps only those with.", m)
	}
	if h.everyOne() {
		return h.dropsSome()
	}
	return ""
}

// keeping are joins that keep rows without a partner.
var keeping = words.Set("LEFT RIGHT FULL")

// everyOne reports whether the question asks for all there are, or for each.
func (h held) everyOne() bool {
	return h.Has("all *", "every *", "each *") && !h.Has("at all", "in all")
}

// filters reports whether the WHERE of a SELECT asks for a value of a table.
func (h held) filters(s sqlshape.Select, t sqlshape.TableRef) bool {
	return !keepsNull.MatchString(s.Where) && h.anyMention(func(c mention) bool {
		return inWhere(s, c.Pos) && c.Qualifier != "" &&
			(strings.EqualFold(c.Qualifier, t.Alias) || strings.EqualFold(c.Qualifier, t.Name))
	})
}

var keepsNull = compile(`(?i)IS NULL| OR |COALESCE`)
