package trino

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// ErrTrino is as the driver's is.
type ErrTrino struct{ Message, ErrorName, ErrorType string }

func (e ErrTrino) Error() string { return e.ErrorType + ": " + e.Message }

func TestClassify(t *testing.T) {
	fault := func(f exec.Fault, name string) func(error) bool {
		return func(err error) bool {
			var invalid *exec.InvalidError
			return errors.As(err, &invalid) && invalid.Fault == f && invalid.Name == name
		}
	}
	limit := func(name string) func(error) bool {
		return func(err error) bool {
			var l *exec.LimitError
			return errors.As(err, &l) && l.Limit == name
		}
	}
	refused := func(err error) bool { return errors.As(err, new(*exec.RefusedError)) }
	database := func(err error) bool { return !exec.IsRejection(err) && !errors.Is(err, exec.ErrBusy) }
	for _, c := range []struct {
		name, kind, message string
		is                  func(error) bool
	}{
		{"SYNTAX_ERROR", "USER_ERROR", "line 1:8: mismatched input 'FROM'", fault(exec.FaultSyntax, "")},
		{"COLUMN_NOT_FOUND", "USER_ERROR", "line 1:8: Column 'nmae' cannot be resolved", fault(exec.FaultSchema, "nmae")},
		{"TABLE_NOT_FOUND", "USER_ERROR", "line 1:15: Table 'memory.shop.pupil' does not exist", fault(exec.FaultSchema, "pupil")},
		{"FUNCTION_NOT_FOUND", "USER_ERROR", "line 1:8: Function 'nope' not registered", fault(exec.FaultSchema, "nope")},
		{"TYPE_MISMATCH", "USER_ERROR", "line 1:8: Cannot apply operator: integer = varchar", fault(exec.FaultCompile, "")},
		{"EXPRESSION_NOT_AGGREGATE", "USER_ERROR", "line 1:8: 'a' must be an aggregate expression", fault(exec.FaultCompile, "")},
		{"DIVISION_BY_ZERO", "USER_ERROR", "Division by zero", fault(exec.FaultRun, "")},
		{"INVALID_CAST_ARGUMENT", "USER_ERROR", "Value cannot be cast to date: s3cret", fault(exec.FaultRun, "")},
		{"INVALID_CAST_ARGUMENT", "USER_ERROR", "Cannot cast 's3cret' to INT", fault(exec.FaultRun, "")},
		{"EXCEEDED_TIME_LIMIT", "INSUFFICIENT_RESOURCES", "Query exceeded the maximum run time limit", limit("time")},
		{"EXCEEDED_CPU_LIMIT", "INSUFFICIENT_RESOURCES", "", limit("time")},
		{"ADMINISTRATIVELY_KILLED", "USER_ERROR", "Query killed", limit("time")},
		{"EXCEEDED_LOCAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES", "Query exceeded per-node memory limit of 1GB", limit("memory")},
		{"PERMISSION_DENIED", "USER_ERROR", "Access Denied: Cannot select from columns [password] in table or view x", refused},
		{"QUERY_HAS_TOO_MANY_STAGES", "INSUFFICIENT_RESOURCES", "Number of stages in the query (151) exceeds", refused},
		{"REMOTE_TASK_ERROR", "INTERNAL_ERROR", "Expected response code", database},
		{"TOO_MANY_REQUESTS_FAILED", "INTERNAL_ERROR", "Encountered too many errors talking to a worker node.", database},
		{"HIVE_CANNOT_OPEN_SPLIT", "EXTERNAL", "no file", database},
		{"NO_NODES_AVAILABLE", "INSUFFICIENT_RESOURCES", "No nodes available to run query", func(err error) bool { return errors.Is(err, exec.ErrBusy) }},
	} {
		err := classify(fmt.Errorf("trino: query failed: %w", &ErrTrino{c.message, c.name, c.kind}))
		if !c.is(err) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s is %T %v", c.name, err, err)
		}
		if again := classify(err); exec.IsRejection(err) && again != err {
			t.Errorf("%s is another error the second time: %v", c.name, again)
		}
	}
	if err := classify(context.Canceled); !errors.Is(err, context.Canceled) || exec.IsRejection(err) {
		t.Errorf("cancelled: %v", err)
	}
	if err := classify(nil); err != nil {
		t.Error(err)
	}
}
