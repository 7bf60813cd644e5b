package result

// Mode says what about the rows of a result matters when two are compared.
// Column names never do; the number of columns always does.
type Mode uint8

// The modes.
const (
	// Bag compares rows with their multiplicities and ignores their order: SQL
	// promises none without ORDER BY. It is the zero value and the mode of votes.
	Bag Mode = iota
	// Set ignores multiplicities too, as BIRD's scorer does.
	Set
	// Ordered compares row by row, for questions that ask for an order.
	Ordered
)

// String returns "bag", "set" or "ordered".
func (m Mode) String() string {
	switch m {
	case Bag:
		return "bag"
	case Set:
		return "set"
	case Ordered:
		return "ordered"
	}
	return "unknown"
}

// Equality is one definition of "the same result".
//
// Two tables are equal when both are known in full (neither nil nor Truncated),
// have the same number of columns and, in the sense of Mode, the same rows. Two
// cells are equal when
//   - both are NULL;
//   - both are numbers of the same value, whatever their types: 1 equals 1.0,
//     -0 equals 0, 9007199254740993 does not equal 9007199254740992.0 (nothing is
//     converted to a float first), NaN equals NaN;
//   - both are text, or both are blobs, of the same bytes: no case folding, no
//     trimming, no Unicode normalisation. NULL is not the empty text, text '1' is not the
//     number 1, and the text 'a' is not the blob x'61'.
//
// The relation is an equivalence, and it holds exactly when the two
// fingerprints of [Equality.Fingerprint] are equal.
//
// The zero Equality is exact and compares bags. Safe for concurrent use.
type Equality struct {
	Mode Mode // what of the rows matters

	// Digits rounds floats to that many significant digits before they are
	// compared, because the same average computed in another order differs in
	// its last bits. 0 or less, or 17 and more, is exact. Whole numbers are
	// never rounded, nor is the whole part of any number below 2^63, so that
	// keys stay apart: at 3 digits 12345.678 is 12346. Votes use 9; scoring is
	// exact. Two numbers on either side of a rounding border stay different.
	Digits int
}

// Equal reports whether a and b are the same result under e. A nil or truncated
// table equals nothing, itself included: its missing rows are not known.
//
// It costs two fingerprints, unless the shapes differ already.
func (e Equality) Equal(a, b *Table) bool {
	if !known(a) || !known(b) || len(a.Columns) != len(b.Columns) {
		return false
	}
	if e.Mode != Set && len(a.Rows) != len(b.Rows) {
		return false
	}
	fa, _ := e.Fingerprint(a)
	fb, _ := e.Fingerprint(b)
	return fa == fb
}

// Equal reports whether a and b are the same bag of rows, exactly. It is
// Equality{}.Equal.
func Equal(a, b *Table) bool { return Equality{}.Equal(a, b) }

// known reports whether t is known in full.
func known(t *Table) bool { return t != nil && !t.Truncated }
