package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// classify gives an error of the driver its type. What it does not know comes back wrapped.
func classify(err error) error {
	if err == nil || isTyped(err) {
		return err
	}
	var e *duckdb.Error
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) {
		return fmt.Errorf("duckdb: %w", err)
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
		return &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the engine forbids it: " + masked(message)}
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
			return &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: message}
		}
		return &exec.InvalidError{Fault: exec.FaultRun, Message: masked(message)}
	case duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange, duckdb.ErrorTypeDivideByZero, duckdb.ErrorTypeInvalidInput, duckdb.ErrorTypeMismatchType,
		duckdb.ErrorTypeInvalidType, duckdb.ErrorTypeUnknownType, duckdb.ErrorTypeDecimal, duckdb.ErrorTypeExecutor, duckdb.ErrorTypeConstraint:
		if strings.Contains(message, "read-only") {
			return &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: masked(message), Writes: true}
		}
		return &exec.InvalidError{Fault: exec.FaultRun, Message: masked(message)}
	case duckdb.ErrorTypeTransaction:
		if strings.Contains(message, "read-only") {
			return &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: message, Writes: true}
		}
	}
	return fmt.Errorf("duckdb: %w", err) // the engine is ill, or a file is gone
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

// masked leaves out what stands in quotes or brackets, because an error of a running statement repeats values.
func masked(message string) string {
	i, j := strings.IndexAny(message, "'\"`("), strings.LastIndexAny(message, "'\"`)")
	if i < 0 {
		return message
	}
	if j <= i {
		return message[:i+1] + "…"
	}
	return message[:i+1] + "…" + message[j:]
}

// Classify gives an error met outside of any statement its type. It blames no statement.
func (Dialect) Classify(err error) error {
	if typed := classify(err); !exec.IsRejection(typed) {
		return typed
	}
	return err
}

// isTyped reports whether err has been classified before.
func isTyped(err error) bool {
	return exec.IsRejection(err) || errors.As(err, new(*exec.PolicyError)) ||
		errors.Is(err, exec.ErrUnguarded) || errors.Is(err, exec.ErrBusy) || errors.Is(err, exec.ErrBroken)
}
