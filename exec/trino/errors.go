package trino

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"

	driverpkg "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// meanings are what errors of the server say of a statement, by their names or, where none of them has the name, by
// their type. An error that is not here says nothing of it.
var meanings = []struct {
	names map[string]bool
	kind  string
	of    func(e *driverpkg.ErrTrino) error
}{
	{names: guard.Set(
		`EXCEEDED_TIME_LIMIT EXCEEDED_CPU_LIMIT ADMINISTRATIVELY_KILLED ADMINISTRATIVELY_PREEMPTED USER_CANCELED
		USER_CANCELLED OPTIMIZER_TIMEOUT ABANDONED_QUERY`), of: limit("time")}, // its own time, or somebody's kill
	{names: guard.Set(`QUERY_QUEUE_FULL QUERY_REJECTED SERVER_STARTING_UP SERVER_SHUTTING_DOWN NO_NODES_AVAILABLE
		CLUSTER_OUT_OF_MEMORY`), of: func(e *driverpkg.ErrTrino) error { return fmt.Errorf("%w: %s", exec.ErrBusy, e.Message) }},
	{names: guard.Set("PERMISSION_DENIED"), of: forbidden},
	{names: guard.Set("READ_ONLY_VIOLATION"), of: refusal("not-read-only")},
	{names: guard.Set(
		`QUERY_HAS_TOO_MANY_STAGES QUERY_TEXT_TOO_LARGE COMPILER_ERROR STACK_OVERFLOW EXPRESSION_NOT_SUPPORTED
		GENERATED_BYTECODE_TOO_LARGE TOO_MANY_GROUPING_SETS PLANNER_MAX_ITERATIONS_REACHED`), of: refusal("too-complex")},
	{names: guard.Set("EXCEEDED_SCAN_LIMIT"), of: limit("scan")},
	{names: guard.Set("EXCEEDED_FUNCTION_MEMORY_LIMIT"), kind: "INSUFFICIENT_RESOURCES", of: limit("memory")},
	{names: guard.Set("SYNTAX_ERROR"), of: invalid("syntax")},
	{names: guard.Set(
		`TABLE_NOT_FOUND COLUMN_NOT_FOUND SCHEMA_NOT_FOUND CATALOG_NOT_FOUND FUNCTION_NOT_FOUND AMBIGUOUS_NAME
		MISSING_TABLE MISSING_COLUMN_NAME MISSING_SCHEMA_NAME MISSING_CATALOG_NAME INVALID_COLUMN_REFERENCE INVALID_VIEW
		VIEW_IS_STALE NOT_FOUND TYPE_NOT_FOUND DUPLICATE_COLUMN_NAME AMBIGUOUS_FUNCTION_CALL`), of: invalid("schema")},
	{names: guard.Set(`DIVISION_BY_ZERO INVALID_CAST_ARGUMENT NUMERIC_VALUE_OUT_OF_RANGE INVALID_FUNCTION_ARGUMENT
		SUBQUERY_MULTIPLE_ROWS GENERIC_USER_ERROR INVALID_ARGUMENTS NOT_FOUND_IN_MAP JSON_INPUT_CONVERSION_ERROR
		JSON_OUTPUT_CONVERSION_ERROR JSON_VALUE_RESULT_ERROR PATH_EVALUATION_ERROR INVALID_WINDOW_FRAME INVALID_ROW_FILTER
		CONSTRAINT_VIOLATION`), of: func(e *driverpkg.ErrTrino) error {
		return &exec.InvalidError{Fault: "run", Message: masked(e.Message)}
	}},
	{kind: "USER_ERROR", of: invalid("compile")}, // the statement makes no sense
}

func limit(of string) func(*driverpkg.ErrTrino) error {
	return func(*driverpkg.ErrTrino) error { return &exec.LimitError{Limit: of} }
}

func refusal(reason string) func(*driverpkg.ErrTrino) error {
	return func(e *driverpkg.ErrTrino) error {
		return &exec.RefusedError{Reason: reason, Detail: e.Message, Writes: reason == "not-read-only"}
	}
}

func invalid(fault string) func(*driverpkg.ErrTrino) error {
	return func(e *driverpkg.ErrTrino) error {
		return &exec.InvalidError{Fault: fault, Message: e.Message, Name: nameIn(e)}
	}
}

// forbidden is what the server's access control says.
func forbidden(e *driverpkg.ErrTrino) error {
	reason := "table"
	switch {
	case strings.Contains(e.Message, "columns"):
		reason = "column"
	case strings.Contains(e.Message, "function"):
		reason = "function"
	}
	return refusal(reason)(e)
}

// classify gives an error of the driver its type. What it does not know comes back as it is, and what the cluster is
// ill with comes back wrapped.
func classify(err error) error {
	if err == nil || exec.IsClassified(err) || errors.As(err, new(clusterError)) {
		return err
	}
	e, ok := errors.AsType[*driverpkg.ErrTrino](err)
	if !ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, driver.ErrBadConn) {
		return err
	}
	for _, m := range meanings {
		if m.names[e.ErrorName] || m.kind != "" && e.ErrorType == m.kind {
			return m.of(e)
		}
	}
	// A node is gone, a source of data does not answer, or the server is at fault: nothing about the statement. Its
	// message may name hosts and files of the cluster.
	return clusterError{e.ErrorName, err}
}

// clusterError is a server error that the statement did not cause.
type clusterError struct {
	name string
	err  error
}

func (e clusterError) Error() string {
	return "trino: the cluster failed (" + e.name + "): " + e.err.Error()
}
func (e clusterError) Unwrap() error { return e.err }

// named finds what a message names: "Column 'u.nmae' cannot be resolved", "Table 'memory.shop.orders' does not exist".
var named = regexp.MustCompile(`(Column|Table|Function|Schema|Catalog) '([^']+)'`)

// nameIn is the table, column or function that a message names. A table is named without what stands before it.
func nameIn(e *driverpkg.ErrTrino) string {
	m := named.FindStringSubmatch(e.Message)
	if m == nil {
		return ""
	}
	if m[1] == "Table" {
		return m[2][strings.LastIndexByte(m[2], '.')+1:]
	}
	return m[2]
}

// masked leaves out what stands in quotes or behind a colon.
func masked(message string) string {
	if at := strings.Index(message, ": "); at >= 0 {
		message = message[:at] + ": …"
	}
	return guard.Masked(message, "'\"`", "'\"`")
}
