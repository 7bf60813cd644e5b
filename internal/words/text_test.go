package words_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, why, text, want string }{
		{"plain", "unchanged", "a\n\tb é 北", "a\n\tb é 北"},
		{"controls", "out", "a\x00b\x1b[31mc\r\n\x7f\u0085", "ab[31mc\n"},
		{"formats", "zero-width, bidirectional, tags", "a\u200bb\u202ec\ufeffd\U000e0041e\u00ad", "abcde"},
		{"separators", "of lines and paragraphs", "a\u2028b\u2029c", "abc"},
		{"joiners", "some scripts need them", "a\u200cb\u200dc", "a\u200cb\u200dc"},
		{"not UTF-8", "replaced", "a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := words.Clean(tt.text); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
			}
		})
	}
}

func TestHidden(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := r != '\u200c' && r != '\u200d' && (unicode.In(r, unicode.Cc, unicode.Cf) || r == '\u2028' || r == '\u2029')
		if got := words.Hidden(r); got != want {
			t.Errorf("Hidden(%U) = %v", r, got)
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct{ why, got, want string }{
		{"a line: separators are blanks, hidden characters go", words.Line(" a\u2028b\r\n\tc\u200b d "), "a b c d"},
		{"a line: no two blanks where a character went", words.Line("a \u200b b"), "a b"},
		{"a folded text", words.Fold("  How\nMANY  Étés "), "how many étés"},
		{"cut: short enough", words.Cut("abc", 3), "abc"},
		{"cut: no character is split", words.Cut("ab€", 4), "ab"},
		{"cut: nothing", words.Cut("€", 0), ""},
		{"cut: bytes that are no text are not searched for a start", words.Cut(strings.Repeat("\x80", 9), 8),
			strings.Repeat("\x80", 5)},
		{"short: short enough", words.Short("北京市", 3), "北京市"},
		{"short: characters, not bytes", words.Short("北京市", 2), "北京…"},
		{"visible: nothing to show", words.Visible("a b é", "", words.Hidden), "a b é"},
		{"visible: as Go writes it", words.Visible("\n\r\t\x1b\u200b\U000e0041\xff", "", words.Hidden),
			`\n\r\t\x1b\u200b\U000e0041\xff`},
		{"visible: by a format", words.Visible("a\u202eb\xff", "<%04X>", words.Hidden), "a<202E>b\ufffd"},
		{"an escape of JSON", string(words.AppendEscape([]byte("x"), '\u200b')), `x\u200b`},
		{"an escape of two halves", string(words.AppendEscape(nil, '\U0001ffff')), `\ud83f\udfff`},
		{"a name squeezed", words.Squeeze("Order_Line-No 2"), "orderlineno2"},
		{"one", words.Plural("row", 1), "row"},
		{"none", words.Plural("row", 0), "rows"},
		{"the stems of a name", strings.Join(words.Stems("orderDetails_IDs"), " "), "order detail id"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, tt.got, tt.want)
		}
	}
}

// Whatever the text is, what is made of it is clean, and making it twice changes
// nothing.
func FuzzText(f *testing.F) {
	f.Add("the 5 Étés of O’Brien's \u2028 HTTPServer2 \xff\u200b")
	f.Fuzz(func(t *testing.T, text string) {
		for name, make := range map[string]func(string) string{"Clean": words.Clean, "Line": words.Line, "Fold": words.Fold,
			"Stem": words.Stem} {
			made := make(text)
			if name != "Stem" && make(made) != made {
				t.Errorf("%s(%q) = %q is not what it stays", name, text, made)
			}
		}
		if line := words.Line(text); strings.ContainsFunc(line, words.Hidden) || !utf8.ValidString(line) {
			t.Errorf("Line(%q) = %q", text, line)
		}
		for _, w := range append(words.Of(text), words.OfName(text)...) {
			if w == "" || strings.ContainsFunc(w, unicode.IsSpace) {
				t.Errorf("%q has the word %q", text, w)
			}
		}
		if cut := words.Cut(text, 7); len(cut) > 7 || !strings.HasPrefix(text, cut) {
			t.Errorf("Cut(%q, 7) = %q", text, cut)
		}
	})
}
