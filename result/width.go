package result

import "unicode"

// textWidth returns the number of terminal columns of s.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns the number of terminal columns of r: 0, 1 or 2. Terminals differ on ambiguous characters, which
// count 1 here, and on emoji joined by U+200D, of which each part counts.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r >= 0x1160 && r <= 0x11ff, // Hangul vowels and finals combine with their initial
		r == 0x200c, r == 0x200d,
		unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case isWide(r):
		return 2
	}
	return 1
}

// isWide reports whether r is East Asian Wide or Fullwidth (Unicode 16, EastAsianWidth.txt), which includes the
// characters shown as emoji by default. Ranges are joined if only unassigned characters lie between them.
func isWide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115f: // Hangul initials
		return true
	case r < 0x2e80:
		return wideSymbol(r)
	case r <= 0xa4cf: // CJK radicals to Yi, but for the ideographic half fill space
		return r != 0x303f
	case r < 0xa960:
		return false
	case r <= 0xa97c, // Hangul Jamo Extended-A
		r >= 0xac00 && r <= 0xd7a3, // Hangul syllables
		r >= 0xf900 && r <= 0xfaff, // CJK compatibility ideographs
		r >= 0xfe10 && r <= 0xfe19, // vertical forms
		r >= 0xfe30 && r <= 0xfe6f, // CJK compatibility and small forms
		r >= 0xff01 && r <= 0xff60, // fullwidth forms
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x16fe0 && r <= 0x18dff, // Tangut, Khitan
		r >= 0x1aff0 && r <= 0x1b2ff: // Kana supplements, Nushu
		return true
	case r < 0x1f000:
		return false
	case r < 0x20000:
		return wideEmoji(r)
	}
	return r <= 0x3fffd // supplementary ideographs
}

// wideSymbol is the part of isWide between U+1160 and U+2E7F.
func wideSymbol(r rune) bool {
	switch r {
	case 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ea, 0x23eb, 0x23ec, 0x23f0, 0x23f3,
		0x25fd, 0x25fe, 0x2614, 0x2615, 0x267f, 0x2693, 0x26a1, 0x26aa, 0x26ab, 0x26bd,
		0x26be, 0x26c4, 0x26c5, 0x26ce, 0x26d4, 0x26ea, 0x26f2, 0x26f3, 0x26f5, 0x26fa,
		0x26fd, 0x2705, 0x270a, 0x270b, 0x2728, 0x274c, 0x274e, 0x2753, 0x2754, 0x2755,
		0x2757, 0x2795, 0x2796, 0x2797, 0x27b0, 0x27bf, 0x2b1b, 0x2b1c, 0x2b50, 0x2b55:
		return true
	}
	return r >= 0x2630 && r <= 0x2637 || r >= 0x2648 && r <= 0x2653 || r >= 0x268a && r <= 0x268f
}

// wideEmoji is the part of isWide between U+1F000 and U+1FFFF.
func wideEmoji(r rune) bool {
	switch r {
	case 0x1f004, 0x1f0cf, 0x1f18e, 0x1f3f4, 0x1f440, 0x1f57a, 0x1f595, 0x1f596, 0x1f5a4,
		0x1f6cc, 0x1f6d0, 0x1f6d1, 0x1f6d2, 0x1f6eb, 0x1f6ec, 0x1f7f0:
		return true
	}
	return r >= 0x1f191 && r <= 0x1f19a || r >= 0x1f200 && r <= 0x1f265 ||
		r >= 0x1f300 && r <= 0x1f320 || r >= 0x1f32d && r <= 0x1f335 ||
		r >= 0x1f337 && r <= 0x1f37c || r >= 0x1f37e && r <= 0x1f393 ||
		r >= 0x1f3a0 && r <= 0x1f3ca || r >= 0x1f3cf && r <= 0x1f3d3 ||
		r >= 0x1f3e0 && r <= 0x1f3f0 || r >= 0x1f3f8 && r <= 0x1f43e ||
		r >= 0x1f442 && r <= 0x1f4fc || r >= 0x1f4ff && r <= 0x1f53d ||
		r >= 0x1f54b && r <= 0x1f54e || r >= 0x1f550 && r <= 0x1f567 ||
		r >= 0x1f5fb && r <= 0x1f64f || r >= 0x1f680 && r <= 0x1f6c5 ||
		r >= 0x1f6d5 && r <= 0x1f6d7 || r >= 0x1f6dc && r <= 0x1f6df ||
		r >= 0x1f6f4 && r <= 0x1f6fc || r >= 0x1f7e0 && r <= 0x1f7eb ||
		r >= 0x1f90c && r <= 0x1f93a || r >= 0x1f93c && r <= 0x1f945 ||
		r >= 0x1f947 && r <= 0x1f9ff || r >= 0x1fa70 && r <= 0x1faff
}
