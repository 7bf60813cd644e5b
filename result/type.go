package result

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// Kind is the kind of the values of a column. It is also the word in JSON; "" is unknown.
type Kind string

// The kinds. Each kind is listed with the Go type of its values in a [Table]; a value may also be nil. On SQLite a
// column may hold any value, whatever its declared type.
const (
	KindBool     Kind = "bool"     // bool
	KindInt      Kind = "int"      // int64; a [Decimal] if it does not fit
	KindFloat    Kind = "float"    // float64
	KindDecimal  Kind = "decimal"  // Decimal; NaN and the infinities are float64
	KindText     Kind = "text"     // string
	KindDate     Kind = "date"     // string: "2006-01-02"
	KindTime     Kind = "time"     // string: "15:04:05.999999999"
	KindDateTime Kind = "datetime" // string without a zone: "2006-01-02 15:04:05.999999999"
	KindInstant  Kind = "instant"  // string: date and time of one moment, with Z or an offset if it is known
	KindInterval Kind = "interval" // string, as the database writes it
	KindUUID     Kind = "uuid"     // string
	KindJSON     Kind = "json"     // string, as the database wrote it
	KindBlob     Kind = "blob"     // []byte
	KindBits     Kind = "bits"     // int64 or Decimal if the database counts with them, otherwise a string of 0 and 1
	KindList     Kind = "list"     // string: arrays, records and maps, as JSON or as the database writes them
)

// Type is the type of a result column, as the database reports it.
type Type struct {
	// Name is the type as the database writes it: "numeric(10,2)", SQLite's declared "DECIMAL(10,2)"; "": it reports
	// none.
	Name string `json:"name"`
	Kind Kind   `json:"kind"` // the kind of the values
	// Scale is the number of digits after the point in each value of a KindDecimal, or -1 if it differs between values.
	// It is 0 for other kinds.
	Scale int `json:"scale,omitempty"`
	// Zone of a KindInstant is the zone in which its texts are written: "UTC"; "": each value has its own, or unknown.
	Zone string `json:"zone,omitempty"`
	// Grain of a column of periods is "year", "quarter", "month", "week", "day" or "hour": each value names one, in the
	// zone that cut it. "": the values are not periods. See [Type.Period].
	Grain string `json:"grain,omitempty"`
	// Share is true for a column of numbers if each value is a part of one: 0.12, which people read as 12 %. The
	// statement's expression and the question decide. See [Type.Number].
	Share bool `json:"share,omitempty"`
}

// typeJSON is the form of a Type. It has a scale if the column fixes one.
type typeJSON struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	Scale *int   `json:"scale,omitempty"`
	Zone  string `json:"zone,omitempty"`
	Grain string `json:"grain,omitempty"`
	Share bool   `json:"share,omitempty"`
}

// MarshalJSON writes {"name":"numeric(10,2)","kind":"decimal","scale":2}. It writes scale only if a decimal column
// fixes it, and zone only if it is known.
func (t Type) MarshalJSON() ([]byte, error) {
	out := typeJSON{Name: t.Name, Kind: t.Kind, Zone: t.Zone, Grain: t.Grain, Share: t.Share}
	if t.Kind == KindDecimal && t.Scale >= 0 {
		out.Scale = &t.Scale
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (t *Type) UnmarshalJSON(data []byte) error {
	var in typeJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("result: reading a type: %w", err)
	}
	*t = Type{Name: in.Name, Kind: in.Kind, Zone: in.Zone, Grain: in.Grain, Share: in.Share}
	switch {
	case in.Scale != nil:
		t.Scale = *in.Scale
	case in.Kind == KindDecimal:
		t.Scale = -1
	}
	return nil
}

// Shown returns v as the type shows it:
//
//   - A 0 or 1 that SQLite stores in a column declared BOOLEAN is false or true.
//   - A number in a column of a fixed scale has at least so many digits after its point, as a [Decimal]. No digit is
//     cut.
//   - A period is 2024-01, 2024-Q1 or the like.
//   - A float with a whole value is an int64 if the clients of PostgreSQL and MySQL write it without a point: 2024.
//
// All other values are returned unchanged. The writers of a [Table] show every value in this way. The exception is
// JSON: it keeps a float and the time of a period.
func (t Type) Shown(v any) any {
	if _, text := v.(string); text && t.Grain == "" {
		return v
	}
	if f, ok := v.(float64); ok && t.Kind == KindFloat && pointless[t.Name] && f == math.Trunc(f) && math.Abs(f) < 1e15 &&
		(f != 0 || !math.Signbit(f)) {
		return int64(f)
	}
	if text, ok := t.named(v, false); ok {
		return text
	}
	return t.stored(v)
}

// pointless are the float types, as PostgreSQL and MySQL name them, whose whole values clients write without a point.
// DuckDB and SQLite name theirs in capital letters, and write 5.0.
var pointless = map[string]bool{
	"double precision": true, "real": true, "double": true, "float": true, "double unsigned": true, "float unsigned": true,
}

// stored is Shown where a float and the time of a period stay as they are.
func (t Type) stored(v any) any {
	switch {
	case t.Kind == KindBool && (v == int64(0) || v == int64(1)):
		return v == int64(1)
	case t.Kind == KindDecimal && t.Scale > 0:
		return padded(v, t.Scale)
	}
	return v
}

// padded writes a number with at least scale digits after its point.
func padded(v any, scale int) any {
	text := ""
	switch v := v.(type) {
	case int64:
		text = fmt.Sprint(v)
	case float64:
		text = formatFloat(v)
	case Decimal:
		text = string(v)
	}
	if text == "" || strings.Trim(text, "-.0123456789") != "" {
		return v
	}
	_, fraction, point := strings.Cut(text, ".")
	if !point {
		text += "."
	}
	return Decimal(text + strings.Repeat("0", max(0, scale-len(fraction))))
}

// Plain returns the value by which v is compared, and which prompts show:
//
//   - a bool is the int64 0 or 1
//   - a [Decimal] is parsed by [Type.ParseNumber] as a KindInt: 1.10 is 1.1, and 100.00 is the int64 100
//   - an instant with an offset is the same instant in UTC, with a Z at the end
//
// All other values are returned unchanged.
func (t Type) Plain(v any) any {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case Decimal:
		return v.plain()
	case string:
		if t.Kind == KindInstant {
			return inUTC(v)
		}
	}
	return v
}

// plain parses d as a number; in a table made by hand, d may not be one.
func (d Decimal) plain() any {
	if v, err := parseNumber(string(d)); err == nil {
		return v
	}
	return d
}

// instants are how an instant with an offset is written; some old zones have seconds.
var instants = []string{"2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999-07:00:00"}

// inUTC writes an instant in UTC. A text without an offset, or of a year that Go does not read, is returned as it is.
func inUTC(text string) string {
	written, era := text, ""
	if short, ok := strings.CutSuffix(text, " BC"); ok { // PostgreSQL's
		written, era = short, " BC"
	}
	for _, layout := range instants {
		t, err := time.Parse(layout, written)
		if err == nil {
			return t.UTC().Format("2006-01-02 15:04:05.999999999") + "Z" + era
		}
	}
	return text
}

// Plain returns a copy of t with values from [Type.Plain] and without Types. Tables had this form before they had
// types. A nil table stays nil.
func (t *Table) Plain() *Table {
	if t == nil {
		return nil
	}
	out := t.with(Type.Plain)
	out.Types = nil
	return out
}

// Shown returns a copy of t with values from [Type.Shown] and the same Types. WriteTable, WriteCSV and MarshalJSON
// write such values by themselves. A nil table stays nil.
func (t *Table) Shown() *Table {
	if t == nil {
		return nil
	}
	return t.with(Type.Shown)
}

// with returns a copy of t whose values are the results of f.
func (t *Table) with(f func(Type, any) any) *Table {
	out := *t
	if t.Rows != nil {
		out.Rows = make([][]any, len(t.Rows))
	}
	for i, row := range t.Rows {
		out.Rows[i] = make([]any, len(row))
		for j, v := range row {
			out.Rows[i][j] = f(t.typeOf(j), v)
		}
	}
	return &out
}

// typeOf is the type of column i; the zero Type where t has none for it.
func (t *Table) typeOf(i int) Type {
	if i < len(t.Types) {
		return t.Types[i]
	}
	return Type{}
}
