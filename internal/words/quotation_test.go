package words_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/words"
)

func TestQuotations(t *testing.T) {
	tests := []struct {
		text string
		want []string
		why  string
	}{
		{`the song "Hey Jude" and 'Let it be'`, []string{"Hey Jude", "Let it be"}, ""},
		{"the country's oldest singers' songs", nil, "apostrophes"},
		{"‘Smith’ and “Jones” and «Dupont» and „Meier“", []string{"Smith", "Jones", "Dupont", "Meier"},
			"the marks of other languages"},
		{`named 'O'Brien'`, []string{"O'Brien"}, "an apostrophe inside"},
		{`an "open one`, nil, "nothing closes it"},
		{`""`, []string{""}, "empty, and closed"},
		{`a 27" screen and a 19" one`, nil, "inches"},
		{"在「東京」的店", []string{"東京"}, "no blanks between words"},
		{"是'東京'吗", []string{"東京"}, "the plain mark beside letters of such a script"},
		{`"a" "b"`, []string{"a", "b"}, "side by side"},
		{"„außen ‚innen‘“", []string{"außen ‚innen‘"}, "none inside another"},
		{"\xff\"x\xfe\"", []string{"x\xfe"}, "bytes that are no text"},
	}
	for _, tt := range tests {
		var got []string
		for _, q := range words.Quotations(tt.text) {
			got = append(got, tt.text[q.From:q.To])
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%q: %s (-want +got):\n%s", tt.text, tt.why, d)
		}
	}
}

func FuzzQuotations(f *testing.F) {
	f.Add(`the song "Hey Jude" and 'Let it be' by O'Brien`)
	f.Add("„Meier“ 「東京」 \xff'")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, q := range words.Quotations(text) {
			if q.From < at+1 || q.To < q.From || q.To >= len(text) || utf8.ValidString(text) &&
				!utf8.ValidString(text[q.From:q.To]) {
				t.Fatalf("%q: %v behind %d", text, q, at)
			}
			at = q.To
		}
	})
}
