package knowledge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// Request asks for metrics, by columns, under conditions.
type Request struct {
	Metrics []string `json:"metrics"` // names; at least one
	// GroupBy are columns, each as table.column or relationship.column. A grain may follow: table.column@month. The grains
	// are year, quarter, month, week, day and hour; the values are texts such as 2004, 2004-Q1, 2004-01, 2004-01-05 (a
	// week by its Monday, a day) and 2004-01-05 13:00.
	GroupBy []string `json:"group_by,omitempty"`
	// Where are conditions over table.column, which all hold. One condition speaks of one row: "a.x = 1 AND a.y = 2" asks
	// for a row of a with both, two conditions may be met by two rows.
	Where   []string `json:"where,omitempty"`
	OrderBy []string `json:"order_by,omitempty"` // names of Metrics or GroupBy, with - in front for descending
	Limit   int      `json:"limit,omitempty"`    // the most rows; 0: all
}

// The reasons of a RequestError. They are stable: reports count by them.
const (
	ReasonFanOut      = "fan-out"     // rows of the metric would be counted several times
	ReasonAmbiguous   = "ambiguous"   // several ways lead to a table
	ReasonUnknown     = "unknown"     // the model has no such metric, table or relationship
	ReasonUnsupported = "unsupported" // the metric is text only, or the dialect is not one of Compile
	ReasonInvalid     = "invalid"     // an expression or a condition is not what it may be
)

// RequestError says why a request is not compiled.
type RequestError struct {
	Reason string   // one of the reasons
	Metric string   // the metric it is about; "": none
	Name   string   // what is unknown, out of reach, or wrong
	Ways   []string // what there is to choose from, if the request is ambiguous; the name that may be meant, if it is unknown
}

// Error returns one line that says what to do.
func (e *RequestError) Error() string {
	text := "knowledge: " + e.Reason + ": "
	if e.Metric != "" {
		text += "metric " + e.Metric + ": "
	}
	return text + e.detail()
}

func (e *RequestError) detail() string {
	switch e.Reason {
	case ReasonFanOut:
		return e.Name + " would repeat the rows that it adds up: leave it out"
	case ReasonAmbiguous:
		return "several ways lead to " + e.Name + ": name one of " + strings.Join(e.Ways, ", ")
	case ReasonUnknown:
		if len(e.Ways) > 0 {
			return "the model has no " + e.Name + ", did you mean " + strings.Join(e.Ways, ", ") + "?"
		}
		return "the model has no " + e.Name
	}
	return e.Name
}

// unknown says that the model has no such thing, and which of names may be meant.
func unknown(metric, what, name string, names []string) error {
	e := &RequestError{Reason: ReasonUnknown, Metric: metric, Name: what + " " + name}
	if near := words.Nearest(name, names); near != "" {
		e.Ways = []string{near}
	}
	return e
}

func invalid(metric, format string, args ...any) error {
	return &RequestError{Reason: ReasonInvalid, Metric: metric, Name: fmt.Sprintf(format, args...)}
}

// Settled returns the model with the reason in Unsupported of each metric that Compile refuses whatever is asked. Readers of
// other formats end with it.
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
