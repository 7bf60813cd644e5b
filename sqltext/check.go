package sqltext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// maxDepth is the deepest nesting of brackets that Check accepts. Parsers that recurse overflow their stack, or take
// minutes, on much deeper text.
const maxDepth = 200

// The reasons of a RefusedError, in the order in which Check looks for them.
const (
	reasonTooLong           = "too-long"           // over 100,000 bytes, or a reply that is too long
	reasonNotUTF8           = "not-utf8"           // invalid UTF-8
	reasonNUL               = "nul"                // a NUL character
	reasonUnterminated      = "unterminated"       // a string, name or comment without its end
	reasonInvisible         = "invisible"          // an invisible character outside of strings and quoted names
	reasonExecutableComment = "executable-comment" // a comment that the engine would run
	reasonDepth             = "depth"              // brackets nested over 200 deep
	reasonEmpty             = "empty"              // the text has no statement, or the reply is blank
	reasonSeveral           = "several-statements" // several statements, or a reply with different ones
	reasonNotReadOnly       = "not-read-only"      // the statement writes or changes state
	reasonNotAQuery         = "not-a-query"        // starts with anything else but a query word
	reasonPlaceholder       = "placeholder"        // has a parameter that nobody will bind
)

// RefusedError reports that Check refused a text.
type RefusedError struct {
	// Reason is a stable word, the first that applies:
	//
	//	too-long, not-utf8, nul, invisible, unterminated, executable-comment, depth, empty, several-statements,
	//	not-read-only, not-a-query, placeholder
	//
	// See Check for the limits. An invisible character is refused outside of strings and quoted names.
	Reason string
	Detail string // one line for a person; quotes no literal of the text

	// Writes reports that, by its words, the text writes or changes state. It is always set for "not-read-only", and
	// for "several-statements" if one of the statements writes.
	Writes bool
}

// Error returns "sqltext: refused: REASON: DETAIL".
func (e *RefusedError) Error() string {
	return "sqltext: refused: " + e.Reason + ": " + e.Detail
}

// Check returns the one statement of sql, ready for the engine, or a *RefusedError with the first Reason that
// applies.
//
// It removes only a leading byte order mark, outer blanks, outer comments and semicolons from the text. Checking it
// again changes nothing. Accepted text is valid UTF-8 of at most 100,000 bytes. It has exactly one statement, which
// starts with SELECT, WITH or VALUES, or in some dialects with FROM or an opening bracket. The statement nests
// brackets at most 200 deep and has no placeholder. A WITH that leads to INSERT, UPDATE, DELETE, REPLACE or MERGE is
// refused.
//
// Check only stops accidents and second statements. Package exec decides about functions, hidden writes and forbidden
// tables. It is linear in len(sql).
func (d Dialect) Check(sql string) (*Statement, error) {
	if len(sql) > sqlshape.MaxStatement {
		return nil, &RefusedError{Reason: reasonTooLong, Detail: fmt.Sprintf("%d bytes, at most %d are allowed", len(sql),
			sqlshape.MaxStatement)}
	}
	if !utf8.ValidString(sql) {
		return nil, &RefusedError{Reason: reasonNotUTF8, Detail: "the text is not valid UTF-8"}
	}
	if strings.IndexByte(sql, 0) >= 0 {
		return nil, &RefusedError{Reason: reasonNUL, Detail: "the text holds a NUL character"}
	}
	sql = strings.TrimPrefix(sql, "\ufeff")
	c := checker{main: mainStart}
	l := lexer{d: d, src: sql}
	s := &Statement{parsed: parsed{d: d}, checked: true}
	for l.pos < len(sql) {
		start := l.pos
		kind := l.scan()
		if kind != String && kind != QuotedName && strings.IndexFunc(sql[start:l.pos], words.IsInvisible) >= 0 {
			return nil, &RefusedError{Reason: reasonInvisible,
				Detail: "an invisible character stands outside of strings and quoted names"}
		}
		if kind == Space || kind == Comment && !d.ExecutableComments {
			continue
		}
		t := Token{Kind: kind, Text: sql[start:l.pos], Pos: start}
		if err := c.token(t); err != nil {
			return nil, err
		}
		if kind != Comment && c.begun && !c.closed {
			if s.items == nil {
				s.items = make([]item, 0, min(128, (len(sql)-start)/5+4))
			}
			t.Pos -= c.start
			s.items = append(s.items, item{Token: t})
		}
	}
	if err := c.verdict(d); err != nil {
		return nil, err
	}
	s.sql = sql[c.start:c.end]
	if d.DashNeedsBlank && strings.HasSuffix(s.sql, "--") {
		// Two minus signs, which become a comment once nothing follows them.
		return nil, &RefusedError{Reason: reasonUnterminated, Detail: "the statement ends with an operator"}
	}
	return s, nil
}

// checker holds what the text check learns in its one pass.
type checker struct {
	open        [maxDepth]byte // the open brackets, by the one that closes each
	depth       int            // number of open brackets
	begun       bool           // a token of the first statement was seen
	closed      bool           // the semicolon of the first statement was seen
	start, end  int            // bytes of the first statement, without outer blanks, comments and semicolons
	several     bool
	placeholder Token

	first Token // first token of the first statement that is no opening bracket
	boxed bool  // the first statement starts with a bracket
	main  mainState
	verb  Token // behind WITH: the word that starts the main statement

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
			return &RefusedError{Reason: reasonExecutableComment, Detail: "a comment holds code or a hint"}
		}
		return nil
	case Unterminated:
		return &RefusedError{Reason: reasonUnterminated, Detail: "a string, quoted name or comment has no end"}
	case Operator:
		if len(t.Text) > 1 {
			break
		}
		switch b := t.Text[0]; b {
		case '(', '[', '{':
			if c.depth == maxDepth {
				return &RefusedError{Reason: reasonDepth, Detail: fmt.Sprintf("brackets are nested over %d deep", maxDepth)}
			}
			c.open[c.depth] = ")]}"[strings.IndexByte("([{", b)]
			c.depth++
		case ')', ']', '}':
			// A closing bracket of the wrong kind closes nothing, so that it cannot hide depth.
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
		// Behind the bracket of a list item come AS, a comma, SEARCH or CYCLE clauses, or the main statement.
		if t.Kind == Word && (isQueryWord(t.Text) || isOneOf(t.Text, "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE")) {
			c.verb, c.main = t, mainKnown
			return
		}
		c.main = mainWith
	}
}

func (c *checker) verdict(d Dialect) error {
	if !c.begun {
		return &RefusedError{Reason: reasonEmpty, Detail: "the text holds no statement"}
	}
	writes := c.first.Kind == Word && changes(c.first.Text) || c.verb.Kind == Word && changes(c.verb.Text)
	switch {
	case c.several:
		return &RefusedError{Reason: reasonSeveral, Detail: "one statement only: remove what follows the first semicolon",
			Writes: writes || c.writes}
	case writes && c.verb.Kind == Word:
		return &RefusedError{Reason: reasonNotReadOnly, Detail: "WITH leads to " + strings.ToUpper(c.verb.Text), Writes: true}
	case writes:
		return &RefusedError{Reason: reasonNotReadOnly, Detail: "the statement starts with " + strings.ToUpper(c.first.Text),
			Writes: true}
	case c.boxed && !d.BracketedQueries:
		return &RefusedError{Reason: reasonNotAQuery, Detail: "the statement starts with a bracket"}
	case c.first.Kind != Word:
		return &RefusedError{Reason: reasonNotAQuery, Detail: "the statement starts with no word"}
	case !d.startsQuery(c.first):
		return &RefusedError{Reason: reasonNotAQuery, Detail: "the statement starts with " + shortWord(c.first.Text)}
	case c.placeholder.Text != "":
		return &RefusedError{Reason: reasonPlaceholder, Detail: "nothing is bound to " + shortWord(c.placeholder.Text)}
	}
	return nil
}

// shortWord keeps an error message short and printable whatever the text holds.
func shortWord(s string) string {
	return words.Short(words.Clean(s), 32)
}

func isExecutable(comment string) bool {
	return strings.HasPrefix(comment, "/*!") || strings.HasPrefix(comment, "/*+") ||
		strings.HasPrefix(comment, "/*M!") || strings.HasPrefix(comment, "/*m!")
}

// startsQuery reports whether a statement that starts with t is a query.
func (d Dialect) startsQuery(t Token) bool {
	switch {
	case isQueryWord(t.Text):
		return true
	case t.isWord("FROM"):
		return d.FromFirst
	case t.isWord("TABLE"):
		return d.TableFirst
	}
	pivots := d.PivotFirst && isOneOf(t.Text, "PIVOT", "UNPIVOT", "PIVOT_WIDER", "PIVOT_LONGER")
	return t.Kind == Word && (pivots || d.describes(t))
}

// describes reports whether a statement that starts with t tells of a table or a query.
func (d Dialect) describes(t Token) bool {
	return d.DescribeFirst && isOneOf(t.Text, "DESCRIBE", "DESC", "SUMMARIZE")
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

// changes reports whether word, at the start of a statement, writes, locks or changes the state of the connection in
// some engine. EXPLAIN, SHOW and DESCRIBE do not: they are merely no queries.
func changes(word string) bool {
	return isOneOf(word,
		"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "UPSERT", "TRUNCATE",
		"CREATE", "DROP", "ALTER", "RENAME", "COMMENT", "GRANT", "REVOKE",
		"ATTACH", "DETACH", "PRAGMA", "VACUUM", "REINDEX", "ANALYZE", "ANALYSE", "OPTIMIZE", "REPAIR", "CLUSTER",
		"CHECKPOINT", "REFRESH",
		"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "LOCK", "UNLOCK",
		"SET", "RESET", "USE", "DECLARE", "PREPARE", "EXECUTE", "DEALLOCATE", "DISCARD", "CALL", "DO", "EXEC",
		"COPY", "LOAD", "IMPORT", "EXPORT", "INSTALL", "UNLOAD", "HANDLER", "FLUSH", "KILL", "SHUTDOWN", "PURGE",
		"LISTEN", "NOTIFY", "UNLISTEN", "REASSIGN", "SECURITY", "MOVE", "FETCH", "CLOSE", "PUT", "REMOVE", "UNDROP")
}
