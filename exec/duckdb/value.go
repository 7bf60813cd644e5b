package duckdb

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
)

// converter makes the values of a column what a result holds:
//
//   - Whole numbers are int64; HUGEINT, unsigned and DECIMAL are exact, as result.ParseNumber makes them. FLOAT is the
//     float64 of its shortest text: 0.1 and not 0.10000000149.
//   - DATE is "2006-01-02", TIME "15:04:05.999999", TIMESTAMP "2006-01-02 15:04:05.999999" and, with a zone, the same
//     in UTC with Z behind it. "infinity" and "(BC)" are as DuckDB writes them.
//   - INTERVAL is text as DuckDB writes it: "1 year 2 days 03:04:05". UUID is text, BLOB []byte, BIT and ENUM text.
//   - Lists, arrays, structs, maps, unions and JSON are JSON without blanks, keys of structs and maps in order. What
//     is in them is as above. Of a JSON column the driver reads numbers as float64 and null as NULL.
func converter(c *sql.ColumnType) func(any) (any, error) {
	kind := c.DatabaseTypeName()
	return func(v any) (any, error) { return value(v, kind) }
}

func value(v any, kind string) (any, error) {
	if kind != "JSON" || v == nil {
		switch v := v.(type) {
		case nil, bool, int64, float64, string:
			return v, nil
		case int8, int16, int32, uint8, uint16, uint32, uint64, *big.Int, duckdb.Decimal:
			return result.ParseNumber(fmt.Sprint(v))
		case float32:
			return strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		case []byte:
			if kind == "UUID" {
				return uuid(v), nil
			}
			return v, nil
		case time.Time:
			return moments(v, kind), nil
		case duckdb.Interval:
			return interval(v), nil
		}
	}
	whole, err := nested(v, kind, 0)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err = e.Encode(whole)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func uuid(b []byte) string {
	h := hex.EncodeToString(b)
	if len(h) != 32 {
		return h
	}
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// moments writes a date or time.
func moments(t time.Time, kind string) string {
	era := ""
	switch {
	case strings.HasPrefix(kind, "TIMESTAMP") && t.UnixMicro() == math.MaxInt64, kind == "DATE" && t.Unix() == math.MaxInt32*86400:
		return "infinity"
	case strings.HasPrefix(kind, "TIMESTAMP") && t.UnixMicro() == -math.MaxInt64, kind == "DATE" && t.Unix() == -math.MaxInt32*86400:
		return "-infinity"
	case t.Year() < 1:
		t, era = t.AddDate(1-2*t.Year(), 0, 0), " (BC)"
	}
	switch {
	case kind == "DATE":
		return t.Format(time.DateOnly) + era
	case kind == "TIME":
		return t.Format("15:04:05.999999999")
	case kind == "TIMETZ" || kind == "TIME WITH TIME ZONE" || kind == "TIME_TZ":
		return t.Format("15:04:05.999999999Z07:00")
	case strings.HasSuffix(kind, "TZ") || strings.HasSuffix(kind, "ZONE"):
		return t.UTC().Format("2006-01-02 15:04:05.999999999Z") + era
	}
	return t.Format("2006-01-02 15:04:05.999999999") + era
}

// interval writes one as DuckDB does.
func interval(v duckdb.Interval) string {
	var parts []string
	add := func(n int32, unit string) {
		if n == 1 || n == -1 {
			parts = append(parts, fmt.Sprint(n, " ", unit))
		} else if n != 0 {
			parts = append(parts, fmt.Sprint(n, " ", unit, "s"))
		}
	}
	add(v.Months/12, "year")
	add(v.Months%12, "month")
	add(v.Days, "day")
	if v.Micros != 0 || len(parts) == 0 {
		sign, micros := "", new(big.Int).Abs(big.NewInt(v.Micros)).Uint64()
		if v.Micros < 0 {
			sign = "-"
		}
		text := fmt.Sprintf("%s%02d:%02d:%02d", sign, micros/3_600_000_000, micros/60_000_000%60, micros/1_000_000%60)
		if rest := micros % 1_000_000; rest > 0 {
			text += strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// mostDepth bounds how deep values stand in each other.
const mostDepth = 200

// nested makes a value that may hold others what package json writes.
func nested(v any, kind string, depth int) (_ any, err error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("duckdb: a value is over %d levels deep", mostDepth)
	}
	members := map[string]any{}
	switch v := v.(type) {
	case []any:
		if i := strings.LastIndexByte(kind, '['); i > 0 {
			kind = kind[:i]
		}
		parts := make([]any, len(v))
		for i, part := range v {
			if parts[i], err = nested(part, kind, depth+1); err != nil {
				return nil, err
			}
		}
		return parts, nil
	case map[string]any:
		kinds := memberKinds(kind)
		for name, part := range v {
			if members[name], err = nested(part, kinds[name], depth+1); err != nil {
				return nil, err
			}
		}
		return members, nil
	case duckdb.OrderedMap:
		kinds := append(guard.SplitList(language.Text, inside(kind)), "", "")
		values := v.Values()
		for i, key := range v.Keys() {
			name, err := value(key, kinds[0])
			if err != nil {
				return nil, err
			}
			if b, ok := name.([]byte); ok {
				name = string(b)
			}
			if members[fmt.Sprint(name)], err = nested(values[i], kinds[1], depth+1); err != nil {
				return nil, err
			}
		}
		return members, nil
	case duckdb.Union:
		members[v.Tag], err = nested(v.Value, memberKinds(kind)[v.Tag], depth+1)
		return members, err
	}
	if kind == "JSON" {
		kind = ""
	}
	cell, err := value(v, kind)
	switch cell := cell.(type) {
	case result.Decimal:
		return json.Number(cell), err
	case []byte:
		return hex.EncodeToString(cell), err
	case float64:
		if math.IsNaN(cell) || math.IsInf(cell, 0) {
			return strconv.FormatFloat(cell, 'g', -1, 64), err
		}
	}
	return cell, err
}

// inside is what stands in the brackets of a type: MAP(VARCHAR, INTEGER).
func inside(kind string) string {
	i, j := strings.IndexByte(kind, '('), strings.LastIndexByte(kind, ')')
	if i < 0 || j < i {
		return ""
	}
	return kind[i+1 : j]
}

// memberKinds are the types of the members of a struct or union: STRUCT("f" INTEGER, "g" DATE).
func memberKinds(kind string) map[string]string {
	kinds := map[string]string{}
	for _, part := range guard.SplitList(language.Text, inside(kind)) {
		for name := range language.Text.Parse(part).Tokens() {
			kinds[language.Text.Value(name)] = strings.TrimSpace(part[len(name.Text):])
			break
		}
	}
	return kinds
}
