package mysql

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
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
		Dates:     "Today is CURDATE(). All moments of a day are c >= '2024-04-30' AND c < '2024-04-30' + INTERVAL 1 DAY.",
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

// SampleRows reads the first rows of t in the order of its primary key, or as the table itself is stored. With Spread, a
// long table whose primary key is one integer is read in several places, as guard.SampleRows does it.
func (d Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(d.Language()), t, o, quote, func(kind, column string) string {
		if !long.MatchString(kind) {
			return column
		}
		return fmt.Sprintf("LEFT(%s, %d)", column, o.Cut)
	})
	var key []string
	for _, column := range t.PrimaryKey {
		key = append(key, "t."+quote(column))
	}
	switch c, _ := t.Column(strings.Join(t.PrimaryKey, "")); {
	case len(key) > 0:
		s.From += " FORCE INDEX (PRIMARY)"
		s.Order = " ORDER BY " + strings.Join(key, ", ")
		if len(key) == 1 && c != nil && strings.Contains(c.Type, "int") {
			s.Key = key[0]
		}
	case t.Kind == schema.BaseTable:
		s.From += " USE INDEX ()" // or a covering index might be read in place of the table, in its own order
	}
	return guard.SampleRows(ctx, run, s, o)
}

// long matches the types of texts and blobs, which LEFT keeps as what they are.
var long = regexp.MustCompile("char|text|blob|binary")
