package result

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Fingerprint returns 32 hexadecimal digits. Two tables have the same digits exactly if [Equality.Equal] holds. They
// are the same in every process, so they can be stored. Fingerprints of different equalities are never equal. ok is
// false, and fp empty, for a nil or truncated table.
//
// The exception is a collision of 128 bits of SHA-256, which nobody can construct. A sum of cheap row hashes would be
// faster, but with it an author of the data could make two different results equal.
func (e Equality) Fingerprint(t *Table) (fp string, ok bool) {
	if !known(t) {
		return "", false
	}
	h := sha256.New()
	enc := encoder{digits: e.Digits, types: t.Types}
	if e.Digits < 0 || e.Digits >= 17 { // a float64 has at most 17 significant digits
		enc.digits = 0
	}
	enc.buf = append(enc.buf, version, e.mode(), byte(enc.digits), 0)
	enc.buf = binary.LittleEndian.AppendUint64(enc.buf, uint64(len(t.Columns)))
	flush := func(size int) {
		if len(enc.buf) >= size {
			h.Write(enc.buf)
			enc.buf = enc.buf[:0]
		}
	}
	const chunk = 8 << 10
	// a bag of one row has an order; most results are one row
	if mode := e.mode(); mode == ordered || mode == bag && len(t.Rows) == 1 {
		for _, row := range t.Rows {
			enc.row(row)
			flush(chunk)
		}
	} else {
		flush(0)
		rows := enc.rowHashes(t.Rows)
		slices.SortFunc(rows, func(a, b rowHash) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) })
		if e.mode() == set {
			rows = slices.Compact(rows)
		}
		enc.buf = slices.Grow(enc.buf, min(16*len(rows), chunk))
		for _, r := range rows {
			enc.buf = binary.LittleEndian.AppendUint64(enc.buf, r.hi)
			enc.buf = binary.LittleEndian.AppendUint64(enc.buf, r.lo)
			flush(chunk)
		}
	}
	flush(0)
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:16]), true
}

// version is the first byte that is hashed. It changes with the encoding, so that stored fingerprints of another
// version match nothing.
const version = 1

// rowHash is half of the SHA-256 of one encoded row.
type rowHash struct{ hi, lo uint64 }

// encoder writes cells so that cells have equal bytes if, and only if, they are equal.
type encoder struct {
	buf    []byte
	digits int
	types  []Type // of the columns
}

// rowHashes hashes every row by itself, in the empty buffer.
func (x *encoder) rowHashes(rows [][]any) []rowHash {
	out := make([]rowHash, len(rows))
	for i, row := range rows {
		x.row(row)
		sum := sha256.Sum256(x.buf)
		out[i] = rowHash{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])}
		x.buf = x.buf[:0]
	}
	return out
}

// row appends one row: its length, so that rows never run into one another, then its cells.
func (x *encoder) row(row []any) {
	x.buf = binary.AppendUvarint(x.buf, uint64(len(row)))
	for i, v := range row {
		if i < len(x.types) && x.types[i].Kind == KindInstant {
			v = x.types[i].Plain(v)
		}
		x.cell(v)
	}
}

// Tags of encoded cells.
const (
	tagNull    = 0
	tagInt     = 1
	tagFloat   = 2 // a float that is not a whole int64
	tagText    = 3
	tagBlob    = 4
	tagOther   = 5
	tagDecimal = 6 // one that equals no float64
)

func (x *encoder) cell(v any) {
	switch v := v.(type) {
	case nil:
		x.buf = append(x.buf, tagNull)
	case int64:
		x.int(v)
	case float64:
		x.float(v)
	case string:
		x.buf = appendBytes(x.buf, tagText, v)
	case []byte:
		x.buf = appendBytes(x.buf, tagBlob, v)
	case Decimal:
		x.decimal(v)
	case int:
		x.int(int64(v))
	case int32:
		x.int(int64(v))
	case bool:
		// true is 1, as where an engine has no booleans
		if v {
			x.int(1)
		} else {
			x.int(0)
		}
	default: // a value that a caller put there is compared by its type and print
		x.buf = appendBytes(x.buf, tagOther, fmt.Sprintf("%T %v", v, v))
	}
}

func appendBytes[T string | []byte](b []byte, tag byte, v T) []byte {
	return append(binary.AppendUvarint(append(b, tag), uint64(len(v))), v...)
}

func (x *encoder) int(v int64) {
	x.buf = append(x.buf, tagInt)
	x.buf = binary.LittleEndian.AppendUint64(x.buf, uint64(v))
}

func (x *encoder) float(f float64) {
	i, whole := wholeInt64(f)
	if !whole && x.digits > 0 {
		f = roundDigits(f, x.digits)
		i, whole = wholeInt64(f)
	}
	if whole {
		x.int(i)
		return
	}
	bits := math.Float64bits(f)
	if f != f {
		bits = math.Float64bits(math.NaN()) // there are many NaNs
	}
	x.buf = append(x.buf, tagFloat)
	x.buf = binary.LittleEndian.AppendUint64(x.buf, bits)
}

// wholeInt64 returns f as an int64 if both are the same number.
func wholeInt64(f float64) (int64, bool) {
	// 2^63 is a float64 and not an int64; -2^63 is both.
	if f >= -1<<63 && f < 1<<63 {
		if i := int64(f); float64(i) == f {
			return i, true
		}
	}
	return 0, false
}

// roundDigits rounds f to digits significant digits, but no digit before the decimal point of a number below 2^63.
func roundDigits(f float64, digits int) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	if a := math.Abs(f); a >= 1 && a < 1<<63 {
		// f has a fraction, so a < 2^53 and the power is exact: ten digits before the point if a >= 1e9.
		whole := 1
		for p := 10.0; p <= a && whole < 17; p *= 10 {
			whole++
		}
		if whole >= digits {
			return math.Round(f)
		}
	}
	var b [32]byte
	r, err := strconv.ParseFloat(string(strconv.AppendFloat(b[:0], f, 'e', digits-1, 64)), 64)
	if err != nil { // rounding up left the range of float64
		return f
	}
	return r
}
