package result

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MarshalJSON writes t in a form that is the same for every engine:
//
//	{"columns":["a","b"],"types":[{"name":"numeric(10,2)","kind":"decimal","scale":2},{"name":"text","kind":"text"}],
//	 "rows":[[1.10,null],[20.00,"x"]],"truncated":true}
//
// types is left out if t has none. Values are written as [Type.Shown] returns them, and [Table.UnmarshalJSON] returns
// the same values. In a table without types a [Decimal] is a number if a float64 has the same digits, and is read back
// as a float64. Otherwise it is a text.
//
// An int64 is a number without point or exponent, with all its digits. A reader that converts numbers to floats loses
// digits beyond 2^53, and the zeros of 1.10: see [JSONOptions]. A float64 is a number with a point or exponent. Values
// that JSON cannot represent are objects with one field: {"float":"NaN"} ("Infinity", "-Infinity"), {"blob":"…"} in
// base64, and {"bytes":"…"} for text that is not UTF-8.
func (t *Table) MarshalJSON() ([]byte, error) { return t.JSON(JSONOptions{}), nil }

// JSONOptions selects the numbers that are written as texts, for readers that convert every number to a float64, as
// JavaScript does. The zero JSONOptions writes numbers with their digits, and a Decimal as a text only if no float64
// holds it.
type JSONOptions struct {
	DecimalText bool // every [Decimal]: "1.10"
	BigIntText  bool // integers beyond 2^53 in either direction: "9007199254740993"
}

// maxExactInt is the largest integer up to which a float64 has every integer.
const maxExactInt = 1 << 53

// JSON returns the form of [Table.MarshalJSON], with numbers written as o selects.
func (t *Table) JSON(o JSONOptions) []byte {
	if t == nil {
		return []byte("null")
	}
	b := make([]byte, 0, 64+16*len(t.Rows)*max(len(t.Columns), 1))
	b = appendList(append(b, `{"columns":`...), t.Columns, func(b []byte, name string) []byte {
		return appendJSON(b, name)
	})
	if t.Types != nil {
		types, _ := json.Marshal(t.Types) // texts and numbers always encode
		b = append(append(b, `,"types":`...), types...)
	}
	b = appendList(append(b, `,"rows":`...), t.Rows, func(b []byte, row []any) []byte {
		return o.appendRow(b, t.Types, row)
	})
	if t.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	if t.TooLarge {
		b = append(b, `,"too_large":true`...)
	}
	if t.Cut {
		b = append(b, `,"cut":true`...)
	}
	return append(b, '}')
}

// appendRow appends a row as a list.
func (o JSONOptions) appendRow(b []byte, types []Type, row []any) []byte {
	b = append(b, '[')
	for i, v := range row {
		if i > 0 {
			b = append(b, ',')
		}
		of := Type{}
		if i < len(types) {
			of = types[i]
		}
		b = o.Append(b, of.stored(v))
	}
	return append(b, ']')
}

// Append appends the JSON form of one value to b.
func (o JSONOptions) Append(b []byte, v any) []byte {
	switch n := v.(type) {
	case Decimal:
		if o.DecimalText {
			return appendQuoted(b, string(n))
		}
	case int64:
		if o.BigIntText && (n > maxExactInt || n < -maxExactInt) {
			return appendQuoted(b, strconv.FormatInt(n, 10))
		}
	}
	return appendJSON(b, v)
}

// appendList appends a JSON list, whose items one appends.
func appendList[T any](b []byte, items []T, one func(b []byte, item T) []byte) []byte {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, item)
	}
	return append(b, ']')
}

func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		s := formatFloat(v)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(append(append(b, `{"float":"`...), s...), `"}`...)
		}
		return append(b, s...)
	case Decimal:
		if v.fitsFloat() {
			return append(b, v...)
		}
		return appendQuoted(b, strings.ToValidUTF8(string(v), "\uFFFD"))
	case []byte:
		b = append(b, `{"blob":"`...)
		b = base64.StdEncoding.AppendEncode(b, v)
		return append(b, `"}`...)
	case string:
		if !utf8.ValidString(v) {
			b = append(b, `{"bytes":"`...)
			b = base64.StdEncoding.AppendEncode(b, []byte(v))
			return append(b, `"}`...)
		}
		return appendQuoted(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return appendQuoted(b, fmt.Sprint(v))
}

// fitsFloat reports whether a reader that makes a float64 of d loses nothing but zeros.
func (d Decimal) fitsFloat() bool {
	switch v := d.plain().(type) {
	case int64:
		return v <= maxExactInt && v >= -maxExactInt || int64(float64(v)) == v
	case Decimal:
		_, same := v.float()
		return same && decimalText.MatchString(string(v))
	}
	return false
}

// appendQuoted appends the JSON form of a valid text. It escapes <, > and &, as encoding/json does, so that the output
// may stand in a script element.
func appendQuoted(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			q, _ := json.Marshal(s) // a string always encodes
			return append(b, q...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// UnmarshalJSON reads the form that [Table.MarshalJSON] writes. A number without point and exponent that does not fit
// an int64 becomes a float64.
func (t *Table) UnmarshalJSON(data []byte) error {
	var raw struct {
		Columns   []cell   `json:"columns"`
		Types     []Type   `json:"types"`
		Rows      [][]cell `json:"rows"`
		Truncated bool     `json:"truncated"`
		TooLarge  bool     `json:"too_large"`
		Cut       bool     `json:"cut"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("result: reading table: %w", err)
	}
	read := Table{Types: raw.Types, Truncated: raw.Truncated, TooLarge: raw.TooLarge, Cut: raw.Cut}
	if raw.Columns != nil {
		read.Columns = make([]string, len(raw.Columns))
	}
	for i, c := range raw.Columns {
		var ok bool
		if read.Columns[i], ok = c.value.(string); !ok {
			return fmt.Errorf("result: reading table: name of column %d is no text", i)
		}
	}
	if raw.Rows != nil {
		read.Rows = make([][]any, len(raw.Rows))
	}
	for i, cells := range raw.Rows {
		read.Rows[i] = make([]any, len(cells))
		for j, c := range cells {
			read.Rows[i][j] = c.of(read.typeOf(j))
		}
	}
	*t = read
	return nil
}

// cell reads one value.
type cell struct {
	value any
	text  string // of a number, as it is written
}

// of is the value in a column of a type, where numbers keep their digits: all of a decimal column, and integers beyond
// int64.
func (c cell) of(t Type) any {
	if t.Kind != KindDecimal && t.Kind != KindInt && t.Kind != KindBits {
		return c.value
	}
	digits := ""
	switch v := c.value.(type) {
	case string:
		digits = v
	case int64, float64:
		if _, small := v.(int64); t.Kind == KindDecimal || !small && !strings.ContainsAny(c.text, ".eE") {
			digits = c.text
		}
	}
	if v, err := parseDecimal(digits); err == nil {
		return v
	}
	return c.value
}

func (c *cell) UnmarshalJSON(data []byte) (err error) {
	switch {
	case data[0] == 'n':
		return nil
	case data[0] == '"':
		var s string
		err = json.Unmarshal(data, &s)
		c.value = s
	case data[0] == '{':
		return c.object(data)
	case data[0] == 't', data[0] == 'f':
		c.value = data[0] == 't'
	case data[0] == '-' || data[0] >= '0' && data[0] <= '9':
		c.text = string(data)
		if !bytes.ContainsAny(data, ".eE") {
			if i, err := strconv.ParseInt(string(data), 10, 64); err == nil {
				c.value = i
				return nil
			}
		}
		c.value, err = strconv.ParseFloat(string(data), 64)
	default:
		err = fmt.Errorf("value %.20s is neither null, bool, number, text nor object", data)
	}
	return err
}

func (c *cell) object(data []byte) (err error) {
	var o struct {
		Float       *string
		Blob, Bytes *[]byte
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	switch {
	case o.Blob != nil:
		c.value = *o.Blob
	case o.Bytes != nil:
		c.value = string(*o.Bytes)
	case o.Float != nil:
		c.value, err = strconv.ParseFloat(*o.Float, 64)
	default:
		err = fmt.Errorf("object %.40s holds neither float, blob nor bytes", data)
	}
	return err
}
