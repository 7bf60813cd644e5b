package postgres

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/result"
)

// converter returns what makes the values of a column, as pgx gives them, those of a result.Table. The engine's type
// decides:
//
//   - numeric is an int64 where it is whole and fits, else a result.Decimal
//   - real is the float64 with the same shortest text
//   - boolean is 0 or 1
//   - date and timestamp are text in ISO 8601 order; a timestamp with time zone is in UTC, with a Z behind it
//   - char(n) has no trailing blanks
//   - bytea is a blob
//   - all others are the engine's own text
func converter(c *sql.ColumnType) func(any) (any, error) {
	switch c.DatabaseTypeName() {
	case "INT2", "INT4", "INT8", "FLOAT8", "BYTEA", "OID", "XID", "CID":
		return nil
	case "NUMERIC":
		return onText(result.ParseNumber)
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
		return onTime("2006-01-02", false)
	case "TIMESTAMP", "TIMESTAMPTZ":
		return onTime("2006-01-02 15:04:05.999999", c.DatabaseTypeName() == "TIMESTAMPTZ")
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
		case bool:
			if v {
				return int64(1), nil
			}
			return int64(0), nil
		}
		return v, nil
	}
}

// onTime writes a point in time, with its year as PostgreSQL counts it. An infinite one is text already.
func onTime(layout string, zone bool) func(any) (any, error) {
	return func(v any) (any, error) {
		t, ok := v.(time.Time)
		if !ok {
			return v, nil
		}
		end := ""
		if zone {
			t, end = t.UTC(), "Z"
		}
		if year := t.Year(); year <= 0 { // 1 BC is the year 0 of Go
			return fmt.Sprintf("%04d", 1-year) + t.Format(strings.TrimPrefix(layout, "2006")) + end + " BC", nil
		}
		return t.Format(layout) + end, nil
	}
}
