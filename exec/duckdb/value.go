package duckdb

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
)

// typeKinds are the kinds of the types that have one. A type stands here without what is in its brackets.
var typeKinds = map[string]result.Kind{
	"BOOLEAN": result.KindBool, "TINYINT": result.KindInt, "SMALLINT": result.KindInt, "INTEGER": result.KindInt,
	"BIGINT":  result.KindInt,
	"HUGEINT": result.KindInt, "UTINYINT": result.KindInt, "USMALLINT": result.KindInt, "UINTEGER": result.KindInt,
	"UBIGINT": result.KindInt, "UHUGEINT": result.KindInt, "BIGNUM": result.KindInt, "FLOAT": result.KindFloat,
	"DOUBLE":  result.KindFloat,
	"DECIMAL": result.KindDecimal, "VARCHAR": result.KindText, "ENUM": result.KindText, "VARIANT": result.KindText,
	"DATE": result.KindDate, "TIME": result.KindTime,
	"TIME_NS": result.KindTime, "TIME WITH TIME ZONE": result.KindTime, "TIMETZ": result.KindTime,
	"TIMESTAMP": result.KindDateTime, "TIMESTAMP_S": result.KindDateTime,
	"TIMESTAMP_MS": result.KindDateTime, "TIMESTAMP_NS": result.KindDateTime,
	"TIMESTAMP WITH TIME ZONE": result.KindInstant, "TIMESTAMPTZ": result.KindInstant,
	"INTERVAL": result.KindInterval, "UUID": result.KindUUID, "JSON": result.KindJSON, "BLOB": result.KindBlob,
	"BIT":    result.KindBits,
	"STRUCT": result.KindList, "MAP": result.KindList, "UNION": result.KindList,
}

// typeOf is a type as DuckDB names it, an instant in a zone.
func typeOf(name, zone string) result.Type {
	t := result.Type{Name: name, Kind: result.KindList}
	plain, size, sized := strings.Cut(name, "(")
	if !strings.HasSuffix(name, "]") {
		t.Kind = typeKinds[plain]
	}
	if short, ok := strings.CutSuffix(name, "TZ"); ok { // as the driver says it
		t.Name = short + " WITH TIME ZONE"
	}
	switch {
	case t.Kind == result.KindInstant:
		t.Zone = zone
	case t.Kind == result.KindDecimal && sized:
		_, scale, _ := strings.Cut(strings.TrimSuffix(size, ")"), ",")
		t.Scale, _ = strconv.Atoi(strings.TrimSpace(scale))
	}
	return t
}

// lossy are the types whose values the driver changes, or does not know: it makes a float64 of each number of a JSON,
// and 00:00:00 of the time 24:00:00, and cannot read a VARIANT. Their values come as text, wherever in a type they
// stand.
var lossy = map[string]bool{"JSON": true, "TIME": true, "TIME_NS": true, "VARIANT": true}

// unnamed finds what stands behind the first word of a member without a name, which is a word of its type.
var unnamed = regexp.MustCompile(`^\s*(?:$|[(\[]|WITH )`)

// asText is a type with VARCHAR in place of the lossy ones in it.
func asText(kind string) string {
	name, _, nests := strings.Cut(kind, "(")
	switch at := strings.LastIndexByte(kind, '['); {
	case lossy[kind]:
		return "VARCHAR"
	case at > 0 && strings.HasSuffix(kind, "]"):
		return asText(kind[:at]) + kind[at:]
	case !nests || name != "MAP" && name != "STRUCT" && name != "UNION":
		return kind
	}
	parts := language.Text.SplitList(inside(kind))
	for i, part := range parts {
		member := ""
		if name != "MAP" {
			if member, part = cutMember(part); unnamed.MatchString(part) { // a row: no cast can write its type
				return "VARCHAR"
			}
		}
		parts[i] = member + asText(strings.TrimSpace(part))
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// converter makes the values of a column of a type what a result holds:
//
//   - Whole numbers are int64; HUGEINT and unsigned ones are exact, as result.Type.ParseNumber makes them. A DECIMAL is
//     a result.Decimal with its digits. FLOAT is the float64 of its shortest text: 0.1 and not 0.10000000149.
//   - DATE is "2006-01-02", TIME "15:04:05.999999", TIMESTAMP "2006-01-02 15:04:05.999999" and, with a zone, the same
//     in the zone of the session with Z or an offset behind it. "infinity" and "(BC)" are as DuckDB writes them.
//   - INTERVAL is text as DuckDB writes it: "1 year 2 days 03:04:05". UUID is text, BLOB []byte, BIT and ENUM text.
//   - JSON is the text that is stored.
//   - Lists, arrays, structs, maps and unions are JSON without blanks, keys of structs and maps in order. What
//     is in them is as above.
func converter(kind string, zone *time.Location) func(any) (any, error) {
	c := conversion{zone}
	return func(v any) (any, error) { return c.value(v, kind) }
}

// conversion is how values are written in a session.
type conversion struct{ zone *time.Location }

func (c conversion) value(v any, kind string) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v, nil
	case int8, int16, int32, uint8, uint16, uint32, uint64, *big.Int:
		return result.Type{}.ParseNumber(fmt.Sprint(v))
	case duckdb.Decimal:
		return result.Type{Kind: result.KindDecimal}.ParseNumber(decimal(v))
	case float32:
		return strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	case []byte:
		if kind == "UUID" {
			return uuid(v), nil
		}
		return v, nil
	case time.Time:
		return c.moments(v, kind), nil
	case duckdb.Interval:
		return interval(v), nil
	}
	whole, err := c.nested(v, kind, 0)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err = e.Encode(whole)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// decimal writes all digits of the scale, which the driver leaves out where they are zeros.
func decimal(d duckdb.Decimal) string {
	text := new(big.Int).Abs(d.Value).String()
	if scale := int(d.Scale); scale > 0 {
		text = strings.Repeat("0", max(0, scale+1-len(text))) + text
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	if d.Value.Sign() < 0 {
		text = "-" + text
	}
	return text
}

func uuid(b []byte) string {
	h := hex.EncodeToString(b)
	if len(h) != 32 {
		return h
	}
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// endless are the dates and times behind all others.
func endless(t time.Time, kind string) string {
	stamp, date := strings.HasPrefix(kind, "TIMESTAMP"), kind == "DATE"
	switch {
	case stamp && t.UnixMicro() == math.MaxInt64, date && t.Unix() == math.MaxInt32*86400:
		return "infinity"
	case stamp && t.UnixMicro() == -math.MaxInt64, date && t.Unix() == -math.MaxInt32*86400:
		return "-infinity"
	}
	return ""
}

// moments writes a date or time.
func (c conversion) moments(t time.Time, kind string) string {
	if text := endless(t, kind); text != "" {
		return text
	}
	era, end := "", ""
	if strings.HasPrefix(kind, "TIMESTAMP") && (strings.HasSuffix(kind, "TZ") || strings.HasSuffix(kind, "ZONE")) {
		t = t.In(c.zone)
		end = guard.Offset(t)
	}
	if t.Year() < 1 {
		t, era = t.AddDate(1-2*t.Year(), 0, 0), " (BC)"
	}
	switch kind {
	case "DATE":
		return t.Format(time.DateOnly) + era
	case "TIME":
		return t.Format("15:04:05.999999999")
	case "TIMETZ", "TIME WITH TIME ZONE", "TIME_TZ":
		return t.Format("15:04:05.999999999Z07:00")
	}
	return t.Format(time.DateOnly) + era + t.Format(" 15:04:05.999999999") + end
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
func (c conversion) nested(v any, kind string, depth int) (any, error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("duckdb: a value is over %d levels deep", mostDepth)
	}
	switch v := v.(type) {
	case []any:
		return c.list(v, kind, depth)
	case map[string]any:
		return c.members(v, memberKinds(kind), depth)
	case duckdb.Union:
		return c.members(map[string]any{v.Tag: v.Value}, memberKinds(kind), depth)
	case duckdb.OrderedMap:
		return c.entries(v, kind, depth)
	}
	return c.scalar(v, kind)
}

func (c conversion) list(v []any, kind string, depth int) (_ any, err error) {
	if i := strings.LastIndexByte(kind, '['); i > 0 {
		kind = kind[:i]
	}
	parts := make([]any, len(v))
	for i, part := range v {
		if parts[i], err = c.nested(part, kind, depth+1); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func (c conversion) members(v map[string]any, of map[string]string, depth int) (_ any, err error) {
	members := map[string]any{}
	for name, part := range v {
		if members[name], err = c.nested(part, of[name], depth+1); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// entries makes a map one whose keys are texts.
func (c conversion) entries(v duckdb.OrderedMap, kind string, depth int) (any, error) {
	parts := append(language.Text.SplitList(inside(kind)), "", "")
	members, of := map[string]any{}, map[string]string{}
	values := v.Values()
	for i, key := range v.Keys() {
		name, err := c.value(key, parts[0])
		if err != nil {
			return nil, err
		}
		if b, ok := name.([]byte); ok {
			name = string(b)
		}
		members[fmt.Sprint(name)], of[fmt.Sprint(name)] = values[i], strings.TrimSpace(parts[1])
	}
	return c.members(members, of, depth)
}

// scalar makes a value that holds no others what package json writes.
func (c conversion) scalar(v any, kind string) (any, error) {
	cell, err := c.value(v, kind)
	switch cell := cell.(type) {
	case string:
		if kind == "JSON" && json.Valid([]byte(cell)) {
			return json.RawMessage(cell), err
		}
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
	for _, part := range language.Text.SplitList(inside(kind)) {
		name, of := cutMember(part)
		for token := range language.Text.Parse(name).Tokens() {
			kinds[language.Text.Value(token)] = strings.TrimSpace(of)
		}
	}
	return kinds
}

// cutMember cuts the member of a struct or union into its name, with a blank behind it, and its type.
func cutMember(part string) (name, kind string) {
	part = strings.TrimSpace(part)
	for token := range language.Text.Parse(part).Tokens() {
		return token.Text + " ", part[token.Pos+len(token.Text):]
	}
	return "", part
}
