package bigquery

import (
	"database/sql/driver"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is BigQuery for exec.New and texttosql.WithDialect, on a pool of [Open]. It has no settings: those are in
// [Config]. Safe for concurrent use.
//
// Schemas and policies call a table of the client's project by "dataset.table" and one of another project by
// "project.dataset.table". A field of a record is a column "record.field", which a policy writes in double quotes:
// `users."address.city"`.
type Dialect struct{}

var (
	_ exec.Dialect = Dialect{}
)

// Name returns "bigquery".
func (Dialect) Name() string { return "bigquery" }

// Title returns "BigQuery".
func (Dialect) Title() string { return "BigQuery" }

// Text returns the lexing rules of GoogleSQL.
func (Dialect) Text() sqltext.Dialect { return sqltext.BigQuery() }

// escapes are those of a name in backquotes.
var escapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "\n", `\n`, "\r", `\r`)

// Quote returns name in backquotes. A dot parts the fields of a record, since no name of a table or column holds one:
// address.city becomes `address`.`city`.
func (Dialect) Quote(name string) string {
	return "`" + strings.ReplaceAll(escapes.Replace(name), ".", "`.`") + "`"
}

// QuoteSchema returns a dataset with its project, if name has one, in backquotes.
func (d Dialect) QuoteSchema(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return "`" + escapes.Replace(name[:i]) + "`." + d.Quote(name[i+1:])
	}
	return d.Quote(name)
}

// Placeholder returns "?".
func (Dialect) Placeholder(int) string { return "?" }

// Recognises reports whether d is the driver of a pool of [Open].
func (Dialect) Recognises(d driver.Driver) bool {
	_, ok := d.(bigqueryDriver)
	return ok
}

// Classify implements exec.ErrorClassifier.
func (Dialect) Classify(err error) error { return unblamed(err) }
