package sqltext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/sqltext"
)

func TestWords(t *testing.T) {
	tests := []struct {
		name, why, text string
		want            []string
	}{
		{"plain", "lower case, no punctuation", "How many singers, in \"France\"?", []string{"how", "many", "singers", "in", "france"}},
		{"apostrophes", "inside a word", "don’t 'quote' singers' o'clock", []string{"don't", "quote", "singers", "o'clock"}},
		{"numbers", "are words", "top 5 of 1,234.5", []string{"top", "5", "of", "1", "234", "5"}},
		{"scripts", "any", "北京的 歌手 élève", []string{"北京的", "歌手", "élève"}},
		{"hyphen", "separates", "multi-word", []string{"multi", "word"}},
		{"nothing", "no word", " ?! ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sqltext.Words(tt.text)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

func TestSplitName(t *testing.T) {
	tests := []struct {
		name, why string
		want      []string
	}{
		{"customerName", "camel case", []string{"customer", "name"}},
		{"CustomerName", "Pascal case", []string{"customer", "name"}},
		{"customer_name", "underscores", []string{"customer", "name"}},
		{"CUSTOMER NAME", "blanks", []string{"customer", "name"}},
		{"HTTPServerID", "runs of capitals", []string{"http", "server", "id"}},
		{"MSRPs", "the plural of capitals", []string{"msrps"}},
		{"IDs_of", "the same before another word", []string{"ids", "of"}},
		{"addressLine2", "digits", []string{"address", "line", "2"}},
		{"__x__", "outer marks", []string{"x"}},
		{"größteStadt", "letters of other scripts", []string{"größte", "stadt"}},
		{"", "nothing", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sqltext.SplitName(tt.name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"singers": "singer", "Countries": "country", "boxes": "box", "classes": "class", "matches": "match", "dishes": "dish",
		"class": "class", "status": "status", "analysis": "analysis", "bus": "bus", "movies": "movy", "movie": "movy", "statuses": "status", "clauses": "clause", "series": "sery",
		"singer's": "singer", "people": "person", "women": "woman", "city": "city", "houses": "house", "ids": "ids", "": "", "a": "a",
	} {
		if got := sqltext.Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestQuestionTemplate(t *testing.T) {
	tests := []struct {
		name, why, question string
		literals            []string
		want                string
	}{
		{"literal", "as whole words, case aside", "How many singers are from france, not Frances?", []string{"France"}, "how many singers are from ? not frances"},
		{"longest first", "the longer of two", "Orders on hold in Hold?", []string{"Hold", "On Hold"}, "orders ? in ?"},
		{"numbers", "all of them, groups as one", "Payments over 1,234.50 in 2004", nil, "payments over ? in ?"},
		{"like patterns", "without the marks", "Names with al", []string{"%Al%"}, "names with ?"},
		{"blank literal", "masks nothing", "A b", []string{"", " ", "%"}, "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sqltext.QuestionTemplate(tt.question, tt.literals); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
			}
		})
	}
}

func TestCleanText(t *testing.T) {
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
			if got := sqltext.CleanText(tt.text); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
			}
		})
	}
}
