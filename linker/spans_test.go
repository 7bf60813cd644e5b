package linker

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/schema"
)

func TestSpans(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{
		{Name: "customers", Columns: []schema.Column{{Name: "country"}, {Name: "name"}}},
		{Name: "orderDetails"},
	}}
	tests := []struct {
		name     string
		question string
		want     []string // "#" before numbers
		why      string
	}{
		{"capital inside the sentence", "Which customers live in Norway?", []string{"Norway"}, "a name"},
		{"first word", "Norway has how many customers?", nil, "every sentence starts with a capital"},
		{"after a full stop", "Look at orders. Count them in Norway.", []string{"Norway"}, "so does the next one"},
		{"first word in capitals", "USA customers?", []string{"USA"}, "nobody starts a sentence so"},
		{
			"longest first", "orders of Ada Lovelace in New South Wales",
			[]string{"New South Wales", "Ada Lovelace", "New South", "South Wales", "Ada", "Lovelace", "New", "South", "Wales"},
			"a longer run says more",
		},
		{
			"four words at most", "the One Two Three Four Five",
			[]string{
				"One Two Three Four", "Two Three Four Five", "One Two Three", "Two Three Four", "Three Four Five", "One Two",
				"Two Three", "Three Four",
				"Four Five", "One", "Two", "Three", "Four", "Five",
			},
			"no run of five",
		},
		{"comma", "live in Paris, France or Oslo", []string{"Paris", "France", "Oslo"}, "no value runs across one"},
		{"schema word", "in which Country and which Name, or a Country X", []string{"Country X", "X"},
			"a word of the schema alone is no value"},
		{"schema word in capitals", "is NAME a code", []string{"NAME"}, "a code may be spelled like a column"},
		{"possessive", "What are Ada's and Nils’s orders?", []string{"Ada", "Nils"}, "the 's belongs to the sentence"},
		{"apostrophe", "Where does O'Brien live?", []string{"O'Brien"}, "an apostrophe inside a word opens no quote"},
		{"double quotes", `orders with "On Hold" as status`, []string{"On Hold"}, "one value, not a run of words"},
		{"quoted where it is quoted", `does Anna Lee play in group "A"`, []string{"A", "Anna Lee", "Anna", "Lee"},
			"the A of Anna is another one"},
		{"quotes before capitals", `is "shipped" used in Norway`, []string{"shipped", "Norway"}, "what is quoted goes first"},
		{"single quotes", "status 'on hold' and name 'it''s'", []string{"on hold", "it", "s"},
			"SQL's own doubling is not known to people"},
		{
			"typographic quotes", "“On Hold”, ‘Shipped’, „Zürich“, „Łódź”, «Москва», »Aarhus«, ‹a›",
			[]string{"On Hold", "Shipped", "Zürich", "Łódź", "Москва", "Aarhus", "a"}, "as languages have them",
		},
		{"back quotes", "the `On Hold` ones", []string{"On Hold"}, "as people who write Markdown do"},
		{"Chinese quotes", "有多少客户住在「日本」的“东京”？", []string{"日本", "东京"}, "no blank stands around them"},
		{"Japanese quotes", "『東京商店』の注文", []string{"東京商店"}, "nor here"},
		{"Korean with ASCII quotes", "국가가 '노르웨이'인 고객", []string{"노르웨이"}, "a particle follows the quote"},
		{"Chinese with ASCII quotes", `住在"美国"的客户`, []string{"美国"}, "the same"},
		{"inches", `tyres of 15" and 17" in Norway`, []string{"Norway"}, "a quote behind a number is none"},
		{"open quote", `orders of "Ada`, []string{"Ada"}, "without an end it quotes nothing"},
		{"numbers", "after 2003, over 1,234.5 but not 12", []string{"#2003", "#1234.5"}, "three digits or more"},
		{"number in quotes", `code "2003" in 2003`, []string{"2003"}, "the quoted text has it"},
		{"decomposed accent", "the shop Zoe\u0308 runs", []string{"Zoe\u0308"}, "the mark belongs to the word"},
		{"nothing", "how many orders are there?", nil, "no value in it"},
		{"empty", "", nil, ""},
		{"only quotes", `"" '' ""`, nil, "quotes around nothing"},
		{"brackets", "customers (Norway)", []string{"Norway"}, "marks around a word are not part of it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, sp := range spans(tt.question, s, Input{Schema: s}.waves(askedTables, askedTables)[0].places) {
				text := sp.text
				if sp.number {
					text = "#" + text
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

func TestValueFor(t *testing.T) {
	tests := []struct {
		span span
		typ  string
		want any
		ok   bool
		why  string
	}{
		{span{"Norway", false}, "TEXT", "Norway", true, "text in a text column"},
		{span{"Norway", false}, "", "Norway", true, "and in one without a type"},
		{span{"Norway", false}, "DATE", "Norway", true, "SQLite stores dates as text"},
		{span{"Norway", false}, "INTEGER", nil, false, "no text in a column of numbers"},
		{span{"Norway", false}, "blob", nil, false, "nor in one of bytes"},
		{span{"2003", true}, "BIGINT", int64(2003), true, "an integer"},
		{span{"12.5", true}, "decimal(10,2)", 12.5, true, "a decimal"},
		{span{"2003", true}, "VARCHAR(20)", nil, false, "a bare number is looked for as a number"},
		{span{"99999999999999999999", true}, "INT", 1e20, true, "too long for an integer"},
	}
	for _, tt := range tests {
		got, ok := tt.span.valueFor(&schema.Column{Type: tt.typ})
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%v in %q: got %#v, %v; want %#v, %v: %s", tt.span, tt.typ, got, ok, tt.want, tt.ok, tt.why)
		}
	}
}

// FuzzSpans: every word of a span stands in the question, no span is empty or
// there twice, and a number reads as one.
func FuzzSpans(f *testing.F) {
	for _, seed := range []string{
		"", "Which customers live in Norway?", "orders of 'Ada' in \"New York\", 1,234.5", "「日本」“a", "''''''", "A B C D E F",
		"\x00\xff“\xff”", "İ İS ǅ",
	} {
		f.Add(seed)
	}
	s := &schema.Schema{Tables: []schema.Table{{Name: "customers",
		Columns: []schema.Column{{Name: "country", Type: "TEXT"}, {Name: "total", Type: "REAL"}}}}}
	f.Fuzz(func(t *testing.T, question string) {
		if len(question) > 2000 || !utf8.ValidString(question) {
			t.Skip("no question")
		}
		seen := map[string]bool{}
		for _, sp := range spans(question, s, Input{Schema: s}.waves(askedTables, askedTables)[0].places) {
			if sp.text == "" || seen[sp.text] {
				t.Fatalf("span %q is empty or there twice", sp.text)
			}
			seen[sp.text] = true
			if sp.number {
				if _, ok := sp.valueFor(&s.Tables[0].Columns[1]); !ok {
					t.Fatalf("number %q is none", sp.text)
				}
				continue
			}
			for _, word := range strings.Fields(sp.text) {
				if !strings.Contains(question, word) {
					t.Fatalf("%q is no part of the question", word)
				}
			}
		}
	})
}
