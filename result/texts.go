package result

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
)

// Texts writes the values of one column for people.
type Texts struct {
	Numeric bool // all values except NULL are numbers, and there is at least one
	Plain   bool // whole numbers are names, such as keys and years: no separators
	Instant bool // the values are times, and each text has its zone

	of      Type
	digits  int  // behind the point
	bare    bool // numbers have no separators: averages of years
	days    bool
	times   bool // all texts are times without a zone
	seconds bool // a time has seconds
}

// Texts returns the writer for a column of t. All numbers of the column have the same number of decimal places: the
// significant ones, or two if computed numbers have many.
func (t *Table) Texts(column int) Texts {
	s := Texts{of: t.typeOf(column), Numeric: true, times: true, days: true}
	s.Plain, s.bare = t.named(column)
	s.Plain = (s.Plain || s.of.Grain != "") && !s.of.Share
	largest, found, onEarth := 0.0, false, coordinate.MatchString(t.Columns[column])
	for _, row := range t.Rows {
		if column >= len(row) || row[column] == nil {
			continue
		}
		found = true
		f, ok := s.of.Number(row[column])
		s.Numeric = s.Numeric && ok
		largest = max(largest, math.Abs(f))
		if onEarth {
			_, rest, _ := strings.Cut(strings.TrimRight(strconv.FormatFloat(f, 'f', 7, 64), "0"), ".")
			s.digits = max(s.digits, len(rest))
		}
		at, ok := moment(row[column])
		s.times = s.times && ok
		s.days = s.days && at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0 && at.Nanosecond() == 0
		s.seconds = s.seconds || at.Second() != 0
	}
	s.Numeric, s.times = s.Numeric && found, s.times && found
	s.Instant = s.of.Kind == KindInstant && s.of.Grain == ""
	for _, row := range t.Rows {
		if s.Numeric && column < len(row) && row[column] != nil {
			s.digits = max(s.digits, meant(s.of.counted(row[column]), largest))
		}
	}
	if s.digits == 1 && largest >= 1 && !s.of.Share {
		s.digits = 2
	}
	return s
}

// named reports whether the numbers of a column name something: keys and codes by the name of the column, parts of a
// time by their values too. bare: they are years with a fraction, as an average has.
func (t *Table) named(column int) (plain, bare bool) {
	name := t.Columns[column]
	if naming.MatchString(name) {
		return true, false
	}
	part, year := timePart.MatchString(name) && !rate.MatchString(name), yearName.MatchString(name)
	if !part && !year {
		return false, false
	}
	least, largest, whole := math.Inf(1), math.Inf(-1), true
	for _, row := range t.Rows {
		if column < len(row) {
			if f, ok := (Type{}).Number(row[column]); ok {
				least, largest, whole = min(least, f), max(largest, f), whole && f == math.Trunc(f)
			}
		}
	}
	within := func(from, to float64) bool { return least >= from && largest <= to }
	switch years := within(1000, 2999); {
	case !part:
		return years && whole, false
	case !whole:
		return false, years && yearly.MatchString(name)
	}
	return largest < 10_000 || within(190_001, 210_053) || within(19_000_101, 21_001_231), false
}

// Names of columns whose whole numbers nobody adds up: of keys and codes, of parts of a time, and of years.
var (
	naming = regexp.MustCompile(`(?i:^id$|[_ ]id$|(^|[_ ])(zip|postcode|postal|phone|code|isbn|ean|sku|nr|upc|gtin|imei)([_ ]|$)|` +
		`(^|[_ ])(barcode|serial|prefix|port|account)$|[_ ](number|no|key)$)|I[dD]$`)
	timePart = regexp.MustCompile(`(?i)(year|quarter|month|week|day|hour)([^ls]|$)`)
	rate     = regexp.MustCompile(`(?i)(^|[_ ])per[_ ]`)
	yearly   = regexp.MustCompile(`(?i)year([^ls]|$)`)
	yearName = regexp.MustCompile(`(?i)^(born|built|founded|established|published|season|vintage)$`)
)

// coordinate are the names of columns of places on earth: seven digits are a centimeter.
var coordinate = regexp.MustCompile(`(?i)(^|[_ ])(lat|lon|lng|latitude|longitude)$`)

// Number returns v as a number for people, for example in charts: a finite number as a float64, and a share in
// percent. ok is false for every other value.
func (t Type) Number(v any) (f float64, ok bool) {
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case float64:
		f = v
	case Decimal:
		var err error
		if f, err = strconv.ParseFloat(string(v), 64); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	if t.Share {
		f = math.Round(1e12*f) / 1e10 // 7, not 7.000000000000001
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

// meant is how many digits behind the point mean something of a number, in a column whose largest one has a size: up to
// two for hundreds and more, four for ones, four that are not zero for less. A computed number of more digits has two,
// and four below one.
func meant(v any, largest float64) int {
	if _, whole := v.(int64); whole {
		return 0
	}
	most := 2
	switch {
	case largest < 1 && largest > 0:
		most = min(12, 3-int(math.Floor(math.Log10(largest))))
	case largest < 100:
		most = 4
	}
	if exact, ok := v.(Decimal); ok {
		_, rest, _ := strings.Cut(string(exact), ".")
		if len(rest) > most {
			rest = strings.TrimRight(rest, "0")
		}
		if len(rest) > most && largest >= 1 {
			return 2
		}
		return min(most, len(rest))
	}
	f, _ := Type{}.Number(v)
	for d := range most + 1 {
		scale := math.Pow(10, float64(d))
		if math.Abs(f-math.Round(f*scale)/scale) <= 1e-11*math.Abs(f) {
			return d
		}
	}
	if largest >= 1 {
		return 2
	}
	return most
}

// counted is Shown, of a share in percent.
func (t Type) counted(v any) any {
	if f, ok := t.Number(v); ok && t.Share {
		return f
	}
	return t.Shown(v)
}

// Text writes a value. Numbers have separators and the significant digits, shares are in percent, and periods have
// their names. Times leave out the part that all values share.
func (s Texts) Text(v any) string {
	if f, ok := s.of.Number(v); ok && s.of.Share {
		s.of = Type{}
		return s.Text(f) + " %"
	}
	switch v := v.(type) {
	case int64:
		switch {
		case s.of.Kind == KindBool, s.Plain:
		case s.digits > 0:
			return s.separated(strconv.FormatInt(v, 10) + "." + strings.Repeat("0", s.digits))
		default:
			return s.separated(strconv.FormatInt(v, 10))
		}
	case float64:
		a := math.Abs(v)
		switch {
		case s.Plain && v == math.Trunc(v):
		case a != 0 && (a < 1e-6 || a >= 1e15 || math.IsInf(v, 0)) || math.IsNaN(v):
			return strconv.FormatFloat(v, 'g', 6, 64)
		case a != 0 && a < math.Pow(10, -float64(s.digits))/2: // not nothing
			return strconv.FormatFloat(v, 'g', 2, 64)
		case s.Numeric:
			return s.separated(strconv.FormatFloat(v, 'f', s.digits, 64))
		}
	case Decimal:
		if s.Plain && !strings.Contains(string(v), ".") {
			return string(v)
		}
		if r, ok := new(big.Rat).SetString(string(v)); ok && len(v) < 100 {
			if text := r.FloatString(s.digits); strings.Trim(text, "-0.") != "" || r.Sign() == 0 {
				return s.separated(text)
			}
		}
	case string:
		if text, ok := s.of.named(v, true); ok {
			return text
		}
		if at, ok := moment(v); ok && s.times && !s.Instant {
			switch {
			case s.days:
				return at.Format(time.DateOnly)
			case s.seconds:
				return at.Format(time.DateTime)
			}
			return at.Format("2006-01-02 15:04")
		}
	}
	return words.Plain(s.of.Shown(v))
}

// separated puts commas between the thousands of a number without an exponent. Zero has no sign.
func (s Texts) separated(text string) string {
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if digits, negative := strings.CutPrefix(whole, "-"); negative {
		whole = digits
		if strings.Trim(text, "-0.") != "" {
			sign = "−"
		}
	}
	for i := len(whole) - 3; i > 0 && !s.bare; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

// moments are the forms of a point in time in UTC, or without a zone. What has another zone stays as it is.
var moments = []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05Z", "2006-01-02T15:04:05", "2006-01-02 15:04",
	"2006-01-02 15:04:05-00", "2006-01-02 15:04:05+00:00"}

// moment reads a point in time; fractions of seconds stay as they are.
func moment(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok || len(text) < 10 || len(text) > 26 || text[4] != '-' || strings.Contains(text, ".") {
		return time.Time{}, false
	}
	at := slices.IndexFunc(moments, func(form string) bool { _, err := time.Parse(form, text); return err == nil })
	if at < 0 {
		return time.Time{}, false
	}
	read, _ := time.Parse(moments[at], text)
	return read, true
}
