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
	"github.com/texttosql/texttosql/sqltext"
)

// unread is what the driver says of a type that it does not know.
var unread = regexp.MustCompile(`unsupported data type|API error: empty name`)

// Classify gives an error of the driver its type.
func (Dialect) Classify(err error) error {
	var e *duckdb.Error
	if !errors.As(err, &e) && err != nil && unread.MatchString(err.Error()) {
		// The driver does not know the type of a column: another statement may have none of it.
		return &exec.InvalidError{Fault: exec.FaultRun, Message: "the driver cannot read a column of the result (" + firstLine(err) +
			"): write the fields of a row apart, with names, or cast the column to VARCHAR"}
	}
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) {
		return err
	}
	message := firstLine(e)
	if _, rest, ok := strings.Cut(message, " Error: "); ok {
		message = rest
	}
	switch e.Type {
	case duckdb.ErrorTypeInterrupt:
		return &exec.LimitError{Limit: "time"}
	case duckdb.ErrorTypeOutOfMemory:
		return &exec.LimitError{Limit: "memory"}
	case duckdb.ErrorTypeObjectSize:
		return &exec.LimitError{Limit: "cell"}
	case duckdb.ErrorTypePermission:
		return guard.Refuse(exec.ReasonGuard, "the engine forbids it: %s", masked(message))
	case duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax:
		return &exec.InvalidError{Fault: exec.FaultSyntax, Message: message}
	case duckdb.ErrorTypeCatalog:
		return &exec.InvalidError{Fault: exec.FaultSchema, Message: message, Name: nameIn(message)}
	case duckdb.ErrorTypeBinder:
		if name := nameIn(message); name != "" {
			return &exec.InvalidError{Fault: exec.FaultSchema, Message: message, Name: name}
		}
		return &exec.InvalidError{Fault: exec.FaultCompile, Message: message}
	case duckdb.ErrorTypePlanner, duckdb.ErrorTypeNotImplemented, duckdb.ErrorTypeParameterNotResolved, duckdb.ErrorTypeParameterNotAllowed, duckdb.ErrorTypeMissingExtension:
		return &exec.InvalidError{Fault: exec.FaultCompile, Message: message}
	case duckdb.ErrorTypeExpression:
		if strings.Contains(message, "expression depth") {
			return guard.Refuse(exec.ReasonTooComplex, "%s", message)
		}
		return &exec.InvalidError{Fault: exec.FaultRun, Message: masked(message)}
	case duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange, duckdb.ErrorTypeDivideByZero, duckdb.ErrorTypeInvalidInput, duckdb.ErrorTypeMismatchType,
		duckdb.ErrorTypeInvalidType, duckdb.ErrorTypeUnknownType, duckdb.ErrorTypeDecimal, duckdb.ErrorTypeExecutor, duckdb.ErrorTypeConstraint:
		if strings.Contains(message, "read-only") {
			return guard.Refuse(sqltext.ReasonNotReadOnly, "%s", masked(message))
		}
		return &exec.InvalidError{Fault: exec.FaultRun, Message: masked(message)}
	case duckdb.ErrorTypeTransaction:
		if strings.Contains(message, "read-only") {
			return guard.Refuse(sqltext.ReasonNotReadOnly, "%s", message)
		}
	}
	return err // the engine is ill, or a file is gone
}

// isOpenTransaction reports whether err is that of a BEGIN in a transaction.
func isOpenTransaction(err error) bool {
	var e *duckdb.Error
	return errors.As(err, &e) && e.Type == duckdb.ErrorTypeTransaction && strings.Contains(e.Msg, "within a transaction")
}

// quotedName finds what a message says is absent or ambiguous.
var quotedName = regexp.MustCompile(`(?:does not have a column named|Referenced column|Referenced table|Ambiguous reference to (?:column|table)(?: name)?|Table with name|Function with name|View with name|Type with name|Collation with name|schema) "?([^"\s]+|[^"]+)"? ?`)

// nameIn is the table, column or function that a message names; "" for none.
func nameIn(message string) string {
	m := quotedName.FindStringSubmatch(message)
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
