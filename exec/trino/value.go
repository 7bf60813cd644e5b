package trino

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// converter makes the values of a column what a result holds:
//
//   - whole numbers are int64; DECIMAL is a result.Decimal with its digits
//   - dates and times are text, a fraction without zeros at its end; those with a time zone are in it, with a Z or an
//     offset behind
//   - char(n) has no trailing blanks
//   - varbinary, and types without a text such as HyperLogLog, are []byte
//   - arrays, maps and rows are JSON as CAST(… AS JSON) writes it: no blanks, the keys of a map sorted, the fields of a
//     row in order; binary values in them are base64
//   - all else is the engine's own text
func converter(_ int, c *sql.ColumnType) func(any) (any, error) {
	return conversion(c.DatabaseTypeName())
}

// kinds are those of the types that have one.
var kinds = map[string]result.Kind{
	"boolean": result.KindBool, "tinyint": result.KindInt, "smallint": result.KindInt, "integer": result.KindInt,
	"bigint": result.KindInt,
	"real":   result.KindFloat, "double": result.KindFloat, "decimal": result.KindDecimal, "number": result.KindDecimal,
	"varchar": result.KindText, "char": result.KindText, "varbinary": result.KindBlob, "json": result.KindJSON,
	"date": result.KindDate,
	"time": result.KindTime, "time with time zone": result.KindTime, "timestamp": result.KindDateTime,
	"timestamp with time zone": result.KindInstant, "interval year to month": result.KindInterval,
	"interval day to second": result.KindInterval, "uuid": result.KindUUID,
	"array": result.KindList, "map": result.KindList, "row": result.KindList,
}

// typeOf is the type of a column as the server names it. Each instant has a zone of its own.
func typeOf(_ int, c *sql.ColumnType) result.Type {
	name := strings.ToLower(c.DatabaseTypeName())
	t := result.Type{Name: name, Kind: kinds[readKind(name, 0).name]}
	if t.Kind == result.KindDecimal {
		t.Scale = -1
		if precision, scale, ok := c.DecimalSize(); ok && t.Name == "decimal" {
			t.Name, t.Scale = fmt.Sprintf("decimal(%d,%d)", precision, scale), int(scale)
		}
	}
	return t
}

func conversion(name string) func(any) (any, error) {
	kind := readKind(name, 0)
	switch kind.name {
	case "decimal", "number", "char", "date", "time", "timestamp", "time with time zone", "timestamp with time zone":
		return kind.plain
	case "array", "map", "row":
		return func(v any) (any, error) {
			if v == nil {
				return nil, nil
			}
			var b bytes.Buffer
			err := kind.write(&b, v)
			return b.String(), err
		}
	}
	return nil
}

// plain makes a value what a result holds, if it is none that has values in it.
func (k kind) plain(v any) (any, error) {
	text, isText := v.(string)
	switch {
	case layouts[k.name] != "":
		return moment(k.name, v)
	case isText && (k.name == "decimal" || k.name == "number"):
		return result.Type{Kind: result.KindDecimal}.ParseNumber(text)
	case isText && k.name == "char":
		return strings.TrimRight(text, " "), nil
	}
	return v, nil
}

// layouts are how times are written. The text of the driver has a zone at its end where the type has one.
var layouts = map[string]string{
	"date": time.DateOnly, "time": time.TimeOnly + ".999999999", "timestamp": time.DateTime + ".999999999",
	"time with time zone": time.TimeOnly + ".999999999", "timestamp with time zone": time.DateTime + ".999999999",
}

// moment writes a date or time, of which the driver gives a time.Time or, within an array, the server's text.
func moment(kind string, v any) (any, error) {
	layout, zoned := layouts[kind], strings.HasSuffix(kind, "zone")
	switch v := v.(type) {
	case time.Time:
		if zoned {
			return v.Format(layout) + guard.Offset(v), nil
		}
		return v.Format(layout), nil
	case string:
		if t, ok := parseMoment(layout, zoned, v); ok {
			return moment(kind, t)
		}
		return v, nil // of a year or a fraction that Go does not know
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("trino: the driver gave a %T for a time", v)
}

func parseMoment(layout string, zoned bool, text string) (time.Time, bool) {
	if !zoned {
		t, err := time.Parse(layout, text)
		return t, err == nil
	}
	for _, zone := range []string{"-07:00", " -07:00"} {
		if t, err := time.Parse(layout+zone, text); err == nil {
			return t, true
		}
	}
	at := strings.LastIndexByte(text, ' ')
	if at < 0 {
		return time.Time{}, false
	}
	zone, err := time.LoadLocation(text[at+1:])
	if err != nil {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation(layout, text[:at], zone)
	return t, err == nil
}

// kind is a type: "array(decimal(3,1))" is an array with one part.
type kind struct {
	name  string
	parts []kind // of the elements, of key and value, of the fields
}

const maxKindDepth = 100 // so that no text makes us recurse without end

// readKind reads a type as the driver names it, in any case.
func readKind(text string, depth int) kind {
	text = strings.ToLower(strings.TrimSpace(text))
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open || depth > maxKindDepth {
		return kind{name: text}
	}
	k := kind{name: strings.TrimSpace(text[:open])}
	switch k.name {
	case "array", "map", "row":
		for _, part := range sqltext.Trino().SplitList(text[open+1 : end]) {
			if k.name == "row" {
				part = withoutField(part)
			}
			k.parts = append(k.parts, readKind(part, depth+1))
		}
	default: // a length or a precision, as in time(3) with time zone
		k.name = strings.TrimSpace(k.name + " " + strings.TrimSpace(text[end+1:]))
	}
	return k
}

// withoutField leaves out the name of a field, which stands in quotes where it is not one word. A field without a name
// is a type alone.
func withoutField(text string) string {
	for name := range sqltext.Trino().Tokens(text) {
		if name.Kind == sqltext.QuotedName {
			return text[len(name.Text):]
		}
		break
	}
	for _, kind := range []string{"time with ", "timestamp with ", "double precision", "interval "} {
		if strings.HasPrefix(text, kind) {
			return text
		}
	}
	if at := strings.IndexAny(text, " (),"); at >= 0 && text[at] == ' ' {
		return text[at+1:]
	}
	return text
}

// row is what the driver makes of a row.
type row interface {
	Len() int
	Name(i int) string
	Value(i int) any
}

// part is the type of part i, without a name where the driver told of none.
func (k kind) part(i int) kind {
	if i < len(k.parts) {
		return k.parts[i]
	}
	return kind{}
}

// write appends v as JSON.
func (k kind) write(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case []any:
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := k.part(0).write(b, element); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case map[string]any:
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if err := k.part(1).member(b, i, key, v[key]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case row:
		b.WriteByte('{')
		for i := range v.Len() {
			if err := k.part(i).member(b, i, v.Name(i), v.Value(i)); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	}
	return k.scalar(b, v)
}

func (k kind) member(b *bytes.Buffer, i int, key string, v any) error {
	if i > 0 {
		b.WriteByte(',')
	}
	if err := marshal(b, key); err != nil {
		return err
	}
	b.WriteByte(':')
	return k.write(b, v)
}

func (k kind) scalar(b *bytes.Buffer, v any) error {
	v, err := k.plain(v)
	if number, ok := v.(json.Number); ok && (k.name == "real" || k.name == "double") {
		v, err = number.Float64()
	}
	if err != nil {
		return err
	}
	switch n := v.(type) {
	case result.Decimal:
		v = json.Number(n)
	case []byte:
		v = base64.StdEncoding.EncodeToString(n)
	case float64:
		if v = json.Number(strconv.FormatFloat(n, 'g', -1, 64)); math.IsNaN(n) || math.IsInf(n, 0) {
			v = fmt.Sprint(n)
		}
	}
	return marshal(b, v)
}

// marshal appends v as JSON with <, > and & as they are.
func marshal(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line break
	return nil
}
