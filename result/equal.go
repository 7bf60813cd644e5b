package result

// Equality defines "the same result". Two tables are equal if neither is nil, Truncated or Cut, and if they have the
// same number of columns and the same rows. Each row must occur equally often, in any order, unless Set or Ordered is
// set. Column names never matter. Two cells are equal if
//   - both are NULL;
//   - both are numbers of the same value, whatever their types ([Decimal] defines when one equals a float). So 1
//     equals
//     1.0, -0 equals 0, and NaN equals NaN. 9007199254740993 does not equal 9007199254740992.0, because nothing is
//     converted to a float first;
//   - both are text, or both are blobs, with the same bytes: no case folding, no trimming, no Unicode normalisation.
//     NULL is not the empty text, the text '1' is not the number 1, and the text 'a' is not the blob x'61'.
//
// The relation is an equivalence. It holds exactly if the fingerprints of [Equality.Fingerprint] are equal. The zero
// Equality is exact and compares bags. Safe for concurrent use.
type Equality struct {
	Set     bool // the number of equal rows does not matter, as in BIRD's scorer
	Ordered bool // rows are compared one by one, for questions that ask for an order; Set has no effect then

	// Digits is the number of significant digits to which floats are rounded before they are compared, because the same
	// average computed in another order differs in its last bits. 0 or less, or 17 and more, is exact. Whole numbers
	// are never rounded, nor is the whole part of a number below 2^63, so that keys stay different: with 3 digits
	// 12345.678 is 12346. Votes use 9; scoring is exact. Two close numbers may still differ if they round to
	// different values.
	Digits int
}

// Equal reports whether a and b are the same result under e. A nil or truncated table does not even equal itself,
// because its missing rows are not known. It takes two fingerprints, unless the shapes already differ.
func (e Equality) Equal(a, b *Table) bool {
	if !known(a) || !known(b) || len(a.Columns) != len(b.Columns) {
		return false
	}
	if e.mode() != set && len(a.Rows) != len(b.Rows) {
		return false
	}
	fa, _ := e.Fingerprint(a)
	fb, _ := e.Fingerprint(b)
	return fa == fb
}

// mode is the byte of a fingerprint that tells how rows are compared.
func (e Equality) mode() byte {
	switch {
	case e.Ordered:
		return ordered
	case e.Set:
		return set
	}
	return bag
}

const (
	bag byte = iota
	set
	ordered
)

// known reports whether all rows of t are known.
func known(t *Table) bool { return t != nil && !t.Truncated && !t.Cut }
