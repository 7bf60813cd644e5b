package snapshot_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

// heroes is a schema whose columns store heroTexts.
var heroes = &schema.Schema{Tables: []schema.Table{
	{Name: "heroes", Columns: []schema.Column{{Name: "name", Profile: read}, {Name: "first", Profile: read},
		{Name: "eyes", Profile: read}, {Name: "mail", Profile: read}, {Name: "secret", Profile: read, Sensitive: true}}},
	{Name: "cities", Columns: []schema.Column{{Name: "name", Profile: read}, {Name: "code", Profile: read}}},
}}

// read is the profile of a column that was read for the question.
var read = &schema.Profile{}

var heroTexts = map[string][]string{
	"name": {"Bruno Senna", "Chloë", "T-Shirt", "The Boxes", "42"}, "first": {"Bruno"}, "eyes": {"Blue", "Pale blue"},
	"mail": {"ada@x.com"}, "secret": {"Topsecret"}, "hidden": {"Unshown"},
}

var cityTexts = map[string][]string{"name": {"New York", "York", "Blue"}, "code": {"NO", "USA", "The", "show"}}

func keep(of *snapshot.Snapshot) {
	of.KeepTexts(&schema.Table{Name: "heroes"}, heroTexts)
	of.KeepTexts(&schema.Table{Name: "cities"}, cityTexts)
}

// told writes stored texts as table.column=value.
func told(list []snapshot.Stored) (out []string) {
	for _, s := range list {
		out = append(out, s.Table+"."+s.Column+"="+s.Value)
	}
	return out
}

// TestNamedTexts: which stored texts a question names.
func TestNamedTexts(t *testing.T) {
	s := new(snapshot.Store).At(snapshot.Key{Version: "1"}, heroes)
	keep(s)
	for _, tt := range []struct{ why, question, want string }{
		{"small letters, in two columns", "who has blue eyes?", "cities.name=Blue heroes.eyes=Blue"},
		{"a longer text of its column", "who has pale blue eyes?", "heroes.eyes=Pale blue cities.name=Blue"},
		{"a longer text of another column hides nothing", "What of Bruno Senna's races?",
			"heroes.name=Bruno Senna heroes.first=Bruno"},
		{"York is a part of New York there", "flights to new york", "cities.name=New York"},
		{"without an accent", "Where is CHLOE?", "heroes.name=Chloë"},
		{"other forms of a hyphen", "t shirts", "heroes.name=T-Shirt"},
		{"written together", "the tshirt", "heroes.name=T-Shirt"},
		{"the singular", "the box", "heroes.name=The Boxes"},
		{"a short text in other letters is another word", "there are no usa flights", ""},
		{"a short text as it is stored", "flights to USA, NO", "cities.code=USA cities.code=NO"},
		{"a usual word", "show no flights to The", ""},
		{"part of a text", "Where is Senna?", ""},
		{"across other words", "Bruno and Senna", "heroes.first=Bruno"},
		{"numbers are none", "who is 42?", ""},
		{"a sensitive column", "who is topsecret?", ""},
		{"a column that the schema does not show", "who is unshown?", ""},
		{"an address that the user typed", "who has ada@x.com?", "heroes.mail=ada@x.com"},
		{"no words", "?", ""},
	} {
		if got := strings.Join(told(s.Words(heroes).Named(tt.question)), " "); got != tt.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", tt.why, tt.question, got, tt.want)
		}
	}
}

// TestNear: which texts are meant by one that is not stored.
func TestNear(t *testing.T) {
	s := new(snapshot.Store).At(snapshot.Key{Version: "1"}, heroes)
	keep(s)
	for _, tt := range []struct {
		why, table, column, value string
		want                      []string
	}{
		{"a letter", "cities", "name", "New Yrok", []string{"New York"}},
		{"letter case", "heroes", "eyes", "blue", []string{"Blue", "Pale blue"}},
		{"a part of a text", "heroes", "name", "senna", []string{"Bruno Senna"}},
		{"it is stored", "heroes", "eyes", "Blue", nil},
		{"nothing is near", "heroes", "eyes", "Crimson", nil},
		{"an address is never shown", "heroes", "mail", "ada@x.con", nil},
		{"a sensitive column", "heroes", "secret", "topsecret", nil},
		{"no such table", "x", "secret", "topsecret", nil},
	} {
		got := s.Words(heroes).Near(schema.TableName{Name: tt.table}, tt.column, tt.value)
		golden.Equal(t, tt.want, got, tt.why)
	}
}

// TestTextsOfWhom: a scope and a policy have their own texts, and names of prompts make no difference.
func TestTextsOfWhom(t *testing.T) {
	var store snapshot.Store
	key := snapshot.Key{Database: "d", Policy: "p", Scope: "a", Version: "1"}
	keep(store.At(key, heroes))
	for _, tt := range []struct {
		why    string
		change func(*snapshot.Key)
		found  bool
	}{
		{"the same", func(*snapshot.Key) {}, true},
		{"other names", func(k *snapshot.Key) { k.Names = "n" }, true},
		{"another scope", func(k *snapshot.Key) { k.Scope = "b" }, false},
		{"another policy", func(k *snapshot.Key) { k.Policy = "q" }, false},
		{"another version", func(k *snapshot.Key) { k.Version = "2" }, false},
	} {
		other := key
		tt.change(&other)
		if got := store.At(other, heroes).Words(heroes).Named("blue"); (len(got) > 0) != tt.found {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestTextsOfProfiles: Words reads profiles where KeepTexts stored nothing, and a stored table is not added again.
func TestTextsOfProfiles(t *testing.T) {
	profiled := &schema.Schema{Tables: []schema.Table{
		{Name: "heroes", Columns: []schema.Column{{Name: "eyes", Profile: &schema.Profile{
			Top: []schema.Value{{Value: "Green"}, {Value: int64(1)}}, Examples: []any{"Green", "Red one"}}}}},
		{Name: "cities", Columns: []schema.Column{{Name: "name", Profile: read}}},
	}}
	var none *snapshot.Snapshot
	s := new(snapshot.Store).At(snapshot.Key{Version: "1"}, profiled)
	s.KeepTexts(&profiled.Tables[0], nil)
	for why, words := range map[string]snapshot.Words{"no snapshot": none.Words(profiled), "kept": s.Words(profiled)} {
		golden.Equal(t, []string{"heroes.eyes=Red one", "heroes.eyes=Green"}, told(words.Named("green and red ones")), why)
	}
	s.KeepTexts(&schema.Table{Name: "heroes"}, map[string][]string{"eyes": {"Blue"}})
	s.KeepTexts(&schema.Table{Name: "cities"}, map[string][]string{"name": {"Oslo"}})
	golden.Equal(t, []string{"cities.name=Oslo"}, told(s.Words(profiled).Named("blue in Oslo")),
		"a table that is added later")
}

// TestTextsBound: no more texts of a column than MostTexts, and of all tables no more than 64 MiB.
func TestTextsBound(t *testing.T) {
	var store snapshot.Store
	s := store.At(snapshot.Key{Version: "1"}, heroes)
	var many []string
	for i := range snapshot.MostTexts + 1 {
		many = append(many, fmt.Sprintf("word%dx", i))
	}
	s.KeepTexts(&schema.Table{Name: "heroes"}, map[string][]string{"name": many})
	first, last := many[snapshot.MostTexts-1], many[snapshot.MostTexts]
	golden.Equal(t, []string{"heroes.name=" + first}, told(s.Words(heroes).Named(first+" "+last)),
		"the last one that is stored")
	long := strings.Repeat("x", 60)
	var group sync.WaitGroup
	for i := range 400 {
		group.Go(func() {
			list := make([]string, snapshot.MostTexts)
			for j := range list {
				list[j] = long
			}
			s.KeepTexts(&schema.Table{Name: fmt.Sprint("t", i)}, map[string][]string{"a": list})
		})
	}
	group.Wait()
	if size := store.Size(); size > 65<<20 || size < 60<<20 {
		t.Errorf("%d MiB", size>>20)
	}
}

// TestIsContact: which texts no prompt shows unless the user typed them.
func TestIsContact(t *testing.T) {
	for text, want := range map[string]bool{
		// Addresses.
		"ada@example.com": true, " a.b+c@x.co.uk ": true, "Ada Lee <ada@example.com>": true, "mailto:ada@example.com": true,
		// Phone numbers.
		"+49 30 1234567": true, "(212) 555-0100": true, "212-555-0100": true, "212.555.0100": true, "212 5550100": true,
		"030/1234567": true, "0171-1234567": true, "0044 20 7946 0958": true, "00491711234567": true, "06 12 34 56 78": true,
		"03 9520 4555":     true,
		"001 415 555 0199": true,
		// Words, and text with an @.
		"Ada": false, "a@b": false, "at @ home": false, "left-pad@1.3.0": false, "@scope/part@1.2.3": false,
		"x@10.0.0.1":                   false,
		"https://example.com/@ada.lee": false,
		// Ids and codes.
		"12345": false, "1234567890": false, "0000123456": false, "0012345678": false, "978-3-16-148410-0": false,
		"123-45-6789":                 false,
		"DE89 3704 0044 0532 0130 00": false, "GB33BUKB20201555555555": false, "550e8400-e29b-41d4-a716-446655440000": false,
		// Order numbers.
		"SO-2024-00017": false, "2024-000123": false, "0001-00001234": false, "001-2024-0001": false, "10107": false,
		"123-1234567-1234567": false,
		// Dates and times.
		"2024-04-01": false, "2024-04-01 10:00:00": false, "20240401": false, "01.04.2024": false, "2024-W14": false,
		"+02:00": false,
		// Prices, measures, versions, addresses of machines.
		"+1": false, "10.5": false, "1.234.567,89": false, "1 234 567.89": false, "121.4737021": false, "-121.4737021": false,
		"10.4.1": false, "2024.11.0": false, "1.2.3-4567": false, "192.168.0.1": false, "(12)": false,
	} {
		if got := snapshot.IsContact(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestAllTexts: of which columns a prompt may list all texts.
func TestAllTexts(t *testing.T) {
	profiled := func(distinct int64, texts ...any) *schema.Profile {
		return &schema.Profile{Distinct: distinct, Examples: texts}
	}
	eight := strings.Fields("a b c d e f g h")
	part := &schema.Table{Name: "cities", Columns: []schema.Column{
		{Name: "name", Profile: profiled(2, "Oslo", "Bergen")}, {Name: "code", Profile: profiled(900, "NO", "SE")},
	}}
	for _, tt := range []struct {
		why    string
		table  *schema.Table
		texts  map[string][]string
		column string
		want   []string
	}{
		{"eight texts", &schema.Table{Name: "heroes"}, map[string][]string{"eyes": eight}, "eyes", eight},
		{"nine texts", &schema.Table{Name: "heroes"}, map[string][]string{"eyes": append(eight, "i")}, "eyes", nil},
		{"an address among them", &schema.Table{Name: "heroes"}, map[string][]string{"mail": {"none", "ada@example.com"}},
			"mail", nil},
		{"a long text", &schema.Table{Name: "heroes"}, map[string][]string{"name": {strings.Repeat("long ", 9)}}, "name",
			nil},
		{"a sensitive column", &schema.Table{Name: "heroes"}, map[string][]string{"secret": {"x"}}, "secret", nil},
		{"a column that the schema does not show", &schema.Table{Name: "heroes"}, map[string][]string{"hidden": {"x"}},
			"hidden", nil},
		{"a profile with all values", part, nil, "name", []string{"Oslo", "Bergen"}},
		{"a profile with two of 900 values", part, nil, "code", nil},
	} {
		s := new(snapshot.Store).At(snapshot.Key{Version: "1"}, heroes)
		s.KeepTexts(tt.table, tt.texts)
		if diff := cmp.Diff(tt.want, s.Words(heroes).All(tt.table.TableName(), tt.column)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
