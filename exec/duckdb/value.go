package duckdb

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

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
	var out bytes.Buffer
	if err := writeJSON(&out, v, kind, 0); err != nil {
		return nil, err
	}
	return out.String(), nil
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

// writeJSON writes a value that holds others.
func writeJSON(out *bytes.Buffer, v any, kind string, depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("duckdb: a value is over %d levels deep", mostDepth)
	}
	members := func(names []string, at func(i int) (any, string)) error {
		order := make([]int, len(names))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
		out.WriteByte('{')
		for n, i := range order {
			if n > 0 {
				out.WriteByte(',')
			}
			writeText(out, names[i])
			out.WriteByte(':')
			part, kind := at(i)
			if err := writeJSON(out, part, kind, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	}
	switch v := v.(type) {
	case []any:
		element := kind
		if i := strings.LastIndexByte(kind, '['); i > 0 {
			element = kind[:i]
		}
		out.WriteByte('[')
		for i, part := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, part, element, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		kinds := memberKinds(kind)
		return members(names, func(i int) (any, string) { return v[names[i]], kinds[names[i]] })
	case duckdb.OrderedMap:
		parts := split(inside(kind))
		if len(parts) != 2 {
			parts = []string{"", ""}
		}
		var names []string
		for _, key := range v.Keys() {
			text, err := value(key, parts[0])
			if err != nil {
				return err
			}
			if b, ok := text.([]byte); ok {
				text = string(b)
			}
			names = append(names, fmt.Sprint(text))
		}
		values := v.Values()
		return members(names, func(i int) (any, string) { return values[i], parts[1] })
	case duckdb.Union:
		return members([]string{v.Tag}, func(int) (any, string) { return v.Value, memberKinds(kind)[v.Tag] })
	}
	if kind == "JSON" {
		kind = ""
	}
	cell, err := value(v, kind)
	if err != nil {
		return err
	}
	switch cell := cell.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		fmt.Fprint(out, cell)
	case int64:
		fmt.Fprint(out, cell)
	case result.Decimal:
		out.WriteString(string(cell))
	case float64:
		switch {
		case math.IsNaN(cell), math.IsInf(cell, 0):
			writeText(out, strconv.FormatFloat(cell, 'g', -1, 64))
		default:
			text, err := json.Marshal(cell)
			if err != nil {
				return err
			}
			out.Write(text)
		}
	case []byte:
		writeText(out, hex.EncodeToString(cell))
	case string:
		writeText(out, cell)
	default:
		return fmt.Errorf("duckdb: the driver gave a %T in a value of type %s", v, kind)
	}
	return nil
}

// writeText writes a JSON string with the characters that it has, as far as JSON lets it.
func writeText(out *bytes.Buffer, s string) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if e.Encode(s) == nil {
		out.Truncate(out.Len() - 1) // the line break
	}
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
	for _, part := range split(inside(kind)) {
		name, rest := part, ""
		if strings.HasPrefix(part, `"`) {
			end := 1
			for end < len(part) && (part[end] != '"' || end+1 < len(part) && part[end+1] == '"') {
				if part[end] == '"' {
					end++
				}
				end++
			}
			if end >= len(part) {
				continue
			}
			name, rest = strings.ReplaceAll(part[1:end], `""`, `"`), part[end+1:]
		} else {
			name, rest, _ = strings.Cut(part, " ")
		}
		kinds[name] = strings.TrimSpace(rest)
	}
	return kinds
}

// split cuts a list at the commas that stand in no brackets and quotes.
func split(list string) (parts []string) {
	depth, from, quote := 0, 0, byte(0)
	for i := range len(list) {
		switch c := list[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, strings.TrimSpace(list[from:i])), i+1
		}
	}
	if from < len(list) {
		parts = append(parts, strings.TrimSpace(list[from:]))
	}
	return parts
}
