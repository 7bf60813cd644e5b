package words_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/words"
)

func TestOf(t *testing.T) {
	tests := []struct {
		name, why, text string
		want            []string
	}{
		{"plain", "lower case, no punctuation", "How many singers, in \"France\"?", []string{"how", "many", "singers", "in",
			"france"}},
		{"apostrophes", "inside a word", "don’t 'quote' singers' o'clock", []string{"don't", "quote", "singers", "o'clock"}},
		{"numbers", "are words", "top 5 of 1,234.5", []string{"top", "5", "of", "1", "234", "5"}},
		{"scripts", "any", "北京的 歌手 élève", []string{"北京的", "歌手", "élève"}},
		{"hyphen", "separates", "multi-word", []string{"multi", "word"}},
		{"nothing", "no word", " ?! ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, words.Of(tt.text)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

func TestOfName(t *testing.T) {
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
			if diff := cmp.Diff(tt.want, words.OfName(tt.name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"042": "42", "000": "0", "0": "0", "100": "100", "0x1": "0x1",
		"singers": "singer", "Countries": "country", "boxes": "box", "classes": "class", "matches": "match", "dishes": "dish",
		"houses": "house",
		"class":  "class", "status": "status", "analysis": "analysis", "bus": "bus", "city": "city",
		"ids": "id", "IDs": "id", "nos": "no", "PKs": "pk", "": "", "a": "a",
		"gas": "gas", "yes": "yes", "was": "was", "his": "his", "has": "has", "its": "its", "GPS": "gps", "us": "us",
		"as": "as", "is": "is",
		"movies": "movy", "movie": "movy", "statuses": "status", "clauses": "clause",
		"series":   "sery",
		"singer's": "singer", "people": "person", "women": "woman",
	} {
		if got := words.Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"name", "nmae", 2}, {"product_name", "products_name", 1},
	}
	for _, tt := range tests {
		if got := words.Distance(tt.a, tt.b, 10); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestThousands: a comma stands before every three digits from the right, behind a sign none.
func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100"} {
		if got := words.Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestNearest: a slip of one letter or two, and the same first letter before another one.
func TestNearest(t *testing.T) {
	names := []string{"idle", "model", "Customers", "orders"}
	for name, want := range map[string]string{"modle": "model", "customer": "Customers", "ORDER": "orders", "idel": "idle",
		"x": "", "": "", "öders": "orders"} {
		if got := words.Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestSimilarity: the values are those of Python's difflib.SequenceMatcher.ratio, without its junk.
func TestSimilarity(t *testing.T) {
	tests := []struct {
		a, b string
		want float64
	}{
		{"customer_id", "CustomerId", 1}, {"Customers", "PROD_Customers", 0.8182}, {"custNumber", "customerNumber", 0.8333},
		{"abc", "xyz", 0},
		{"", "", 1}, {"", "a", 0}, {"eye_colour_id", "id", 0.3077}, {"salesRepEmployeeNumber", "employeeNumber", 0.7778},
		{"ababab", "bababa", 0.8333}, {"Straße", "Strasse", 0.7692}, {"abacbbaaa", "abcbaac", 0.75},
		{"cbbaabaac", "bbaabbc", 0.75},
		{"cbacbcbca", "aabbacb", 0.5}, {"abccbcabb", "cbbbaab", 0.25}, {"baaabcbcc", "cbcbaca", 0.5},
		{"abaccbbab", "bccbcca", 0.625},
	}
	for _, tt := range tests {
		if got := words.Similarity(tt.a, tt.b); math.Abs(got-tt.want) > 1e-4 {
			t.Errorf("%q and %q: %.4f, want %.4f", tt.a, tt.b, got, tt.want)
		}
	}
}

// FuzzDistance: a distance is symmetric, at least the difference in length,
// at most the longer length, and 0 for equal texts alone.
func FuzzDistance(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 200 || len(b) > 200 {
			t.Skip("the cost is their product")
		}
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip("invalid bytes are all one character")
		}
		m, n := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
		d := words.Distance(a, b, 200)
		if d != words.Distance(b, a, 200) || d < max(m-n, n-m) || d > max(m, n) || (d == 0) != (a == b) {
			t.Errorf("%q to %q: %d", a, b, d)
		}
	})
}

func TestLooksAlike(t *testing.T) {
	for _, tt := range []struct {
		why, name, other string
		want             bool
	}{
		{"a Cyrillic letter in a Latin name", "password", "pаssword", true},
		{"letters with marks are Latin", "grosse", "größe", false},
		{"both in another script", "имя", "имена", false},
		{"the same", "name", "names", false},
	} {
		if got := words.LooksAlike(tt.name, tt.other); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}
