package schema

import "github.com/texttosql/texttosql/internal/words"

// EqualFold reports whether two names are the same to an SQL engine: ASCII letters are compared without case, all else
// byte by byte. (strings.EqualFold takes the Kelvin sign for a k.)
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

// Fold returns a name with its ASCII letters in lower case. Names that are [EqualFold] fold to the same text. Offsets
// in it are offsets in name.
func Fold(name string) string { return words.LowerASCII(name) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
