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
	"github.com/texttosql/texttosql/sqltext"
)

// What the names of errors mean. Others of the kind USER_ERROR say that a statement makes no sense.
var (
	timeErrors    = guard.Set("EXCEEDED_TIME_LIMIT EXCEEDED_CPU_LIMIT ADMINISTRATIVELY_KILLED ADMINISTRATIVELY_PREEMPTED USER_CANCELED USER_CANCELLED OPTIMIZER_TIMEOUT ABANDONED_QUERY")
	busyErrors    = guard.Set("QUERY_QUEUE_FULL QUERY_REJECTED SERVER_STARTING_UP SERVER_SHUTTING_DOWN NO_NODES_AVAILABLE CLUSTER_OUT_OF_MEMORY")
	deniedErrors  = guard.Set("PERMISSION_DENIED")
	complexErrors = guard.Set("QUERY_HAS_TOO_MANY_STAGES QUERY_TEXT_TOO_LARGE COMPILER_ERROR STACK_OVERFLOW EXPRESSION_NOT_SUPPORTED GENERATED_BYTECODE_TOO_LARGE" +
		" TOO_MANY_GROUPING_SETS PLANNER_MAX_ITERATIONS_REACHED")
	schemaErrors = guard.Set("TABLE_NOT_FOUND COLUMN_NOT_FOUND SCHEMA_NOT_FOUND CATALOG_NOT_FOUND FUNCTION_NOT_FOUND AMBIGUOUS_NAME MISSING_TABLE MISSING_COLUMN_NAME" +
		" MISSING_SCHEMA_NAME MISSING_CATALOG_NAME INVALID_COLUMN_REFERENCE INVALID_VIEW VIEW_IS_STALE NOT_FOUND TYPE_NOT_FOUND DUPLICATE_COLUMN_NAME AMBIGUOUS_FUNCTION_CALL")
	runErrors = guard.Set("DIVISION_BY_ZERO INVALID_CAST_ARGUMENT NUMERIC_VALUE_OUT_OF_RANGE INVALID_FUNCTION_ARGUMENT SUBQUERY_MULTIPLE_ROWS GENERIC_USER_ERROR" +
		" INVALID_ARGUMENTS NOT_FOUND_IN_MAP JSON_INPUT_CONVERSION_ERROR JSON_OUTPUT_CONVERSION_ERROR JSON_VALUE_RESULT_ERROR PATH_EVALUATION_ERROR" +
		" INVALID_WINDOW_FRAME INVALID_ROW_FILTER CONSTRAINT_VIOLATION")
)

// classify gives an error of the driver its type. What it does not know comes back as it is, and what the cluster is ill
// with comes back wrapped.
func classify(err error) error {
	if err == nil || exec.IsTyped(err) || errors.As(err, new(clusterError)) {
		return err
	}
	e, ok := errors.AsType[*driverpkg.ErrTrino](err)
	if !ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) {
		return err
	}
	invalid := func(fault exec.Fault) error {
		return &exec.InvalidError{Fault: fault, Message: e.Message, Name: nameIn(e)}
	}
	switch {
	case timeErrors[e.ErrorName]: // its own time, or somebody's kill
		return &exec.LimitError{Limit: "time"}
	case busyErrors[e.ErrorName]:
		return fmt.Errorf("%w: %s", exec.ErrBusy, e.Message)
	case deniedErrors[e.ErrorName]:
		r := &exec.RefusedError{Reason: exec.ReasonTable, Detail: e.Message}
		switch {
		case strings.Contains(e.Message, "columns"):
			r.Reason = exec.ReasonColumn
		case strings.Contains(e.Message, "function"):
			r.Reason = exec.ReasonFunction
		}
		return r
	case e.ErrorName == "READ_ONLY_VIOLATION":
		return &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: e.Message, Writes: true}
	case complexErrors[e.ErrorName]:
		return &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: e.Message}
	case e.ErrorType == "INSUFFICIENT_RESOURCES", e.ErrorName == "EXCEEDED_FUNCTION_MEMORY_LIMIT":
		if strings.Contains(e.ErrorName, "SCAN") {
			return &exec.LimitError{Limit: "scan"}
		}
		return &exec.LimitError{Limit: "memory"}
	case e.ErrorName == "SYNTAX_ERROR":
		return invalid(exec.FaultSyntax)
	case schemaErrors[e.ErrorName]:
		return invalid(exec.FaultSchema)
	case runErrors[e.ErrorName]:
		return &exec.InvalidError{Fault: exec.FaultRun, Message: masked(e.Message)}
	case e.ErrorType == "USER_ERROR":
		return invalid(exec.FaultCompile)
	}
	// A node is gone, a source of data does not answer, or the server is at fault: nothing about the statement. Its
	// message may name hosts and files of the cluster.
	return clusterError{e.ErrorName, err}
}

// clusterError is an error of the server that is none of the statement's.
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
