package trino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	driverpkg "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
)

func TestClassify(t *testing.T) {
	fault := func(f string, name string) func(error) bool {
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
		{"SYNTAX_ERROR", "USER_ERROR", "line 1:8: mismatched input 'FROM'", fault("syntax", "")},
		{"COLUMN_NOT_FOUND", "USER_ERROR", "line 1:8: Column 'nmae' cannot be resolved", fault("schema", "nmae")},
		{"TABLE_NOT_FOUND", "USER_ERROR", "line 1:15: Table 'memory.shop.pupil' does not exist", fault("schema", "pupil")},
		{"FUNCTION_NOT_FOUND", "USER_ERROR", "line 1:8: Function 'nope' not registered", fault("schema", "nope")},
		{"TYPE_MISMATCH", "USER_ERROR", "line 1:8: Cannot apply operator: integer = varchar", fault("compile", "")},
		{"EXPRESSION_NOT_AGGREGATE", "USER_ERROR", "line 1:8: 'a' must be an aggregate expression", fault("compile", "")},
		{"DIVISION_BY_ZERO", "USER_ERROR", "Division by zero", fault("run", "")},
		{"INVALID_CAST_ARGUMENT", "USER_ERROR", "Value cannot be cast to date: s3cret", fault("run", "")},
		{"INVALID_CAST_ARGUMENT", "USER_ERROR", "Cannot cast 's3cret' to INT", fault("run", "")},
		{"EXCEEDED_TIME_LIMIT", "INSUFFICIENT_RESOURCES", "Query exceeded the maximum run time limit", limit("time")},
		{"EXCEEDED_CPU_LIMIT", "INSUFFICIENT_RESOURCES", "", limit("time")},
		{"ADMINISTRATIVELY_KILLED", "USER_ERROR", "Query killed", limit("time")},
		{"EXCEEDED_LOCAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES", "Query exceeded per-node memory limit of 1GB",
			limit("memory")},
		{"PERMISSION_DENIED", "USER_ERROR", "Access Denied: Cannot select from columns [password] in table or view x",
			refused},
		{"QUERY_HAS_TOO_MANY_STAGES", "INSUFFICIENT_RESOURCES", "Number of stages in the query (151) exceeds", refused},
		{"REMOTE_TASK_ERROR", "INTERNAL_ERROR", "Expected response code", database},
		{"TOO_MANY_REQUESTS_FAILED", "INTERNAL_ERROR", "Encountered too many errors talking to a worker node.", database},
		{"HIVE_CANNOT_OPEN_SPLIT", "EXTERNAL", "no file", database},
		{"NO_NODES_AVAILABLE", "INSUFFICIENT_RESOURCES", "No nodes available to run query", func(err error) bool {
			return errors.Is(err, exec.ErrBusy)
		}},
	} {
		err := classify(fmt.Errorf("trino: query failed: %w", &driverpkg.ErrTrino{Message: c.message, ErrorName: c.name,
			ErrorType: c.kind}))
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

// fields is what the driver makes of a row.
type fields []any // name, value, name, value

func (f fields) Len() int          { return len(f) / 2 }
func (f fields) Name(i int) string { return f[2*i].(string) }
func (f fields) Value(i int) any   { return f[2*i+1] }

func TestConversion(t *testing.T) {
	for _, c := range []struct {
		kind string
		in   any
		want any
		why  string
	}{
		{"DECIMAL", "1.50", result.Decimal("1.50"), "all its digits"},
		{"DECIMAL", "2.00", result.Decimal("2.00"), "whole, and a decimal"},
		{"DECIMAL", "12345678901234567890123456789012345678", result.Decimal("12345678901234567890123456789012345678"),
			"38 digits"},
		{"CHAR", "ab   ", "ab", "padded by the server"},
		{"DATE", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), "2024-02-29", ""},
		{"TIMESTAMP", time.Date(2024, 2, 29, 13, 14, 15, 120e6, time.FixedZone("", 3600)), "2024-02-29 13:14:15.12",
			"the zone is the driver's"},
		{"TIMESTAMP WITH TIME ZONE", time.Date(2024, 2, 29, 1, 0, 0, 0, time.FixedZone("", 2*3600)),
			"2024-02-29 01:00:00+02:00", "in its zone"},
		{"TIME WITH TIME ZONE", time.Date(0, 1, 1, 1, 2, 3, 0, time.FixedZone("", 3600)), "01:02:03+01:00", "in its zone"},
		{"TIME", time.Date(0, 1, 1, 1, 2, 3, 1000, time.UTC), "01:02:03.000001", ""},
		{"DATE", nil, nil, ""},
		{"ARRAY(INTEGER)", []any{json.Number("1"), nil}, "[1,null]", ""},
		{"ARRAY(INTEGER)", nil, nil, "no array"},
		{"ARRAY(VARCHAR)", []any{`<a"b>`}, `["<a\"b>"]`, "text as it is"},
		{"ARRAY(DECIMAL(38,2))", []any{"1.50", "12345678901234567890123456789012345.5"},
			"[1.50,12345678901234567890123456789012345.5]", "exact"},
		{"ARRAY(DOUBLE)", []any{json.Number("1.0E10"), "NaN", json.Number("0.5")}, `[1e+10,"NaN",0.5]`, ""},
		{"ARRAY(DATE)", []any{"2024-01-02"}, `["2024-01-02"]`, ""},
		{"ARRAY(TIMESTAMP(3))", []any{"2024-01-02 10:00:00.500"}, `["2024-01-02 10:00:00.5"]`, "as outside of an array"},
		{"ARRAY(TIMESTAMP(3) WITH TIME ZONE)", []any{"2024-07-02 10:00:00.000 Europe/Berlin",
			"2024-01-02 10:00:00.000 +02:00"},
			`["2024-07-02 10:00:00+02:00","2024-01-02 10:00:00+02:00"]`, "as outside of an array"},
		{"ARRAY(TIMESTAMP(12))", []any{"2024-01-02 10:00:00.123456789012"}, `["2024-01-02 10:00:00.123456789"]`,
			"cut to nanoseconds, as the driver does"},
		{"MAP(VARCHAR, INTEGER)", map[string]any{"b": json.Number("1"), "a": nil}, `{"a":null,"b":1}`, "sorted"},
		{`ROW(B DATE, "A (x" ARRAY(DECIMAL(3,1)), TIMESTAMP(0) WITH TIME ZONE)`,
			fields{"b", time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), "a (x", []any{"1.0"}, "field2",
				time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)},
			`{"b":"2024-01-02","a (x":[1.0],"field2":"2024-01-02 03:04:05Z"}`, "in the order of the fields"},
		{"ARRAY(VARBINARY)", []any{"AP8="}, `["AP8="]`, "base64"},
		{"ROW(X VARBINARY)", fields{"x", []byte{0, 255}}, `{"x":"AP8="}`, "base64 too"},
		{"ARRAY(ROW(X TIME(3)))", []any{fields{"x", time.Date(0, 1, 1, 1, 2, 3, 0, time.UTC)}}, `[{"x":"01:02:03"}]`, ""},
	} {
		got, err := conversion(c.kind)(c.in)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s (%s): %v\n%s", c.kind, c.why, err, diff)
		}
	}
	for _, kind := range []string{"VARCHAR", "BIGINT", "DOUBLE", "VARBINARY", "JSON", "UUID", "BOOLEAN", "HYPERLOGLOG"} {
		if conversion(kind) != nil {
			t.Errorf("%s is changed", kind)
		}
	}
}

// FuzzReadKind: no text of a server ends the program.
func FuzzReadKind(f *testing.F) {
	f.Add(`ROW(B DATE, "A (x" ARRAY(DECIMAL(3,1)), TIMESTAMP(0) WITH TIME ZONE)`)
	f.Add("ARRAY(((((MAP(")
	f.Fuzz(func(t *testing.T, text string) { readKind(text, 0) })
}
