package mysql

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/result"
)

// converter makes the values of a column what a result holds, from what the driver gives in either protocol, with
// parseTime and without:
//
//   - whole numbers are int64; DECIMAL and what no int64 holds are exact, as result.ParseNumber makes them
//   - FLOAT is the float64 of its shortest text: 0.1 and not 0.10000000149
//   - dates and times are text as the server writes it, a fraction without zeros at its end. With parseTime the driver
//     makes a time of 0000-00-00 that is as good as none, which is 0000-00-00 again here, and so is 0001-01-01; of
//     2024-00-00 it makes another day
//   - BIT, binary and spatial types are []byte, all else is text
func converter(c *sql.ColumnType) func(any) (any, error) {
	return conversion(c.DatabaseTypeName())
}

func conversion(kind string) func(any) (any, error) {
	switch strings.TrimPrefix(kind, "UNSIGNED ") {
	case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "BIT", "GEOMETRY", "VECTOR":
		return nil
	case "DECIMAL", "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "FLOAT", "DOUBLE":
		return number
	case "DATE":
		return func(v any) (any, error) { return moment(v, time.DateOnly) }
	case "DATETIME", "TIMESTAMP":
		return func(v any) (any, error) { return moment(v, time.DateTime+".999999") }
	case "TIME":
		return func(v any) (any, error) { return moment(v, time.TimeOnly+".999999") }
	}
	return text
}

func text(v any) (any, error) {
	if b, ok := v.([]byte); ok {
		return string(b), nil
	}
	return v, nil
}

func number(v any) (any, error) {
	switch v := v.(type) {
	case []byte:
		return result.ParseNumber(string(v))
	case string:
		return result.ParseNumber(v)
	case uint64:
		return result.ParseNumber(strconv.FormatUint(v, 10))
	case float32:
		return strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	}
	return v, nil
}

// moment writes a date or time.
func moment(v any, layout string) (any, error) {
	switch v := v.(type) {
	case time.Time:
		if !v.IsZero() {
			return v.Format(layout), nil
		}
		return strings.NewReplacer("2006", "0000", "01", "00", "02", "00", "15", "00", "04", "00", "05", "00", ".999999", "").Replace(layout), nil
	case []byte:
		s := string(v)
		if strings.Contains(s, ".") {
			s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
		}
		return s, nil
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("mysql: the driver gave a %T for a time", v)
}
