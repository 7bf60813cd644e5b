package result

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Kind says what the values of a column are. It is the word that stands in JSON; "" is unknown.
type Kind string

// The kinds. In a [Table] a value is what stands behind its kind, or nil. On SQLite a column may hold any value,
// whatever it is declared as.
const (
	KindBool     Kind = "bool"     // bool
	KindInt      Kind = "int"      // int64, a [Decimal] beyond it
	KindFloat    Kind = "float"    // float64
	KindDecimal  Kind = "decimal"  // Decimal; NaN and the infinities are float64
	KindText     Kind = "text"     // string
	KindDate     Kind = "date"     // string: "2006-01-02"
	KindTime     Kind = "time"     // string: "15:04:05.999999999"
	KindDateTime Kind = "datetime" // string without a zone: "2006-01-02 15:04:05.999999999"
	KindInstant  Kind = "instant"  // string: a date and time of one moment, with Z or an offset behind it where the database gives one
	KindInterval Kind = "interval" // string, as the database writes it
	KindUUID     Kind = "uuid"     // string
	KindJSON     Kind = "json"     // string, as the database wrote it
	KindBlob     Kind = "blob"     // []byte
	KindBits     Kind = "bits"     // int64 or Decimal where the database counts with them, else a string of 0 and 1
	KindList     Kind = "list"     // string: arrays, records and maps, as JSON or as the database writes them
)

// Type is what the database says of one column of a result.
type Type struct {
	// Name is as the database writes it: "numeric(10,2)", SQLite's declared "DECIMAL(10,2)"; "": it says none.
	Name string `json:"name"`
	Kind Kind   `json:"kind"` // what the values are
	// Scale is how many digits each value of a KindDecimal has behind the point, -1 where every value has its own. It is
	// 0 for other kinds.
	Scale int `json:"scale,omitempty"`
	// Zone of a KindInstant is the zone in which its texts are written: "UTC"; "": that of each value, or unknown.
	Zone string `json:"zone,omitempty"`
}

// typeJSON is the form of a Type. A scale stands in it where the column fixes one.
type typeJSON struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	Scale *int   `json:"scale,omitempty"`
	Zone  string `json:"zone,omitempty"`
}

// MarshalJSON writes {"name":"numeric(10,2)","kind":"decimal","scale":2}. scale stands only where a decimal column
// fixes it, and zone only where it is known.
func (t Type) MarshalJSON() ([]byte, error) {
	out := typeJSON{Name: t.Name, Kind: t.Kind, Zone: t.Zone}
	if t.Kind == KindDecimal && t.Scale >= 0 {
		out.Scale = &t.Scale
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Type) UnmarshalJSON(data []byte) error {
	var in typeJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("result: reading a type: %w", err)
	}
	*t = Type{Name: in.Name, Kind: in.Kind, Zone: in.Zone}
	switch {
	case in.Scale != nil:
		t.Scale = *in.Scale
	case in.Kind == KindDecimal:
		t.Scale = -1
	}
	return nil
}

// Shown returns v as the type shows it: what SQLite stores in a column declared BOOLEAN as 0 or 1 is false or true, and a
// number in a column of a fixed scale has at least so many digits behind its point, as a [Decimal]. No digit is cut. All
// other values are returned as they are. The writers of a [Table] show every value so.
func (t Type) Shown(v any) any {
	switch {
	case t.Kind == KindBool && (v == int64(0) || v == int64(1)):
		return v == int64(1)
	case t.Kind == KindDecimal && t.Scale > 0:
		return padded(v, t.Scale)
	}
	return v
}

// padded writes a number with at least scale digits behind its point.
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
//   - a bool is the int64 0 or 1
//   - a [Decimal] is what [ParseNumber] makes of it: 1.10 is 1.1, and 100.00 is the int64 100
//   - an instant with an offset is the same instant in UTC, with a Z behind it
//
// All other values are returned as they are.
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

// plain is what ParseNumber makes of d, which may be no number in a table made by hand.
func (d Decimal) plain() any {
	if v, err := ParseNumber(string(d)); err == nil {
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

// Plain returns a copy of t whose values are those of [Type.Plain], without Types: the form in which tables were before
// they had types. A nil table stays nil.
func (t *Table) Plain() *Table {
	if t == nil {
		return nil
	}
	out := t.with(Type.Plain)
	out.Types = nil
	return out
}

// Shown returns a copy of t whose values are those of [Type.Shown], with the same Types. WriteTable, WriteCSV and MarshalJSON
// write it by themselves. A nil table stays nil.
func (t *Table) Shown() *Table {
	if t == nil {
		return nil
	}
	return t.with(Type.Shown)
}

// with returns a copy of t whose values f makes of those of t.
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
