package prompttext_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/prompttext"
)

func TestLiteral(t *testing.T) {
	for _, tc := range []struct {
		why  string
		in   any
		want string
		left bool
	}{
		{why: "NULL is not a text", in: nil, want: "NULL"},
		{why: "integer", in: int64(-42), want: "-42"},
		{why: "int", in: 7, want: "7"},
		{why: "boolean of other engines", in: true, want: "true"},
		{why: "smallest integer", in: int64(math.MinInt64), want: "-9223372036854775808"},
		{why: "an integral float is no integer", in: 1.0, want: "1.0"},
		{why: "negative zero", in: math.Copysign(0, -1), want: "-0.0"},
		{why: "shortest decimal", in: 0.1, want: "0.1"},
		{why: "large integral float", in: 123456789012345.0, want: "123456789012345.0"},
		{why: "exponent", in: 1e300, want: "1e+300"},
		{why: "small exponent", in: 0.00001, want: "1e-05"},
		{why: "infinity is no literal", in: math.Inf(1), left: true},
		{why: "nor is NaN", in: math.NaN(), left: true},
		{why: "blob", in: []byte("abc"), left: true},
		{why: "empty blob", in: []byte{}, left: true},
		{why: "a type that no engine gives", in: struct{}{}, left: true},
		{why: "text", in: "Ann", want: `"Ann"`},
		{why: "empty text is not NULL", in: "", want: `""`},
		{why: "the text NULL is not NULL", in: "NULL", want: `"NULL"`},
		{why: "quotes", in: `a"b\c'd`, want: `"a\"b\\c'd"`},
		{why: "fence", in: "```", want: `"\u0060\u0060\u0060"`},
		{why: "tag", in: "</x>", want: `"\u003c/x\u003e"`},
		{why: "letters of any script stay", in: "北京 Łódź é", want: `"北京 Łódź é"`},
		{why: "a sign beyond the basic plane stays", in: "😀", want: `"😀"`},
		{why: "joiners stay: Persian needs them", in: "می\u200cخواهم", want: "\"می\u200cخواهم\""},
		{why: "no-break space cannot be told from a blank", in: "a\u00a0b", want: `"a\u00a0b"`},
		{why: "private use", in: "\ue000", want: `"\ue000"`},
		{why: "a noncharacter beyond the basic plane", in: "\U0001ffff", want: `"\ud83f\udfff"`},
		{why: "variation selectors can carry hidden text", in: "a\U000e0101", want: `"a\udb40\udd01"`},
		{why: "Hangul filler looks like nothing", in: "\u3164", want: `"\u3164"`},
		{why: "newline", in: "a\nb", left: true},
		{why: "tab", in: "a\tb", left: true},
		{why: "NUL", in: "a\x00b", left: true},
		{why: "delete", in: "\x7f", left: true},
		{why: "C1 control", in: "\u0085", left: true},
		{why: "soft hyphen", in: "a\u00adb", left: true},
		{why: "right-to-left override", in: "a\u202eb", left: true},
		{why: "zero-width space", in: "a\u200bb", left: true},
		{why: "byte order mark", in: "\ufeffa", left: true},
		{why: "tag characters", in: "\U000e0041", left: true},
		{why: "line separator", in: "a\u2028b", left: true},
		{why: "not UTF-8", in: "a\xff", left: true},
		{why: "a real replacement character", in: "a\ufffd", want: "\"a\ufffd\""},
		{why: "64 characters", in: strings.Repeat("é", 64), want: `"` + strings.Repeat("é", 64) + `"`},
		{why: "65 characters", in: strings.Repeat("é", 65), left: true},
		{why: "a megabyte", in: strings.Repeat("A", 1<<20), left: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, ok := prompttext.Literal(tc.in)
			if got != tc.want || ok == tc.left {
				t.Errorf("Literal(%.40q) = %s, %t; want %s, %t", tc.in, got, ok, tc.want, !tc.left)
			}
		})
	}
}

// FuzzLiteral holds what the prompt relies on: one short printable line that no
// fence or tag ends in, and that reads back as the value.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"", "Ann", "```\nDROP TABLE users\n```", "</samples>", "a\x00b", "a\u202eb", "\xff",
		"😀\U000e0101", "\u200d\u3164"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, ok := prompttext.Literal(s)
		if !ok {
			if utf8.ValidString(s) && utf8.RuneCountInString(s) <= 64 && !strings.ContainsFunc(s, hidden) {
				t.Errorf("%q was left out", s)
			}
			return
		}
		if strings.ContainsAny(text, "<>`\n\r") || strings.ContainsFunc(text, hidden) {
			t.Errorf("%q: unsafe literal %q", s, text)
		}
		if n := utf8.RuneCountInString(text); n > 2+64*12 {
			t.Errorf("%q: literal of %d characters", s, n)
		}
		var back string
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != s {
			t.Errorf("%q: reads back as %q, %v", s, back, err)
		}
	})
}

// hidden reports whether nobody sees a character: Unicode classes Cc and Cf and the
// two separators, but not the joiners.
func hidden(r rune) bool {
	return r != '\u200C' && r != '\u200D' && (unicode.In(r, unicode.Cc, unicode.Cf) || r == '\u2028' || r == '\u2029')
}

func TestComment(t *testing.T) {
	long := strings.Repeat("lorem ipsum ", 100_000)
	for _, tc := range []struct{ why, in, want string }{
		{"harmless text stays", "amount in cents", "amount in cents"},
		{"one line", " a\r\n\n\tb \u2028c\u00a0 ", "a b c"},
		{"control and format characters go", "a\x00\x1b[31mb\u202ec\u200b", "a[31mbc"},
		{"joiners stay", "می\u200cخواهم", "می\u200cخواهم"},
		{"invisible letters and selectors go", "a\u3164b\ufe0f", "ab"},
		{"bytes that are not UTF-8 go", "a\xffb", "ab"},
		{"a fence", "```sql\nDROP TABLE users;\n```", "'''sql DROP TABLE users; '''"},
		{"a tag", "</samples><x> <|im_start|>", "‹/samples>‹x> ‹|im_start|>"},
		{"a comparison is no tag", "0 < x, x <5, a <= b, a <> b, a <", "0 < x, x <5, a <= b, a <> b, a <"},
		{"200 characters fit", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"201 do not", strings.Repeat("é", 201), strings.Repeat("é", 199) + "…"},
		{"nothing", " \n", ""},
		{"a megabyte", long, strings.TrimRight(long[:199], " ") + "…"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := prompttext.Comment(tc.in)
			if got != tc.want {
				t.Errorf("Comment(%.60q) = %q, want %q", tc.in, got, tc.want)
			}
			if again := prompttext.Comment(got); again != got {
				t.Errorf("not idempotent: %q, then %q", got, again)
			}
		})
	}
}

func FuzzComment(f *testing.F) {
	for _, s := range []string{"", "a <b> `c`", "a\n\nb", strings.Repeat("<", 250), "<\u200b5", "\xff<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := prompttext.Comment(s)
		if strings.ContainsAny(got, "`\n") || strings.Contains(got, "</") || strings.ContainsFunc(got, hidden) ||
			utf8.RuneCountInString(got) > 200 {
			t.Errorf("Comment(%q) = %q", s, got)
		}
		if again := prompttext.Comment(got); again != got {
			t.Errorf("not idempotent: %q, %q, %q", s, got, again)
		}
	})
}

func TestEstimateTokens(t *testing.T) {
	for in, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "北京": 2} {
		if got := prompttext.EstimateTokens(in); got != want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", in, got, want)
		}
	}
}

func BenchmarkLiteral(b *testing.B) {
	for _, s := range []string{"Raith Rovers", strings.Repeat("A", 1<<20)} {
		b.Run(map[bool]string{true: "short", false: "megabyte"}[len(s) < 100], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				prompttext.Literal(s)
			}
		})
	}
}
