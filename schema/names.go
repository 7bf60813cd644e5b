package schema

import (
	"strings"
	"unicode/utf8"
)

// maxNameRunes is the longest name that goes into a prompt. A name is never cut:
// what was cut would be no name of the database.
const maxNameRunes = 128

// NameFault says why a table or column of that name may not be shown in a
// prompt; "" where it may.
//
// Names must stay as they are, so what cannot be shown as it is is left out:
// names that are not valid UTF-8, that hold a control or format character (as
// [Literal] defines them), that are longer than 128 characters (runes), or that
// would end a code fence or a tag of the prompt (three back quotes; "</").
func NameFault(name string) string {
	switch {
	case len(name) > maxNameRunes*utf8.UTFMax || utf8.RuneCountInString(name) > maxNameRunes:
		return "the name is longer than 128 characters"
	case !utf8.ValidString(name):
		return "the name is not valid UTF-8"
	case !showable(name):
		return "the name has control or format characters"
	case strings.Contains(name, "```") || strings.Contains(name, "</"):
		return "the name would end a fence or a tag of the prompt"
	}
	return ""
}

// QuoteName writes a name as an SQL identifier: as it is where it needs no
// quotes, else in double quotes with those inside doubled.
//
// No quotes need ASCII letters, digits and underscores that do not start with a
// digit and are no keyword of SQLite. Letters beyond ASCII are quoted, so that a
// look-alike of another name catches the eye.
func QuoteName(name string) string {
	if isPlainName(name) && !isKeyword(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= lower(c) && lower(c) <= 'z', c == '_':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// isKeyword reports whether SQLite has that keyword. The list is the one of
// https://sqlite.org/lang_keywords.html; many of them need quotes only in some
// places, but a name that is quoted is right everywhere.
func isKeyword(name string) bool {
	if len(name) < 2 || len(name) > 17 {
		return false
	}
	switch strings.ToUpper(name) {
	case "ABORT", "ACTION", "ADD", "AFTER", "ALL", "ALTER", "ALWAYS", "ANALYZE", "AND", "AS", "ASC", "ATTACH", "AUTOINCREMENT",
		"BEFORE", "BEGIN", "BETWEEN", "BY", "CASCADE", "CASE", "CAST", "CHECK", "COLLATE", "COLUMN", "COMMIT", "CONFLICT",
		"CONSTRAINT", "CREATE", "CROSS", "CURRENT", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATABASE", "DEFAULT",
		"DEFERRABLE", "DEFERRED", "DELETE", "DESC", "DETACH", "DISTINCT", "DO", "DROP", "EACH", "ELSE", "END", "ESCAPE", "EXCEPT",
		"EXCLUDE", "EXCLUSIVE", "EXISTS", "EXPLAIN", "FAIL", "FILTER", "FIRST", "FOLLOWING", "FOR", "FOREIGN", "FROM", "FULL",
		"GENERATED", "GLOB", "GROUP", "GROUPS", "HAVING", "IF", "IGNORE", "IMMEDIATE", "IN", "INDEX", "INDEXED", "INITIALLY",
		"INNER", "INSERT", "INSTEAD", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "KEY", "LAST", "LEFT", "LIKE", "LIMIT", "MATCH",
		"MATERIALIZED", "NATURAL", "NO", "NOT", "NOTHING", "NOTNULL", "NULL", "NULLS", "OF", "OFFSET", "ON", "OR", "ORDER",
		"OTHERS", "OUTER", "OVER", "PARTITION", "PLAN", "PRAGMA", "PRECEDING", "PRIMARY", "QUERY", "RAISE", "RANGE", "RECURSIVE",
		"REFERENCES", "REGEXP", "REINDEX", "RELEASE", "RENAME", "REPLACE", "RESTRICT", "RETURNING", "RIGHT", "ROLLBACK", "ROW",
		"ROWS", "SAVEPOINT", "SELECT", "SET", "TABLE", "TEMP", "TEMPORARY", "THEN", "TIES", "TO", "TRANSACTION", "TRIGGER",
		"UNBOUNDED", "UNION", "UNIQUE", "UPDATE", "USING", "VACUUM", "VALUES", "VIEW", "VIRTUAL", "WHEN", "WHERE", "WINDOW",
		"WITH", "WITHIN", "WITHOUT":
		return true
	}
	return false
}
