package knowledge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// Request selects metrics, the columns to group by, and conditions.
type Request struct {
	Metrics []string `json:"metrics"` // names; at least one
	// GroupBy has columns in the form table.column or relationship.column. A grain may follow: table.column@month.
	// The grains are year, quarter, month, week, day and hour. The values are texts such as 2004, 2004-Q1, 2004-01,
	// 2004-01-05 (a week by its Monday, or a day) and 2004-01-05 13:00.
	GroupBy []string `json:"group_by,omitempty"`
	// Where has conditions over table.column; all must hold. One condition applies to one row: "a.x = 1 AND a.y = 2"
	// needs a row of a with both values. Two conditions may be met by two rows.
	Where   []string `json:"where,omitempty"`
	OrderBy []string `json:"order_by,omitempty"` // names of Metrics or GroupBy, with - in front for descending
	Limit   int      `json:"limit,omitempty"`    // the most rows; 0: all
}

// The reasons of a RequestError. They are stable, so reports can count by them.
const (
	reasonFanOut      = "fan-out"     // rows of the metric would be counted several times
	reasonAmbiguous   = "ambiguous"   // several ways lead to a table
	reasonUnknown     = "unknown"     // the model has no such metric, table or relationship
	reasonUnsupported = "unsupported" // the metric is text only, or the dialect is not one of Compile
	reasonInvalid     = "invalid"     // an expression or a condition is not what it may be
)

// RequestError reports why a request cannot be compiled.
type RequestError struct {
	// Reason is one of these:
	//   - "fan-out": rows of the metric would be counted several times.
	//   - "ambiguous": several ways lead to a table.
	//   - "unknown": the model has no such metric, table or relationship.
	//   - "unsupported": the metric is text only, or Compile does not support the dialect.
	//   - "invalid": an expression or a condition has a part that is not allowed.
	Reason string
	Metric string   // the metric it is about; "": none
	Name   string   // the name that is unknown, out of reach or wrong
	Ways   []string // the choices if the request is ambiguous; similar names if the name is unknown
}

// Error returns one line that tells the caller what to do.
func (e *RequestError) Error() string {
	text := "knowledge: " + e.Reason + ": "
	if e.Metric != "" {
		text += "metric " + e.Metric + ": "
	}
	return text + e.detail()
}

func (e *RequestError) detail() string {
	switch e.Reason {
	case reasonFanOut:
		return e.Name + " would repeat the rows that it adds up: leave it out"
	case reasonAmbiguous:
		return "several ways lead to " + e.Name + ": name one of " + strings.Join(e.Ways, ", ")
	case reasonUnknown:
		if len(e.Ways) > 0 {
			return "the model has no " + e.Name + ", did you mean " + strings.Join(e.Ways, ", ") + "?"
		}
		return "the model has no " + e.Name
	}
	return e.Name
}

// unknown says that the model has no such thing, and which of names may be meant.
func unknown(metric, what, name string, names []string) error {
	e := &RequestError{Reason: reasonUnknown, Metric: metric, Name: what + " " + name}
	if near := words.Nearest(name, names); near != "" {
		e.Ways = []string{near}
	}
	return e
}

func invalid(metric, format string, args ...any) error {
	return &RequestError{Reason: reasonInvalid, Metric: metric, Name: fmt.Sprintf(format, args...)}
}

// Settled returns the model with a reason in Unsupported for each metric that Compile refuses in every request.
// Readers of other formats call it last.
func (m Model) Settled() Model {
	m.Metrics = slices.Clone(m.Metrics)
	for i := range m.Metrics {
		x := &m.Metrics[i]
		_, err := m.Compile(Request{Metrics: []string{x.Name}}, "sqlite")
		var why *RequestError
		if x.Unsupported != "" || !errors.As(err, &why) {
			continue
		}
		x.Unsupported = why.detail()
		if why.Metric != "" && why.Metric != x.Name {
			x.Unsupported = "its metric " + why.Metric + " is not held: " + x.Unsupported
		}
	}
	return m
}
