package postgres

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/result"
)

// converter returns what makes the values of a column those of a result.Table. Drivers do not agree on Go types, so the
// engine's type decides:
//
//   - numeric is an int64 where it is whole and fits, else a result.Decimal
//   - real is the float64 with the same shortest text
//   - boolean is 0 or 1
//   - date, time and timestamp are text in ISO 8601 order; a timestamp with time zone is in UTC, with a Z behind it
//   - char(n) has no trailing blanks
//   - bytea is a blob
//   - all others are the engine's own text
func converter(c *sql.ColumnType) func(any) (any, error) {
	switch c.DatabaseTypeName() {
	case "INT2", "INT4", "INT8", "FLOAT8", "BYTEA":
		return nil
	case "OID", "XID", "CID":
		return onText(func(text string) (any, error) { return strconv.ParseInt(text, 10, 64) })
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
	case "TIMESTAMP":
		return onTime("2006-01-02 15:04:05.999999", false)
	case "TIMESTAMPTZ":
		return onTime("2006-01-02 15:04:05.999999", true)
	case "TIME", "TIMETZ":
		return timeOfDay(c.DatabaseTypeName() == "TIMETZ")
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
		case time.Time:
			return nil, fmt.Errorf("postgres: the driver gave a time for a type that has none")
		}
		return v, nil
	}
}

// onTime writes a point in time, with its year as PostgreSQL counts it. An infinite one is text already.
func onTime(layout string, zone bool) func(any) (any, error) {
	other := onText(func(text string) (any, error) { return text, nil })
	return func(v any) (any, error) {
		t, ok := v.(time.Time)
		if !ok {
			return other(v)
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

// timeOfDay writes a time as PostgreSQL does, where the driver parsed it.
func timeOfDay(zone bool) func(any) (any, error) {
	other := onText(func(text string) (any, error) { return text, nil })
	return func(v any) (any, error) {
		t, ok := v.(time.Time)
		if !ok {
			return other(v)
		}
		text := t.Format("15:04:05.999999")
		if t.YearDay() == 2 { // the end of the day is its own value
			text = "24" + strings.TrimPrefix(text, "00")
		}
		if zone {
			layout := "-07"
			if _, offset := t.Zone(); offset%60 != 0 {
				layout = "-07:00:00"
			} else if offset%3600 != 0 {
				layout = "-07:00"
			}
			text += t.Format(layout)
		}
		return text, nil
	}
}
