package linker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// matches writes what was found: table.column=value(span).
func matches(l schema.Links) string {
	var found []string
	for _, t := range l.Tables {
		for _, v := range t.Values {
			found = append(found, fmt.Sprintf("%s.%s=%v(%s)", t.Table, v.Column, v.Value, v.Span))
		}
	}
	return strings.Join(found, " ")
}

func TestValues(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	tests := []struct {
		name     string
		question string
		want     string
		why      string
	}{
		{
			"capitalised word", "Which customers live in Norway?", "customers.country=Norway(Norway) notes.body=Norway(Norway)",
			"in every column that holds it, also one without a type",
		},
		{"two words", "What did Ada Lovelace order?", "customers.name=Ada Lovelace(Ada Lovelace)",
			"a value may be a run of words"},
		{"part of a value", "What did Ada order?", "", "equality, not a part"},
		{"other case", "orders on hold in norway", "", "as it is stored or not at all"},
		{"quoted", `Which orders are "On Hold"?`, "orders.status=On Hold(On Hold)", "what a person quotes is a value"},
		{"possessive", "What is Norway's population?", "customers.country=Norway(Norway) notes.body=Norway(Norway)",
			"without the 's"},
		{"apostrophe in the value", "What did O'Brien buy?", "customers.name=O'Brien(O'Brien)",
			"bound, never written into the statement"},
		{"number", "Which order has a total of 2,500?", "customers.credit_limit=2500(2500) orders.total=2500(2500)",
			"in columns of numbers, of either kind"},
		{"decimal", "a total of 1,234.5", "orders.total=1234.5(1234.5)", "a decimal"},
		{
			"non-Latin", "「日本」の「東京商店」", "customers.country=日本(日本) customers.name=東京商店(東京商店)",
			"any script, where quotes say that it is a value",
		},
		{"accent", "What did Zoë order?", "customers.name=Zoë(Zoë)", "letters beyond ASCII"},
		{"injection", `customers called "x' OR '1'='1"`, "", "a value is never SQL"},
		{"nothing to look for", "how many orders are there?", "", "no span, no probe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, choose := range []bool{false, true} {
				got := testutil.Value(linker.Values{Choose: choose}.Link(t.Context(), linker.Input{Question: tt.question, Schema: s,
					DB: db}))(t)
				if matches(got) != tt.want {
					t.Errorf("got %q, want %q: %s", matches(got), tt.want, tt.why)
				}
				if got.Whole == choose || len(got.Notes) > 0 {
					t.Errorf("Choose %v: whole %v, notes %q", choose, got.Whole, got.Notes)
				}
			}
		})
	}
}

// TestValuesByWords: a profiled text is found whatever its letters; the name of a column names none.
func TestValuesByWords(t *testing.T) {
	db, s := open(t, shop+"\nCREATE TABLE moods (total TEXT, mood TEXT); INSERT INTO moods VALUES ('status', "+
		"'all smiles'), ('Oslo', 'None');", exec.Config{})
	snap := testutil.Value(db.Snapshot(t.Context()))(t)
	s = testutil.Value(db.Profiled(t.Context(), snap, s))(t)
	for _, tt := range []struct{ why, question, want string }{
		{"small letters", "orders on hold in norway",
			"orders.status=On Hold(on hold) customers.country=Norway(norway) notes.body=Norway(norway)"},
		{"as it is stored, once", "Who lives in Norway?", "customers.country=Norway(Norway) notes.body=Norway(Norway)"},
		{"the name of a column", "what is the status of each order?", ""},
		{"quoted", "the total 'status'", "moods.total=status(status)"},
		{"plural", "all smile moods", "moods.mood=all smiles(all smiles)"},
	} {
		in := linker.Input{Question: tt.question, Schema: s, DB: db, Snapshot: snap}
		if got := matches(testutil.Value(linker.Values{}.Link(t.Context(), in))(t)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
		in.DB, in.Schema = nil, snap.Schema
		if got := matches(testutil.Value(linker.Values{}.Link(t.Context(), in))(t)); got != "" {
			t.Errorf("%s: what another question profiled has %q", tt.why, got)
		}
		in.WithoutValues, in.Schema = true, s
		if got := matches(testutil.Value(linker.Values{}.Link(t.Context(), in))(t)); got != "" {
			t.Errorf("%s: without values %q", tt.why, got)
		}
	}
}

// TestValuesChooses names the columns that hold a match and no others.
func TestValuesChooses(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	got := testutil.Value(linker.Values{Choose: true}.Link(t.Context(),
		linker.Input{Question: `Has Norway orders "On Hold"?`, Schema: s, DB: db}))(t)
	if want := "orders(status) customers(country) notes(body)"; linked(got) != want {
		t.Errorf("got %s, want %s", linked(got), want)
	}
}

// TestValuesLooksNowhere where it may not.
func TestValuesLooksNowhere(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	sensitive := tables([]string{"customers", "country"})
	sensitive.Tables[0].Columns[0].Sensitive = true
	view := tables([]string{"spenders", "country"})
	view.Tables[0].Kind = "view"
	for name, in := range map[string]linker.Input{
		"no database":        {Schema: s},
		"without values":     {Schema: s, DB: db, WithoutValues: true},
		"a sensitive column": {Schema: sensitive, DB: db},
		"a view":             {Schema: view, DB: db},
	} {
		in.Question = `Who lives in "Norway"?`
		got, err := linker.Values{}.Link(t.Context(), in)
		if err != nil || matches(got) != "" || !got.Whole {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestValuesCap ends the search at the limit, quoted spans first, and says so.
func TestValuesCap(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	// Five columns may hold text: name, country and since of customers, status of
	// orders, body of notes. The quoted span takes the first five probes.
	in := linker.Input{Question: `Who in Norway is "Ada Lovelace"?`, Schema: s, DB: db}
	got, err := linker.Values{Probes: 5}.Link(t.Context(), in)
	if err != nil || matches(got) != "customers.name=Ada Lovelace(Ada Lovelace)" {
		t.Errorf("got %q, %v", matches(got), err)
	}
	golden.Equal(t, []string{"the limit on value look-ups was reached"}, got.Notes, "notes")
	if got, err := (linker.Values{Probes: 10}).Link(t.Context(), in); err != nil || len(got.Notes) > 0 ||
		!strings.Contains(matches(got), "country=Norway") {
		t.Errorf("exactly enough: %q, notes %q, %v", matches(got), got.Notes, err)
	}
}

// TestValuesFailing counts failed look-ups as not found and tells the first.
func TestValuesFailing(t *testing.T) {
	db, s := open(t, shop, exec.Config{Policy: exec.Policy{DenyColumns: []string{"customers.name"}}})
	// A schema that names more than the policy allows, and what does not exist.
	all := *s
	all.Tables = append([]schema.Table{tables([]string{"missing", "x"}).Tables[0],
		tables([]string{"customers", "name"}).Tables[0]}, s.Tables...)
	got, err := linker.Values{}.Link(t.Context(), linker.Input{Question: `"Norway"?`, Schema: &all, DB: db})
	if err != nil || !strings.Contains(matches(got), "customers.country=Norway") {
		t.Errorf("got %q, %v", matches(got), err)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "some value look-ups failed") ||
		!strings.Contains(got.Notes[0], "missing") {
		t.Errorf("notes: %q", got.Notes)
	}
}

// TestValuesSlowTables looks no more into a table that took all of its time, and
// nowhere after three of them. Endless views stand for big tables.
func TestValuesSlowTables(t *testing.T) {
	var script strings.Builder
	for i := range 4 {
		fmt.Fprintf(&script, "CREATE VIEW t%d AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "+
			"SELECT 'x' || i AS a, 'y' || i AS b FROM n;\n", i)
	}
	db, _ := open(t, script.String(),
		exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Timeout: 100 * time.Millisecond}}})
	var s schema.Schema
	for i := range 4 {
		s.Tables = append(s.Tables, schema.Table{Name: fmt.Sprintf("t%d", i),
			Columns: []schema.Column{{Name: "a", Type: "TEXT"}, {Name: "b", Type: "TEXT"}}})
	}
	got, err := linker.Values{}.Link(t.Context(), linker.Input{Question: `"Norway" or "Sweden"?`, Schema: &s, DB: db})
	if err != nil || len(got.Notes) != 2 || !strings.Contains(got.Notes[0], "3 tables were too slow") ||
		!strings.Contains(got.Notes[1], "limit on time") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestValuesEndsWithContext(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (linker.Values{}).Link(ctx, linker.Input{Question: `"Norway"`, Schema: s, DB: db}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (linker.Values{}).Link(ctx, linker.Input{Question: "no value", Schema: s}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("without a database: %v", err)
	}
}
