package result

// Mode says what matters when the rows of two results are compared. Column names never matter; the number of columns
// always does.
type Mode uint8

// The modes.
const (
	Bag     Mode = iota // how often each row occurs matters, its place does not; the mode of votes
	Set                 // only which rows occur matters, as in BIRD's scorer
	Ordered             // rows are compared one by one, for questions that ask for an order
)

// String returns "bag", "set" or "ordered".
func (m Mode) String() string {
	if m > Ordered {
		return "unknown"
	}
	return [...]string{"bag", "set", "ordered"}[m]
}

// Equality defines "the same result". Two tables are equal if neither is nil or Truncated, and if they have the same number
// of columns and, in the sense of Mode, the same rows. Two cells are equal if
//   - both are NULL;
//   - both are numbers of the same value, whatever their types ([Decimal] says when one equals a float): 1 equals 1.0, -0 equals 0, NaN equals NaN, and
//     9007199254740993 does not equal 9007199254740992.0, because nothing is converted to a float first;
//   - both are text, or both are blobs, with the same bytes: no case folding, no trimming, no Unicode normalisation. NULL
//     is not the empty text, the text '1' is not the number 1, and the text 'a' is not the blob x'61'.
//
// The relation is an equivalence. It holds exactly if the fingerprints of [Equality.Fingerprint] are equal. The zero
// Equality is exact and compares bags. Safe for concurrent use.
type Equality struct {
	Mode Mode // what matters about the rows

	// Digits is the number of significant digits to which floats are rounded before they are compared, because the same
	// average computed in another order differs in its last bits. 0 or less, or 17 and more, is exact. Whole numbers
	// are never rounded, nor is the whole part of a number below 2^63, so that keys stay apart: with 3 digits 12345.678
	// is 12346. Votes use 9, scoring is exact. Two close numbers on either side of a rounding border stay different.
	Digits int
}

// Equal reports whether a and b are the same result under e. A nil or truncated table does not even equal itself,
// because its missing rows are not known. It takes two fingerprints, unless the shapes already differ.
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

// Equal reports whether a and b are exactly the same bag of rows. It is Equality{}.Equal.
func Equal(a, b *Table) bool { return Equality{}.Equal(a, b) }

// known reports whether all rows of t are known.
func known(t *Table) bool { return t != nil && !t.Truncated }
