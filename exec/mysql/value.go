package mysql

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/result"
)

// valueKinds are the kinds of the types that have one.
var valueKinds = map[string]result.Kind{
	"TINYINT": result.KindInt, "SMALLINT": result.KindInt, "MEDIUMINT": result.KindInt, "INT": result.KindInt,
	"BIGINT": result.KindInt,
	"YEAR":   result.KindInt, "FLOAT": result.KindFloat, "DOUBLE": result.KindFloat, "DECIMAL": result.KindDecimal,
	"BIT":  result.KindBits,
	"DATE": result.KindDate, "TIME": result.KindTime, "DATETIME": result.KindDateTime, "TIMESTAMP": result.KindInstant,
	"CHAR": result.KindText, "VARCHAR": result.KindText, "TEXT": result.KindText, "TINYTEXT": result.KindText,
	"MEDIUMTEXT": result.KindText, "LONGTEXT": result.KindText, "ENUM": result.KindText, "SET": result.KindText,
	"JSON": result.KindJSON,
	"BLOB": result.KindBlob, "TINYBLOB": result.KindBlob, "MEDIUMBLOB": result.KindBlob, "LONGBLOB": result.KindBlob,
	"BINARY": result.KindBlob, "VARBINARY": result.KindBlob, "GEOMETRY": result.KindBlob, "VECTOR": result.KindBlob,
}

// typeOf is the type of a column as the server names it. It calls a boolean TINYINT.
func typeOf(c *sql.ColumnType) result.Type {
	name, unsigned := strings.CutPrefix(c.DatabaseTypeName(), "UNSIGNED ")
	t := result.Type{Name: strings.ToLower(name), Kind: valueKinds[name]}
	precision, scale, sized := c.DecimalSize()
	switch {
	case t.Kind == result.KindDecimal && sized:
		t.Name, t.Scale = fmt.Sprintf("decimal(%d,%d)", precision, scale), int(scale)
	case sized && scale > 0 && scale <= 6 && t.Kind != result.KindFloat:
		t.Name = fmt.Sprintf("%s(%d)", t.Name, scale)
	}
	if unsigned {
		t.Name += " unsigned"
	}
	return t
}

// converter makes the values of a column what a result holds, from what the driver gives in either protocol:
//
//   - whole numbers, and BIT, are int64, or a result.Decimal beyond it; a DECIMAL is a result.Decimal with its digits
//   - FLOAT is the float64 of its shortest text: 0.1 and not 0.10000000149
//   - dates and times are text as the server writes it, a fraction without zeros at its end
//   - binary and spatial types are []byte, all else is text
func converter(c *sql.ColumnType) func(any) (any, error) { return conversion(c.DatabaseTypeName()) }

func conversion(kind string) func(any) (any, error) {
	switch kind = strings.TrimPrefix(kind, "UNSIGNED "); valueKinds[kind] {
	case result.KindBlob:
		return nil
	case result.KindDecimal:
		return func(v any) (any, error) { return number(v, result.Type{Kind: result.KindDecimal}.ParseNumber) }
	case result.KindInt, result.KindFloat, result.KindBits:
		return func(v any) (any, error) { return number(v, result.Type{}.ParseNumber) }
	case result.KindDateTime, result.KindInstant, result.KindTime:
		return moment
	}
	return text
}

func text(v any) (any, error) {
	if b, ok := v.([]byte); ok {
		return string(b), nil
	}
	return v, nil
}

func number(v any, parse func(string) (any, error)) (any, error) {
	switch v := v.(type) {
	case []byte:
		return parse(string(v))
	case string:
		return parse(v)
	case uint64:
		return result.Type{}.ParseNumber(strconv.FormatUint(v, 10))
	case float32:
		return strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	}
	return v, nil
}

// moment is a date or time as the server writes it, a fraction without zeros at its end.
func moment(v any) (any, error) {
	v, err := text(v)
	if s, ok := v.(string); ok && strings.Contains(s, ".") {
		return strings.TrimSuffix(strings.TrimRight(s, "0"), "."), nil
	}
	return v, err
}
