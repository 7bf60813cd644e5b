package bigquery

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"

	"github.com/texttosql/texttosql/result"
)

// standard are the names of types as GoogleSQL has them, where the API has older ones.
var standard = map[bigquery.FieldType]string{
	bigquery.IntegerFieldType: "INT64", bigquery.FloatFieldType: "FLOAT64", bigquery.BooleanFieldType: "BOOL",
	bigquery.RecordFieldType: "STRUCT",
}

// typeName writes the type of a field.
func typeName(f *bigquery.FieldSchema) string {
	name := standard[f.Type]
	if name == "" {
		name = string(f.Type)
	}
	switch {
	case f.Type == bigquery.RecordFieldType:
		var fields []string
		for _, field := range f.Schema {
			fields = append(fields, field.Name+" "+typeName(field))
		}
		name += "<" + strings.Join(fields, ", ") + ">"
	case f.RangeElementType != nil:
		name += "<" + string(f.RangeElementType.Type) + ">"
	case f.MaxLength > 0:
		name += fmt.Sprintf("(%d)", f.MaxLength)
	case f.Precision > 0 && f.Scale > 0:
		name += fmt.Sprintf("(%d, %d)", f.Precision, f.Scale)
	case f.Precision > 0:
		name += fmt.Sprintf("(%d)", f.Precision)
	}
	if f.Repeated {
		name = "ARRAY<" + name + ">"
	}
	return name
}

// plain makes a value of the client one of database/sql:
//
//   - INT64, FLOAT64, BOOL, STRING and BYTES are themselves, a TIMESTAMP is a time in UTC
//   - NUMERIC and BIGNUMERIC are their decimal text
//   - DATE, TIME, DATETIME, INTERVAL, RANGE, GEOGRAPHY and JSON are text as the service writes it
//   - ARRAY and STRUCT are JSON in the order of their fields; BYTES in it are base64
func plain(v bigquery.Value, f *bigquery.FieldSchema) (driver.Value, error) {
	if v == nil {
		return nil, nil
	}
	if f.Repeated || f.Type == bigquery.RecordFieldType {
		return inJSON(v, f, f.Repeated)
	}
	switch v := v.(type) {
	case int64, float64, bool, string, []byte, time.Time:
		return v, nil
	case *big.Rat:
		return decimal(v), nil
	case civil.Date:
		return v.String(), nil
	case civil.Time:
		return clock(v), nil
	case civil.DateTime:
		return v.Date.String() + " " + clock(v.Time), nil
	case *bigquery.IntervalValue:
		return v.String(), nil
	case *bigquery.RangeValue:
		ends := [2]string{"UNBOUNDED", "UNBOUNDED"}
		for i, end := range []bigquery.Value{v.Start, v.End} {
			if end == nil {
				continue
			}
			text, err := plain(end, &bigquery.FieldSchema{})
			if err != nil {
				return nil, err
			}
			if t, ok := text.(time.Time); ok {
				text = moment(t)
			}
			ends[i] = fmt.Sprint(text)
		}
		return "[" + ends[0] + ", " + ends[1] + ")", nil
	}
	return nil, fmt.Errorf("bigquery: the client gave a %T for a %s", v, typeName(f))
}

// decimal writes a NUMERIC or BIGNUMERIC, which has 38 digits behind its point at most.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(38), "0")
}

func clock(t civil.Time) string {
	return time.Date(1, 1, 1, t.Hour, t.Minute, t.Second, t.Nanosecond, time.UTC).Format("15:04:05.999999999")
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999999Z") }

// inJSON writes an ARRAY, a STRUCT, or a value in one.
func inJSON(v bigquery.Value, f *bigquery.FieldSchema, repeated bool) (string, error) {
	record := !repeated && f.Type == bigquery.RecordFieldType
	list, isList := v.([]bigquery.Value)
	switch {
	case v == nil:
		return "null", nil
	case !repeated && !record:
		return scalar(v, f)
	case !isList || record && len(list) != len(f.Schema):
		return "", fmt.Errorf("bigquery: the client gave a %T for a %s", v, typeName(f))
	}
	parts := make([]string, len(list))
	for i, element := range list {
		of, name := f, ""
		if record {
			of = f.Schema[i]
			name = inQuotes(of.Name) + ":"
		}
		text, err := inJSON(element, of, record && of.Repeated)
		if err != nil {
			return "", err
		}
		parts[i] = name + text
	}
	if record {
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func scalar(v bigquery.Value, f *bigquery.FieldSchema) (string, error) {
	p, err := plain(v, &bigquery.FieldSchema{Type: f.Type})
	switch p := p.(type) {
	case time.Time:
		return inQuotes(moment(p)), nil
	case []byte:
		return inQuotes(base64.StdEncoding.EncodeToString(p)), nil
	case float64:
		if math.IsNaN(p) || math.IsInf(p, 0) {
			return inQuotes(fmt.Sprint(p)), nil
		}
	case string:
		var b bytes.Buffer
		switch {
		case f.Type == bigquery.NumericFieldType || f.Type == bigquery.BigNumericFieldType:
			return p, nil
		case f.Type == bigquery.JSONFieldType && json.Compact(&b, []byte(p)) == nil:
			return b.String(), nil
		}
		return inQuotes(p), nil
	}
	return fmt.Sprint(p), err
}

// inQuotes writes a JSON string, without the escapes that are for HTML.
func inQuotes(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text can be written
	return strings.TrimSuffix(b.String(), "\n")
}

// kinds are those of the types that have one.
var kinds = map[string]result.Kind{
	"BOOL": result.KindBool, "INT64": result.KindInt, "FLOAT64": result.KindFloat, "NUMERIC": result.KindDecimal,
	"BIGNUMERIC": result.KindDecimal, "STRING": result.KindText, "BYTES": result.KindBlob, "DATE": result.KindDate,
	"TIME":     result.KindTime,
	"DATETIME": result.KindDateTime, "TIMESTAMP": result.KindInstant, "INTERVAL": result.KindInterval,
	"JSON":  result.KindJSON,
	"ARRAY": result.KindList, "STRUCT": result.KindList,
}

// typeOf is the type of a column as GoogleSQL names it. The client does not tell the zeros behind a NUMERIC, so its
// scale is that of each value; a TIMESTAMP has no zone but UTC.
func typeOf(_ int, c *sql.ColumnType) result.Type {
	name := c.DatabaseTypeName()
	plain, _, _ := strings.Cut(name, "(")
	plain, _, _ = strings.Cut(plain, "<")
	t := result.Type{Name: name, Kind: kinds[plain]}
	switch t.Kind {
	case result.KindDecimal:
		t.Scale = -1
	case result.KindInstant:
		t.Zone = "UTC"
	}
	return t
}

// converter makes the values of a column what a result holds: exact numbers are result.Decimal, and a TIMESTAMP is text
// in UTC with a Z.
func converter(_ int, c *sql.ColumnType) func(any) (any, error) {
	kind, _, _ := strings.Cut(c.DatabaseTypeName(), "(")
	switch kind {
	case "NUMERIC", "BIGNUMERIC":
		return func(v any) (any, error) {
			if text, ok := v.(string); ok {
				return result.Type{Kind: result.KindDecimal}.ParseNumber(text)
			}
			return v, nil
		}
	case "TIMESTAMP":
		return func(v any) (any, error) {
			if t, ok := v.(time.Time); ok {
				return moment(t), nil
			}
			return v, nil
		}
	}
	return nil
}
