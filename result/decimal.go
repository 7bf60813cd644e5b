package result

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Decimal is an exact number from an engine's NUMERIC or DECIMAL. It is a whole number, or digits with a point and
// the zeros that the database returns ("1.10", "100.00", "-12.5"). [Type.ParseNumber] makes one. Decimals with the
// same value are equal, whatever their zeros: see [Type.Plain].
//
// A Decimal equals a float64 if it is the shortest decimal text of that float. So the decimal 0.1 equals the float
// 0.1, although that float is slightly more than a tenth.
type Decimal string

// Decimal returns the text of d.
func (d Decimal) Decimal() string { return string(d) }

// decimalText is a number as engines write it.
var decimalText = regexp.MustCompile(`^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?$`)

// maxDecimal is how many digits a number may have: PostgreSQL has the longest ones.
const maxDecimal = 1 << 18

// ParseNumber reads the text of an exact number from a column of type t. For a KindDecimal it keeps the digits:
// "1.10" is the Decimal 1.10, and "100" is the Decimal 100; zeros in front and a plus are left out. For other kinds
// it returns an int64 if the number is whole and fits, otherwise a Decimal. So 1, 1.0 and 1.00 are the same int64.
// "NaN", "Infinity" and "-Infinity" are float64.
func (t Type) ParseNumber(text string) (any, error) {
	if t.Kind == KindDecimal {
		return parseDecimal(text)
	}
	return parseNumber(text)
}

// parseDecimal keeps the digits of a number.
func parseDecimal(text string) (any, error) {
	if kept(text) {
		return Decimal(text), nil
	}
	v, err := parseNumber(text)
	if _, special := v.(float64); err != nil || special || strings.ContainsAny(text, "eE") {
		return v, err
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	whole = strings.TrimLeft(whole, "0")
	whole += zeroIf(whole == "")
	if text[0] == '-' {
		whole = "-" + whole
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return Decimal(whole), nil
}

// kept reports whether a number stands as parseDecimal would write it. Most numbers of a database do.
func kept(text string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if whole == "" || len(whole) > 1 && whole[0] == '0' || point && fraction == "" || len(text) > maxDecimal {
		return false
	}
	return digits(whole) && digits(fraction)
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// parseNumber returns the one value that stands for a number.
func parseNumber(text string) (any, error) {
	switch text {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	if len(text) > maxDecimal || !decimalText.MatchString(text) {
		return nil, fmt.Errorf("result: %.40q is no decimal number", text)
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		text = shifted(text[:at], text[at+1:])
	}
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if fraction == "" {
		if i, err := strconv.ParseInt(sign+whole+zeroIf(whole == ""), 10, 64); err == nil {
			return i, nil
		}
		return Decimal(sign + whole), nil
	}
	return Decimal(sign + whole + zeroIf(whole == "") + "." + fraction), nil
}

func zeroIf(empty bool) string {
	if empty {
		return "0"
	}
	return ""
}

// shifted writes a number with an exponent without it.
func shifted(digits, exponent string) string {
	r, _ := new(big.Rat).SetString(digits + "e" + exponent) // the text is that of a number
	_, fraction, _ := strings.Cut(digits, ".")
	e, _ := strconv.Atoi(exponent)
	return r.FloatString(max(len(fraction)-e, 0))
}

// float returns the float64 that d equals, if there is one. d is as parseNumber makes it.
func (d Decimal) float() (float64, bool) {
	f, err := strconv.ParseFloat(string(d), 64)
	return f, err == nil && strconv.FormatFloat(f, 'f', -1, 64) == string(d)
}

// decimal appends a Decimal so that it equals the float64 and the int64 of the same value. Rounding makes a float64 of
// a fraction; a whole number is never rounded.
func (x *encoder) decimal(d Decimal) {
	v := d.plain()
	if i, whole := v.(int64); whole {
		x.int(i)
		return
	}
	d, _ = v.(Decimal)
	f, same := d.float()
	if same || x.digits > 0 && strings.Contains(string(d), ".") {
		x.float(f)
		return
	}
	x.buf = appendBytes(x.buf, tagDecimal, string(d))
}
