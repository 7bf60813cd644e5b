package schema

import (
	"strings"
	"unicode/utf8"
)

// fitCompat looks at the whole text once, as the published form does: over the
// limit no table keeps its samples.
func (f *fitter) fitCompat() {
	f.fit(nil)
	if !f.over {
		return
	}
	for i := range f.n {
		if f.blocks[i].tail != "" {
			f.put(i, f.detail[i], block{body: f.blocks[i].body}, NoRows)
		}
	}
	f.over = !f.fits()
}

// cellCompat writes one value as the published form does: a text in single
// quotes that are not doubled, cut at 50 characters with "..." inside the
// quotes. Unlike there, no value leaves its line: control characters become a
// blank, format characters and bytes that are not UTF-8 go.
func cellCompat(v any, maxRunes int) string {
	s, ok := v.(string)
	if !ok {
		return cellText(v, maxRunes)
	}
	cut, short := cutRunes(s, maxRunes)
	var b strings.Builder
	b.WriteByte('\'')
	for i, r := range cut {
		switch {
		case r == utf8.RuneError && invalidAt(cut, i):
		case r < 0x20 || 0x7F <= r && r < 0xA0 || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case isControl(r):
		default:
			b.WriteRune(r)
		}
	}
	if short {
		b.WriteString("...")
	}
	b.WriteByte('\'')
	return b.String()
}
