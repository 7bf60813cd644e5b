package sqltext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of Check.
const (
	// MaxStatement is the longest statement that Check accepts, in bytes.
	MaxStatement = 100_000
	// MaxDepth is the deepest nesting of brackets that Check accepts. Parsers
	// that recurse overflow their stack, or take minutes, on much deeper text.
	MaxDepth = 200
)

// Rule names a rule of the text check. The values are stable.
type Rule string

// The rules of Check, in the order in which they are applied.
const (
	RuleTooLong           Rule = "too-long"           // over MaxStatement
	RuleNotUTF8           Rule = "not-utf8"           // invalid UTF-8
	RuleNUL               Rule = "nul"                // a NUL character
	RuleUnterminated      Rule = "unterminated"       // a string, name or comment without its end
	RuleInvisible         Rule = "invisible"          // an invisible character outside of strings and quoted names
	RuleExecutableComment Rule = "executable-comment" // a comment that the engine would run
	RuleDepth             Rule = "depth"              // brackets nested over MaxDepth
	RuleEmpty             Rule = "empty"              // no statement
	RuleSeveralStatements Rule = "several-statements" // more than one statement
	RuleNotReadOnly       Rule = "not-read-only"      // starts with a word that writes or changes state
	RuleNotAQuery         Rule = "not-a-query"        // starts with anything else but a query word
	RulePlaceholder       Rule = "placeholder"        // has a parameter that nobody will bind
)

// RefusedError is the refusal of a text by Check.
type RefusedError struct {
	Rule   Rule   // which rule refused it
	Detail string // one line for a person; quotes no literal of the text

	// Writes says that, by its words, the text writes or changes state: always
	// under RuleNotReadOnly, and under RuleSeveralStatements when one of the
	// statements does.
	Writes bool
}

// Error returns "sqltext: refused: RULE: DETAIL".
func (e *RefusedError) Error() string {
	return "sqltext: refused: " + string(e.Rule) + ": " + e.Detail
}

// Check returns the one statement of sql, ready for the engine, or a
// *RefusedError that names the first rule that sql breaks.
//
// The statement is returned as written, without one leading byte order mark
// and without outer blanks, outer comments and semicolons; nothing inside is
// changed, and checking it again returns it unchanged. Accepted text is valid
// UTF-8 of at most MaxStatement bytes and holds exactly one statement for the
// dialect, which starts with SELECT, WITH or VALUES (or with FROM or an opening
// bracket where the dialect has that), nests brackets at most MaxDepth deep and
// has no placeholder. A WITH that leads to INSERT, UPDATE, DELETE, REPLACE or
// MERGE is refused.
//
// It is a wall against accidents and second statements and no more: functions,
// hidden writes and forbidden tables are the business of package exec. It is
// linear in len(sql) and needs no database.
func (d Dialect) Check(sql string) (string, error) {
	if len(sql) > MaxStatement {
		return "", &RefusedError{Rule: RuleTooLong, Detail: fmt.Sprintf("%d bytes, at most %d are allowed", len(sql), MaxStatement)}
	}
	if !utf8.ValidString(sql) {
		return "", &RefusedError{Rule: RuleNotUTF8, Detail: "the text is not valid UTF-8"}
	}
	if strings.IndexByte(sql, 0) >= 0 {
		return "", &RefusedError{Rule: RuleNUL, Detail: "the text holds a NUL character"}
	}
	sql = strings.TrimPrefix(sql, "\ufeff")
	c := checker{main: mainStart}
	l := lexer{d: d, src: sql}
	for l.pos < len(sql) {
		start := l.pos
		kind := l.scan()
		if kind != String && kind != QuotedName && strings.IndexFunc(sql[start:l.pos], isInvisible) >= 0 {
			return "", &RefusedError{Rule: RuleInvisible, Detail: "an invisible character stands outside of strings and quoted names"}
		}
		if kind == Space || kind == Comment && !d.ExecutableComments {
			continue
		}
		if err := c.token(Token{Kind: kind, Text: sql[start:l.pos], Pos: start}); err != nil {
			return "", err
		}
	}
	if err := c.verdict(d); err != nil {
		return "", err
	}
	stmt := sql[c.start:c.end]
	if d.DashNeedsBlank && strings.HasSuffix(stmt, "--") {
		// Two minus signs, which become a comment once nothing follows them.
		return "", &RefusedError{Rule: RuleUnterminated, Detail: "the statement ends with an operator"}
	}
	return stmt, nil
}

// checker holds what the text check learns in its one pass.
type checker struct {
	open        [MaxDepth]byte // the brackets that are open
	depth       int            // how many
	begun       bool           // a token of the first statement was seen
	closed      bool           // its semicolon was seen
	start, end  int            // the first statement without its surroundings
	several     bool
	placeholder Token

	first Token // first token of the first statement that is no opening bracket
	boxed bool  // it starts with a bracket
	main  mainState
	verb  Token // WITH: the word that starts its main statement

	fresh  bool // the next token starts a further statement
	writes bool // a further statement writes
}

// mainState follows a WITH to the first word of its main statement.
type mainState uint8

const (
	mainStart mainState = iota // before the first word
	mainWith                   // inside the WITH list
	mainBody                   // right behind the closing bracket of a list item
	mainKnown
)

func (c *checker) token(t Token) error {
	switch t.Kind {
	case Comment:
		if isExecutable(t.Text) {
			return &RefusedError{Rule: RuleExecutableComment, Detail: "a comment holds code or a hint"}
		}
		return nil
	case Unterminated:
		return &RefusedError{Rule: RuleUnterminated, Detail: "a string, quoted name or comment has no end"}
	case Operator:
		if len(t.Text) > 1 {
			break
		}
		switch b := t.Text[0]; b {
		case '(', '[', '{':
			if c.depth == MaxDepth {
				return &RefusedError{Rule: RuleDepth, Detail: fmt.Sprintf("brackets are nested over %d deep", MaxDepth)}
			}
			c.open[c.depth] = closing(b)
			c.depth++
		case ')', ']', '}':
			// A closing bracket of the wrong kind closes nothing, so that it
			// cannot hide depth.
			if c.depth > 0 && c.open[c.depth-1] == b {
				c.depth--
			}
		case ';':
			c.closed, c.fresh = c.closed || c.begun, true
			return nil
		}
	}
	if c.closed {
		c.several = true
		c.writes = c.writes || c.fresh && t.Kind == Word && changes(t.Text)
		c.fresh = false
		return nil
	}
	if !c.begun {
		c.begun, c.start = true, t.Pos
	}
	c.end = t.Pos + len(t.Text)
	if t.Kind == Placeholder && c.placeholder.Text == "" {
		c.placeholder = t
	}
	if c.main != mainKnown {
		c.follow(t)
	}
	return nil
}

// follow finds the words that say what the first statement is.
func (c *checker) follow(t Token) {
	switch c.main {
	case mainStart:
		if t.isOperator("(") {
			c.boxed = true
			return
		}
		c.first, c.main = t, mainKnown
		if t.isWord("WITH") && !c.boxed {
			c.main = mainWith
		}
	case mainWith:
		if t.isOperator(")") && c.depth == 0 {
			c.main = mainBody
		}
	case mainBody:
		// Behind the bracket of a list item come AS, a comma, SEARCH or CYCLE
		// clauses, or the main statement.
		if t.Kind == Word && (isQueryWord(t.Text) || isOneOf(t.Text, "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE")) {
			c.verb, c.main = t, mainKnown
			return
		}
		c.main = mainWith
	}
}

func (c *checker) verdict(d Dialect) error {
	if !c.begun {
		return &RefusedError{Rule: RuleEmpty, Detail: "the text holds no statement"}
	}
	writes := c.first.Kind == Word && changes(c.first.Text) || c.verb.Kind == Word && changes(c.verb.Text)
	switch {
	case c.several:
		return &RefusedError{Rule: RuleSeveralStatements, Detail: "the text goes on behind its first statement", Writes: writes || c.writes}
	case writes && c.verb.Kind == Word:
		return &RefusedError{Rule: RuleNotReadOnly, Detail: "WITH leads to " + strings.ToUpper(c.verb.Text), Writes: true}
	case writes:
		return &RefusedError{Rule: RuleNotReadOnly, Detail: "the statement starts with " + strings.ToUpper(c.first.Text), Writes: true}
	case c.boxed && !d.BracketedQueries:
		return &RefusedError{Rule: RuleNotAQuery, Detail: "the statement starts with a bracket"}
	case c.first.Kind != Word:
		return &RefusedError{Rule: RuleNotAQuery, Detail: "the statement starts with no word"}
	case !isQueryWord(c.first.Text) && !(d.FromFirst && c.first.isWord("FROM")):
		return &RefusedError{Rule: RuleNotAQuery, Detail: "the statement starts with " + shortWord(c.first.Text)}
	case c.placeholder.Text != "":
		return &RefusedError{Rule: RulePlaceholder, Detail: "nothing is bound to " + shortWord(c.placeholder.Text)}
	}
	return nil
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// shortWord keeps an error message short and printable whatever the text holds.
func shortWord(s string) string {
	s = CleanText(s)
	if runes := []rune(s); len(runes) > 32 {
		return string(runes[:32]) + "…"
	}
	return s
}

func isExecutable(comment string) bool {
	return strings.HasPrefix(comment, "/*!") || strings.HasPrefix(comment, "/*+") ||
		strings.HasPrefix(comment, "/*M!") || strings.HasPrefix(comment, "/*m!")
}

func isQueryWord(word string) bool { return isOneOf(word, "SELECT", "WITH", "VALUES") }

// isOneOf compares without case and without allocating.
func isOneOf(word string, upper ...string) bool {
	for _, u := range upper {
		if len(u) == len(word) && strings.EqualFold(u, word) {
			return true
		}
	}
	return false
}

// changes reports whether word, at the start of a statement, writes, locks or
// changes the state of the connection in some engine. EXPLAIN, SHOW and
// DESCRIBE do not: they are merely no queries.
func changes(word string) bool {
	return isOneOf(word,
		"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "UPSERT", "TRUNCATE",
		"CREATE", "DROP", "ALTER", "RENAME", "COMMENT", "GRANT", "REVOKE",
		"ATTACH", "DETACH", "PRAGMA", "VACUUM", "REINDEX", "ANALYZE", "ANALYSE", "OPTIMIZE", "REPAIR", "CLUSTER", "CHECKPOINT", "REFRESH",
		"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "LOCK", "UNLOCK",
		"SET", "RESET", "USE", "DECLARE", "PREPARE", "EXECUTE", "DEALLOCATE", "DISCARD", "CALL", "DO", "EXEC",
		"COPY", "LOAD", "IMPORT", "EXPORT", "INSTALL", "UNLOAD", "HANDLER", "FLUSH", "KILL", "SHUTDOWN", "PURGE",
		"LISTEN", "NOTIFY", "UNLISTEN", "REASSIGN", "SECURITY", "MOVE", "FETCH", "CLOSE", "PUT", "REMOVE", "UNDROP")
}
