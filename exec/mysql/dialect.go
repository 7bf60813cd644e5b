package mysql

import (
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is MariaDB and MySQL for exec.New and texttosql.WithDialect. The zero Dialect works with
// github.com/go-sql-driver/mysql and a server whose sql_mode has neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES.
//
// Safe for concurrent use.
type Dialect struct {
	// MariaDB makes the title "MariaDB", for prompts and people. The guard does not need it: it asks the server.
	MariaDB bool
	// ANSIQuotes says that the sql_mode of the connections has ANSI_QUOTES, or ANSI: "x" is a name and no string. A
	// connection on which it is otherwise is refused, with exec.ErrUnguarded.
	ANSIQuotes bool
	// NoBackslashEscapes says the same of NO_BACKSLASH_ESCAPES: a backslash in a string is a backslash.
	NoBackslashEscapes bool
}

// Language is that of MariaDB or MySQL, with the lexing rules that the fields say.
func (d Dialect) Language() exec.Language {
	title := "MySQL"
	if d.MariaDB {
		title = "MariaDB"
	}
	text := sqltext.MySQL()
	text.DoubleQuotedStrings, text.Backslash = !d.ANSIQuotes, !d.NoBackslashEscapes
	return exec.Language{
		Name: "mysql", Title: title, Text: text, QuoteName: quote,
		Backticks: text.DoubleQuotedStrings, // with ANSI_QUOTES "x" is never a string
		Drivers:   []string{"github.com/go-sql-driver/mysql"},
	}
}

// quote returns name in backticks.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	s := &server{dialect: d, policy: c.Policy}
	return s.open, nil
}
