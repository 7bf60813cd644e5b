package schema

import "github.com/texttosql/texttosql/internal/words"

// EqualFold reports whether two names are the same to an SQL engine: the case of ASCII letters is ignored, and all
// other bytes must be equal. (For strings.EqualFold the Kelvin sign equals k.)
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// FoldCase returns a name with its ASCII letters in lower case. Names that are [EqualFold] give the same text. An
// offset in the text is also an offset in name.
func FoldCase(name string) string { return words.LowerASCII(name) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
