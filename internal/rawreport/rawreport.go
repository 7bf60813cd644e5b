// Package rawreport has the report of a method before its type is known.
package rawreport

import (
	"encoding/json"
	"fmt"
)

// Report is a strategy.Report as JSON, an object with the method's name as its only key. A result that was read from
// JSON has one; strategy.ReadReport decodes it.
type Report struct {
	Name string          // name of the method
	JSON json.RawMessage // what the method told
}

// Method returns Name.
func (r Report) Method() string { return r.Name }

// MarshalJSON writes {"name": …}.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]json.RawMessage{r.Name: r.JSON})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Report) UnmarshalJSON(b []byte) error {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(b, &named); err != nil {
		return fmt.Errorf("strategy: reading a report: %w", err)
	}
	if len(named) != 1 {
		return fmt.Errorf("strategy: reading a report: it has %d methods, want 1", len(named))
	}
	for name, text := range named {
		*r = Report{name, text}
	}
	return nil
}
