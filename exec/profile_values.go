package exec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/schema"
)

// summarize makes the profile of one column of a sample.
func summarize(sample RowSample, column int, o ProfileOptions) *schema.Profile {
	p := &schema.Profile{Sampled: int64(len(sample.Rows)), Complete: sample.Complete}
	counts := make(map[any]*schema.Value)
	var values []*schema.Value
	for _, row := range sample.Rows {
		v := row[column]
		if v == nil {
			p.Nulls++
			continue
		}
		key := valueKey(v)
		if seen, ok := counts[key]; ok {
			seen.Count++
			continue
		}
		value := &schema.Value{Value: v, Count: 1}
		counts[key] = value
		values = append(values, value)
	}
	p.Distinct = int64(len(values))
	if len(values) == 0 {
		return p
	}
	slices.SortFunc(values, func(a, b *schema.Value) int { return compareValues(a.Value, b.Value) })
	if v := values[0].Value; !isLong(v) {
		p.Min = v
	}
	if v := values[len(values)-1].Value; !isLong(v) {
		p.Max = v
	}
	values = slices.DeleteFunc(values, func(v *schema.Value) bool { return isLong(v.Value) })
	p.Top = topValues(values, o.Top)
	p.Examples = examples(values, p.Top, o)
	return p
}

// blobKey keeps a blob apart from the text with the same bytes.
type blobKey string

// valueKey returns what is equal for equal values: an integral float is the
// integer.
func valueKey(v any) any {
	switch v := v.(type) {
	case []byte:
		return blobKey(v)
	case float64:
		if v == math.Trunc(v) && v >= -(1<<63) && v < 1<<63 {
			return int64(v)
		}
	}
	return v
}

// compareValues orders as SQLite does: numbers, then texts by bytes, then blobs.
func compareValues(a, b any) int {
	ra, rb := valueRank(a), valueRank(b)
	if ra != rb {
		return ra - rb
	}
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
		return -compareFloatInt(b.(float64), a)
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
		return compareFloatInt(a, b.(int64))
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b)
		}
	case []byte:
		if b, ok := b.([]byte); ok {
			return bytes.Compare(a, b)
		}
	}
	return 0
}

// compareFloatInt compares without losing the low digits of a large integer.
func compareFloatInt(f float64, i int64) int {
	switch {
	case f >= 1<<63:
		return 1
	case f < -(1<<63) || math.IsNaN(f):
		return -1
	}
	if c := cmp.Compare(int64(f), i); c != 0 {
		return c
	}
	return cmp.Compare(f, math.Trunc(f))
}

func valueRank(v any) int {
	switch v.(type) {
	case int64, float64:
		return 1
	case string:
		return 2
	}
	return 3
}

// isLong says that only the start of a value was read.
func isLong(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) >= longValue && utf8.RuneCountInString(v) >= longValue
	case []byte:
		return len(v) >= longValue
	}
	return false
}

// topValues returns the n most frequent of values, which are in engine order.
// Values that occur once say nothing as long as there are many of them.
func topValues(values []*schema.Value, n int) []schema.Value {
	all := len(values) <= n
	var top []schema.Value
	for _, v := range values {
		if all || v.Count > 1 {
			top = append(top, *v)
		}
	}
	slices.SortStableFunc(top, func(a, b schema.Value) int { return cmp.Compare(b.Count, a.Count) })
	return slices.Clip(top[:min(n, len(top))])
}

// examples chooses values that show what a column holds: frequent ones for half
// of the places, then values that look different from those chosen before.
// values are in engine order.
func examples(values []*schema.Value, top []schema.Value, o ProfileOptions) []any {
	var short []any
	for _, v := range values {
		if isExample(v.Value, o.ExampleRunes) {
			short = append(short, v.Value)
		}
	}
	if len(short) <= o.Examples {
		return short
	}
	var (
		out    []any
		chosen = make(map[any]bool)
		shapes = make(map[string]bool)
		add    = func(v any) {
			out = append(out, v)
			chosen[valueKey(v)] = true
			shapes[shape(v)] = true
		}
	)
	for _, v := range top {
		if len(out) == (o.Examples+1)/2 {
			break
		}
		if v.Count > 1 && isExample(v.Value, o.ExampleRunes) {
			add(v.Value)
		}
	}
	// A hash with the seed puts the rest into an order that has nothing to do
	// with their values, and is the same each time.
	slices.SortStableFunc(short, func(a, b any) int { return cmp.Compare(seededHash(o.Seed, a), seededHash(o.Seed, b)) })
	for _, onlyNewShapes := range []bool{true, false} {
		for _, v := range short {
			if len(out) == o.Examples {
				return out
			}
			if !chosen[valueKey(v)] && !(onlyNewShapes && shapes[shape(v)]) {
				add(v)
			}
		}
	}
	return out
}

// isExample reports whether a value is fit to be shown: numbers and short texts,
// no blobs, no empty text.
func isExample(v any, maxRunes int) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) != "" && utf8.ValidString(v) && utf8.RuneCountInString(v) <= maxRunes &&
			strings.IndexFunc(v, unicode.IsControl) < 0
	case []byte:
		return false
	}
	return true
}

// shape is what a value looks like: runs of letters become a, runs of digits 9,
// the rest stays. Numbers differ by sign and by having a fraction.
func shape(v any) string {
	switch v := v.(type) {
	case int64:
		if v < 0 {
			return "-int"
		}
		return "int"
	case float64:
		if v < 0 {
			return "-float"
		}
		return "float"
	case string:
		var (
			b    strings.Builder
			last rune
		)
		for _, r := range v {
			switch {
			case unicode.IsLetter(r):
				r = 'a'
			case unicode.IsDigit(r):
				r = '9'
			}
			if r != last {
				b.WriteRune(r)
			}
			last = r
		}
		return b.String()
	}
	return ""
}

func seededHash(seed uint64, v any) uint64 {
	h := fnv.New64a()
	var b [8]byte
	write := func(n uint64) {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	write(seed)
	switch v := v.(type) {
	case int64:
		write(uint64(v))
	case float64:
		write(math.Float64bits(v))
	case string:
		h.Write([]byte(v))
	}
	// FNV leaves neighbours close to each other in the high bits, which sort
	// first; the finaliser of splitmix64 spreads them.
	n := h.Sum64()
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
