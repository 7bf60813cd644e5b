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

// Fingerprint returns a short name for the rows of t: 32 hexadecimal digits
// that two tables share exactly when [Equality.Equal] holds. It is the same in
// every process, so it can be stored. Fingerprints of different equalities are
// never equal.
//
// ok is false, and fp empty, for a nil or truncated table: it equals nothing.
//
// "Exactly" is up to a collision of 128 bits of SHA-256, which nobody knows how
// to cause; a sum of cheap row hashes would be faster, but whoever controls the
// data could make two results collide.
func (e Equality) Fingerprint(t *Table) (fp string, ok bool) {
	if !known(t) {
		return "", false
	}
	enc := encoder{digits: e.digits()}
	head := [4]byte{version, byte(e.Mode), byte(enc.digits)}
	enc.buf = append(enc.buf, head[:]...)
	enc.buf = binary.LittleEndian.AppendUint64(enc.buf, uint64(len(t.Columns)))

	if e.Mode == Ordered || e.Mode == Bag && len(t.Rows) == 1 {
		// A bag of one row has an order; most results are one row. Large ones go
		// through the hash in pieces.
		h := sha256.New()
		for _, row := range t.Rows {
			enc.row(row)
			if len(enc.buf) >= 8<<10 {
				h.Write(enc.buf)
				enc.buf = enc.buf[:0]
			}
		}
		h.Write(enc.buf)
		var sum [sha256.Size]byte
		return hex.EncodeToString(h.Sum(sum[:0])[:16]), true
	}

	rows := enc.rowHashes(t.Rows)
	slices.SortFunc(rows, rowHash.compare)
	if e.Mode == Set {
		rows = slices.Compact(rows)
	}
	h := sha256.New()
	h.Write(enc.buf[:len(head)+8])
	chunk := make([]byte, 0, 8<<10)
	for _, r := range rows {
		chunk = binary.LittleEndian.AppendUint64(chunk, r.hi)
		chunk = binary.LittleEndian.AppendUint64(chunk, r.lo)
		if len(chunk) == cap(chunk) {
			h.Write(chunk)
			chunk = chunk[:0]
		}
	}
	h.Write(chunk)
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:16]), true
}

// version is the first byte of what is hashed. It changes with the encoding, so
// that fingerprints stored by another version match nothing.
const version = 1

// digits returns the rounding in force: 0 for exact.
func (e Equality) digits() int {
	// A float64 has at most 17 significant digits.
	if e.Digits <= 0 || e.Digits >= 17 {
		return 0
	}
	return e.Digits
}

// rowHash is half of the SHA-256 of one encoded row.
type rowHash struct{ hi, lo uint64 }

func (a rowHash) compare(b rowHash) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// encoder writes cells so that equal cells, and only those, have equal bytes.
type encoder struct {
	buf    []byte
	digits int
}

// rowHashes hashes every row by itself. The buffer's present content stays.
func (x *encoder) rowHashes(rows [][]any) []rowHash {
	out := make([]rowHash, len(rows))
	keep := len(x.buf)
	for i, row := range rows {
		x.row(row)
		sum := sha256.Sum256(x.buf[keep:])
		out[i] = rowHash{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])}
		x.buf = x.buf[:keep]
	}
	return out
}

// row appends one row: its length, so that rows never run into one another,
// then its cells.
func (x *encoder) row(row []any) {
	x.buf = binary.AppendUvarint(x.buf, uint64(len(row)))
	for _, v := range row {
		x.cell(v)
	}
}

// Tags of encoded cells.
const (
	tagNull  = 0
	tagInt   = 1
	tagFloat = 2 // a float that is no int64
	tagText  = 3
	tagBlob  = 4
	tagOther = 5
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
		x.buf = append(x.buf, tagText)
		x.buf = binary.AppendUvarint(x.buf, uint64(len(v)))
		x.buf = append(x.buf, v...)
	case []byte:
		x.buf = append(x.buf, tagBlob)
		x.buf = binary.AppendUvarint(x.buf, uint64(len(v)))
		x.buf = append(x.buf, v...)
	case int:
		x.int(int64(v))
	case int32:
		x.int(int64(v))
	case bool:
		// SQLite has no booleans: true is 1.
		if v {
			x.int(1)
		} else {
			x.int(0)
		}
	default:
		// A Table holds nothing else; a value of another type that a caller put
		// there is compared by type and print.
		s := fmt.Sprintf("%T %v", v, v)
		x.buf = append(x.buf, tagOther)
		x.buf = binary.AppendUvarint(x.buf, uint64(len(s)))
		x.buf = append(x.buf, s...)
	}
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
		bits = math.Float64bits(math.NaN()) // one of the many NaNs stands for all
	}
	x.buf = append(x.buf, tagFloat)
	x.buf = binary.LittleEndian.AppendUint64(x.buf, bits)
}

// wholeInt64 returns f as an int64 where the two are the same number.
func wholeInt64(f float64) (int64, bool) {
	// 2^63 itself is a float64 and no int64; -2^63 is both.
	if f >= -1<<63 && f < 1<<63 {
		if i := int64(f); float64(i) == f {
			return i, true
		}
	}
	return 0, false
}

// roundDigits rounds f to digits significant digits, but no digit before the
// decimal point of a number below 2^63.
func roundDigits(f float64, digits int) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	if a := math.Abs(f); a >= 1 && a < 1<<63 {
		// Only numbers with a fraction come here, so a < 2^53 and the power is
		// exact: ten digits before the point when a >= 1e9.
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
	if err != nil {
		// Rounding up can leave the range of float64.
		return f
	}
	return r
}
