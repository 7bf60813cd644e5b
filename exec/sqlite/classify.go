package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// classify gives an error of the driver its type, by the beginning of its message: the codes of SQLite are hidden in
// types of the driver, and "no such column" has the code of a syntax error. The wording is that of the SQLite sources.
// compiling: nothing has run yet. refused: what the authorizer said.
func classify(err error, compiling bool, refused *exec.RefusedError) error {
	switch {
	case err == nil:
		return nil
	case exec.IsClassified(err), strings.HasPrefix(err.Error(), "sqlite: "): // classified before
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, driver.ErrBadConn),
		errors.Is(err, sql.ErrConnDone):
		return fmt.Errorf("sqlite: running a statement: %w", err)
	case refused != nil:
		return refused
	}
	message := ownWords(err)
	starts := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(message, p) })
	}
	switch {
	case starts("not authorized", "access to ", "attempt to write a readonly database"):
		return guard.Refuse("not-read-only", "%s", message)
	case starts("database is locked", "database table is locked", "database schema is locked"):
		return fmt.Errorf("%w: %s", exec.ErrBusy, message)
	case starts("file is not a database", "database disk image is malformed", "unable to open database file",
		"disk I/O error", "malformed database schema", "locking protocol", "unsupported file format", "authorization denied"):
		return fmt.Errorf("sqlite: reading the database: %w", err)
	case starts("string or blob too big", "string or blob exceeds size limit"):
		return &exec.LimitError{Limit: "cell"}
	case starts("interrupted"):
		return &exec.LimitError{Limit: "time"}
	case compiling && starts("too many columns in result set"):
		return &exec.LimitError{Limit: "columns", Max: fmt.Sprint(mostColumns)}
	case compiling && starts("out of memory", "Expression tree is too large", "too many", "parser stack overflow",
		"statement too long", "at most ", "query aborted", "variable number must be"):
		// "out of memory" while compiling is the limit on the length of a program.
		return guard.Refuse("too-complex", "%s", message)
	case starts("out of memory", "database or disk is full"):
		return &exec.LimitError{Limit: "memory"}
	case starts("near ", "unrecognized token", "incomplete input"):
		return &exec.InvalidError{Fault: "syntax", Message: message}
	case compiling && starts("no such ", "ambiguous column name", "unknown database", "cannot join using column",
		"table "):
		return absent(message)
	case compiling:
		return &exec.InvalidError{Fault: "compile", Message: message}
	default:
		return &exec.InvalidError{Fault: "run", Message: masked(message)}
	}
}

// notJoined is the message about a column of USING that a table lacks.
var notJoined = regexp.MustCompile(`^cannot join using column (.*) - column not present`)

// absent is the error of a name that is not there.
func absent(message string) error {
	kind, name, _ := strings.Cut(message, ": ")
	if m := notJoined.FindStringSubmatch(message); m != nil {
		name = m[1]
	}
	tag := builtWith[schema.FoldCase(name)]
	if tag == "" || kind != "no such function" {
		return &exec.InvalidError{Fault: "schema", Message: message, Name: name}
	}
	message += ", which this build of SQLite lacks: the build tag " + tag + " of mattn/go-sqlite3 adds it"
	if tag == mathTag {
		message += ", or sqlite.Math of exec/sqlite"
	}
	return &exec.InvalidError{Fault: "compile", Message: message} // no other name would do
}

const mathTag = "sqlite_math_functions"

// builtWith are functions of SQLite that a build may lack, with the tag that adds them.
var builtWith = func() map[string]string {
	tags := map[string]string{"soundex": "sqlite_soundex", "bm25": "sqlite_fts5", "highlight": "sqlite_fts5",
		"snippet": "sqlite_fts5"}
	for name := range guard.Set(mathFunctions) {
		tags[name] = mathTag
	}
	return tags
}()

// isLocked reports whether somebody else holds a lock, which may soon be gone.
func isLocked(err error) bool {
	return err != nil && strings.HasPrefix(ownWords(err), "database is locked")
}

// codeWords are what github.com/ncruces/go-sqlite3 and modernc.org/sqlite put around the message of SQLite: the words
// of its code, which say less, and the second one its number.
var codeWords = regexp.MustCompile(`^(?:sqlite3: )?(?:SQL logic error|authorization denied): (.*?)(?: \(\d+\))?$`)

// ownWords is the message of SQLite, without what a driver puts around it.
func ownWords(err error) string {
	if m := codeWords.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return strings.TrimPrefix(err.Error(), "sqlite3: ")
}

// masked leaves out what stands in quotes, because an error of a running statement repeats values that it read ("bad
// JSON path: 's3cret'").
func masked(message string) string {
	if kind, _, ok := strings.Cut(message, ": "); ok && strings.HasPrefix(kind, "no such ") {
		return kind + ": …"
	}
	i := strings.IndexAny(message, `'"[`)
	if i < 0 {
		return message
	}
	head, rest := message[:i+1]+"…", message[i+1:]
	if j := strings.LastIndexByte(rest, map[byte]byte{'\'': '\'', '"': '"', '[': ']'}[message[i]]); j >= 0 {
		return head + rest[j:]
	}
	return head
}

// compileError gives an error of a compilation its type.
func (c *conn) compileError(err error) error { return classify(err, true, c.gate.refused) }

// runError gives an error of a running statement its type. SQLite compiles again where the schema changed after the
// compilation. A name that is not in the text comes from a value that a module took for a query.
func (c *conn) runError(err error, text string) error {
	if err == nil {
		return nil
	}
	kind, name, ok := strings.Cut(ownWords(err), ": ")
	again := ok && strings.HasPrefix(kind, "no such ") && !slices.ContainsFunc(strings.Split(schema.FoldCase(name), "."),
		func(part string) bool { return !strings.Contains(schema.FoldCase(text), part) })
	err = classify(err, again, c.gate.refused)
	if limit, ok := err.(*exec.LimitError); ok && limit.Limit == "cell" {
		limit.Max = fmt.Sprint(c.length, " bytes")
		if c.reason != "" {
			limit.Max += ", as " + c.reason
		}
	}
	return err
}
