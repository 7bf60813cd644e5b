package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"regexp"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// unread is what the driver says of a type that it does not know.
var unread = regexp.MustCompile(`unsupported data type|API error: empty name`)

// goneFile is what DuckDB says of a file that a view reads, and that is gone or another one than it was.
var goneFile = regexp.MustCompile(`^[\w ]+ Error: (?:No files found|Cannot open file|No magic bytes|File .* too small)`)

// isGone reports whether a file of a view cannot be read any more.
func isGone(err error) bool {
	var e *duckdb.Error
	return errors.As(err, &e) && goneFile.MatchString(e.Msg)
}

// faults are what errors of a statement mean, by their type.
var faults = map[duckdb.ErrorType]string{
	duckdb.ErrorTypeParser: "syntax", duckdb.ErrorTypeSyntax: "syntax", duckdb.ErrorTypeCatalog: "schema",
	duckdb.ErrorTypeBinder: "compile", duckdb.ErrorTypePlanner: "compile",
	duckdb.ErrorTypeNotImplemented: "compile", duckdb.ErrorTypeParameterNotResolved: "compile",
	duckdb.ErrorTypeParameterNotAllowed: "compile", duckdb.ErrorTypeMissingExtension: "compile",
	duckdb.ErrorTypeExpression: "run", duckdb.ErrorTypeConversion: "run", duckdb.ErrorTypeOutOfRange: "run",
	duckdb.ErrorTypeDivideByZero: "run", duckdb.ErrorTypeInvalidInput: "run",
	duckdb.ErrorTypeMismatchType: "run", duckdb.ErrorTypeInvalidType: "run",
	duckdb.ErrorTypeUnknownType: "run", duckdb.ErrorTypeDecimal: "run", duckdb.ErrorTypeExecutor: "run",
	duckdb.ErrorTypeConstraint: "run", duckdb.ErrorTypeTransaction: "",
}

// overLimit are the limits that errors are about, by their type.
var overLimit = map[duckdb.ErrorType]string{
	duckdb.ErrorTypeInterrupt: "time", duckdb.ErrorTypeOutOfMemory: "memory", duckdb.ErrorTypeObjectSize: "cell",
}

// Classify gives a driver error its type.
func (Dialect) Classify(err error) error {
	var e *duckdb.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, driver.ErrBadConn):
		return err
	case errors.As(err, &e):
		return classified(e, err)
	case unread.MatchString(err.Error()):
		// The driver does not know the type of a column: another statement may have none of it.
		return &exec.InvalidError{Fault: "run", Message: "the driver cannot read a column of the result (" + firstLine(err) +
			"): write the fields of a row apart, with names, or cast the column to VARCHAR"}
	}
	return err
}

// classified gives an error of DuckDB its type; err, with e in it, says that the engine is ill.
func classified(e *duckdb.Error, err error) error {
	message := firstLine(e)
	if _, rest, ok := strings.Cut(message, " Error: "); ok {
		message = rest
	}
	fault, known := faults[e.Type]
	switch {
	case isGone(e):
		return &exec.InvalidError{Fault: "schema", Message: "a file under a view of the statement cannot be read: " +
			masked(message)}
	case overLimit[e.Type] != "":
		return &exec.LimitError{Limit: overLimit[e.Type]}
	case e.Type == duckdb.ErrorTypePermission:
		return guard.Refuse("guard", "the engine forbids it: %s", masked(message))
	case e.Type == duckdb.ErrorTypeExpression && strings.Contains(message, "expression depth"):
		return guard.Refuse("too-complex", "%s", message)
	case known && (fault == "run" || fault == "") && strings.Contains(message, "read-only"):
		return guard.Refuse("not-read-only", "%s", masked(message))
	case fault == "run":
		return &exec.InvalidError{Fault: fault, Message: masked(message)}
	case fault == "":
		return err
	}
	name := nameIn(message)
	if e.Type == duckdb.ErrorTypeBinder && name != "" {
		fault = "schema"
	}
	if fault != "schema" {
		name = ""
	}
	return &exec.InvalidError{Fault: fault, Message: message, Name: name}
}

// isOpenTransaction reports whether err is that of a BEGIN in a transaction.
func isOpenTransaction(err error) bool {
	var e *duckdb.Error
	return errors.As(err, &e) && e.Type == duckdb.ErrorTypeTransaction && strings.Contains(e.Msg, "within a transaction")
}

// quotedName finds what a message says is absent or ambiguous.
var quotedName = regexp.MustCompile(`(?:does not have a column named|Referenced column|Referenced table|Ambiguous reference to (?:column|table)(?: name)?|Table with name|Function with name|View with name|Type with name|Collation with name|schema) "?([^"\s]+|[^"]+)"? ?`)

// notJoined is the message about a column of USING that a table lacks.
var notJoined = regexp.MustCompile(`^Column "(.+)" does not exist on (?:left|right) side of join`)

// nameIn is the table, column or function that a message names; "" for none.
func nameIn(message string) string {
	m := notJoined.FindStringSubmatch(message)
	if m == nil {
		m = quotedName.FindStringSubmatch(message)
	}
	if m == nil {
		return ""
	}
	return strings.Trim(m[1], `"!`)
}

// firstLine is the message without hints, which may name what a policy denies, and without the statement.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// masked leaves out what stands in quotes or brackets.
func masked(message string) string { return guard.Masked(message, "'\"`(", "'\"`)") }
