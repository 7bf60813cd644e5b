package postgres

import (
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
)

// types are the types that the driver calls otherwise than the server does, and the kinds of all types that have one.
var types = map[string]result.Type{
	"BOOL": {Name: "boolean", Kind: result.KindBool}, "INT2": {Name: "smallint", Kind: result.KindInt},
	"INT4": {Name: "integer", Kind: result.KindInt}, "INT8": {Name: "bigint", Kind: result.KindInt},
	"FLOAT4": {Name: "real", Kind: result.KindFloat}, "FLOAT8": {Name: "double precision", Kind: result.KindFloat},
	"NUMERIC": {Name: "numeric", Kind: result.KindDecimal, Scale: -1},
	"VARCHAR": {Name: "character varying", Kind: result.KindText}, "BPCHAR": {Name: "character", Kind: result.KindText},
	"TEXT": {Name: "text", Kind: result.KindText}, "NAME": {Name: "name", Kind: result.KindText},
	"DATE":        {Name: "date", Kind: result.KindDate},
	"TIME":        {Name: "time without time zone", Kind: result.KindTime},
	"TIMETZ":      {Name: "time with time zone", Kind: result.KindTime},
	"TIMESTAMP":   {Name: "timestamp without time zone", Kind: result.KindDateTime},
	"TIMESTAMPTZ": {Name: "timestamp with time zone", Kind: result.KindInstant},
	"INTERVAL":    {Name: "interval", Kind: result.KindInterval}, "UUID": {Name: "uuid", Kind: result.KindUUID},
	"JSON": {Name: "json", Kind: result.KindJSON}, "JSONB": {Name: "jsonb", Kind: result.KindJSON},
	"BYTEA": {Name: "bytea", Kind: result.KindBlob}, "BIT": {Name: "bit", Kind: result.KindBits},
	"VARBIT": {Name: "bit varying", Kind: result.KindBits},
	"OID":    {Name: "oid", Kind: result.KindInt}, "XID": {Name: "xid", Kind: result.KindInt},
	"CID": {Name: "cid", Kind: result.KindInt},
}

// typeOf is typeOf with the names of the types of users, of which the driver tells the number.
func (c *catalog) typeOf(column *sql.ColumnType, zone string) result.Type {
	id, err := strconv.ParseUint(column.DatabaseTypeName(), 10, 32)
	t := c.types[uint32(id)]
	if err != nil || t == nil {
		return typeOf(column, zone)
	}
	of := c.types[t.of]
	switch {
	case t.category == "A" && of != nil:
		return result.Type{Name: of.name + "[]", Kind: result.KindList}
	case t.kind == "e" || t.category == "S": // a kind of text, as citext
		return result.Type{Name: t.name, Kind: result.KindText}
	}
	return result.Type{Name: t.name}
}

// typeOf is the type of a column as the server names it, an instant in the zone of the session.
func typeOf(c *sql.ColumnType, zone string) result.Type {
	name := c.DatabaseTypeName()
	t, listed := types[name]
	element, array := strings.CutPrefix(name, "_")
	switch {
	case array:
		of, listed := types[element]
		if !listed {
			of.Name = strings.ToLower(element)
		}
		return result.Type{Name: of.Name + "[]", Kind: result.KindList}
	case !listed:
		return result.Type{Name: strings.ToLower(name)}
	case t.Kind == result.KindInstant:
		t.Zone = zone
	case t.Kind == result.KindDecimal:
		if precision, scale, ok := c.DecimalSize(); ok && precision > 0 && precision < math.MaxInt16 {
			if scale > 1000 { // eleven bits with a sign
				scale -= 2048
			}
			t.Name, t.Scale = fmt.Sprintf("numeric(%d,%d)", precision, scale), max(0, int(scale))
		}
	case name == "VARCHAR" || name == "BPCHAR":
		if length, ok := c.Length(); ok && length < math.MaxInt32 {
			t.Name = fmt.Sprintf("%s(%d)", t.Name, length)
		}
	}
	return t
}

// converter returns what makes the values of a column, as pgx gives them, those of a result.Table. The engine's type
// decides:
//
//   - numeric is a result.Decimal with its digits
//   - real is the float64 with the same shortest text
//   - date and timestamp are text in ISO 8601 order; a timestamp with time zone is in the zone of the session, with a Z
//     or an offset behind it
//   - char(n) has no trailing blanks
//   - bytea is a blob
//   - all others are the engine's own text
func converter(c *sql.ColumnType, zone *time.Location) func(any) (any, error) {
	switch c.DatabaseTypeName() {
	case "BOOL", "INT2", "INT4", "INT8", "FLOAT8", "BYTEA", "OID", "XID", "CID":
		return nil
	case "NUMERIC":
		return onText(result.Type{Kind: result.KindDecimal}.ParseNumber)
	case "FLOAT4":
		return func(v any) (any, error) {
			if f, ok := v.(float64); ok {
				return strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
			}
			return v, nil
		}
	case "BPCHAR":
		return onText(func(text string) (any, error) { return strings.TrimRight(text, " "), nil })
	case "DATE":
		return onTime("2006-01-02", nil)
	case "TIMESTAMP":
		return onTime("2006-01-02 15:04:05.999999", nil)
	case "TIMESTAMPTZ":
		return onTime("2006-01-02 15:04:05.999999", zone)
	}
	return onText(func(text string) (any, error) { return text, nil })
}

// onText applies f to a value that the driver gives as text.
func onText(f func(string) (any, error)) func(any) (any, error) {
	return func(v any) (any, error) {
		switch v := v.(type) {
		case []byte:
			return f(string(v))
		case string:
			return f(v)
		}
		return v, nil
	}
}

// onTime writes a point in time, with its year as PostgreSQL counts it, in a zone; nil: it has none. An infinite one is
// text already.
func onTime(layout string, zone *time.Location) func(any) (any, error) {
	return func(v any) (any, error) {
		t, ok := v.(time.Time)
		if !ok {
			return v, nil
		}
		end := ""
		if zone != nil {
			t = t.In(zone)
			end = guard.Offset(t)
		}
		if year := t.Year(); year <= 0 { // 1 BC is the year 0 of Go
			return fmt.Sprintf("%04d", 1-year) + t.Format(strings.TrimPrefix(layout, "2006")) + end + " BC", nil
		}
		return t.Format(layout) + end, nil
	}
}
