package prompttext

import (
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// ShownName returns a name as prompts show it between quotes. Characters that a reader does not see are escapes of Go:
// a line break is \n, a tab \t, a mark of direction \u202e. So are those that would end a code fence or a tag of the
// prompt, or part its turns. Most names are their own shown form, and so is a name that is not valid UTF-8.
//
// [Schema.Presentable] writes names so, [Schema.Lookup] and [Table.Column] find them, and package exec puts the names
// of the database back into a statement that has them.
func ShownName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '`' || r == '<' }) ||
		!utf8.ValidString(name) {
		return name
	}
	return words.Visible(markers.Replace(name), "", words.Hidden)
}

var markers = strings.NewReplacer("```", `\u0060\u0060\u0060`, "</", `\u003c/`, "<|", `\u003c|`, "<｜", `\u003c｜`)

// maxNameRunes is the longest name that a prompt shows. A name is never cut, because the database has no such name.
const maxNameRunes = 256

// NameFault says why a prompt may not show a table or column of that name; "": it may.
//
// It is about the name as it stands: not shown are names that are not valid UTF-8, that hold a control or format
// character (as [Literal] defines them), that are longer than 256 characters (runes), or that would end a code fence or
// a tag of the prompt (three back quotes; "</"). Of these the first and the long ones have no [ShownName] that may be
// shown.
func NameFault(name string) string {
	switch {
	case len(name) > maxNameRunes*utf8.UTFMax || utf8.RuneCountInString(name) > maxNameRunes:
		return "the name is longer than 256 characters"
	case !utf8.ValidString(name):
		return "the name is not valid UTF-8"
	case !showable(name):
		return "the name has control or format characters"
	case strings.Contains(name, "```") || strings.Contains(name, "</"):
		return "the name would end a fence or a tag of the prompt"
	}
	return ""
}

// QuoteName writes a name as an SQL identifier: as it is if it needs no quotes, else
// in double quotes with those inside doubled.
//
// A name needs no quotes if it consists of ASCII letters, digits and underscores, does not start with a digit and is no
// keyword of SQLite. Letters beyond ASCII are quoted, so that a look-alike of another name catches the eye.
func QuoteName(name string) string {
	if IsPlainName(name) && !isKeyword(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// List returns names, each quoted, with commas between them.
func List(quote func(string) string, names []string) string {
	if len(names) == 1 {
		return quote(names[0])
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// IsPlainName reports whether a name has ASCII letters, digits and underscores only, and no digit in front.
func IsPlainName(name string) bool {
	return name != "" && strings.Trim(name, nameLetters) == "" && (name[0] < '0' || name[0] > '9')
}

// keywords are those of SQLite.
var keywords = words.Set(`ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY
	CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE
	CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP
	EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN
	FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT
	INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING
	NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY
	RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK
	ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED UNION
	UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHIN WITHOUT`)

// isKeyword reports whether name is a keyword of SQLite, by the list of https://sqlite.org/lang_keywords.html. Many of
// them need quotes in some places only, but a quoted name is right everywhere.
func isKeyword(name string) bool {
	if len(name) < 2 || len(name) > 17 {
		return false
	}
	var upper [17]byte // without allocating: every name of a schema comes here
	for i := range len(name) {
		upper[i] = name[i] &^ ('a' - 'A')
	}
	return keywords[string(upper[:len(name)])]
}
