package linker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

func TestConversation(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	name := func(table string) schema.TableName { return schema.TableName{Name: table} }
	column := func(table, column string) schema.ColumnName {
		return schema.ColumnName{Table: name(table), Column: column}
	}
	answered := func(sql ...string) (earlier []session.PreviousTurn) {
		for _, q := range sql {
			earlier = append(earlier, session.PreviousTurn{Question: "?", SQL: q})
		}
		return earlier
	}
	some := schema.Links{Tables: []schema.TableLink{{Table: "orders", Columns: []string{"total"}, Score: 1}}}
	tests := []struct {
		name, why   string
		found       schema.Links
		earlier     []session.PreviousTurn
		corrections []session.Correction
		want        []string // table, and its columns
	}{
		{"alone", "nothing was said before", some, nil, nil, []string{"orders [total]"}},
		{"last", "a follow-up seldom names the tables again", some,
			answered("SELECT body FROM notes", "SELECT name FROM customers"), nil,
			[]string{"orders [total]", "customers []"}},
		{"same", "the statement before may need any column", some, answered("SELECT id FROM Orders"), nil,
			[]string{"orders []"}},
		{"view", "the engine tells what lies under it too", some, answered("SELECT name FROM spenders"), nil,
			[]string{"orders [total]", "customers []", "spenders []"}},
		{"rejected by the engine", "its text names the table", some, answered("SELECT nothing FROM notes"), nil,
			[]string{"orders [total]", "notes []"}},
		{"unreadable", "what is no statement reads nothing", some, answered("hello"), nil, []string{"orders [total]"}},
		{"whole", "the whole schema has them all", schema.Links{Whole: true}, answered("SELECT body FROM notes"), nil, nil},
		{"no opinion", "the question leans on the one before", schema.Links{}, answered("SELECT body FROM notes"), nil,
			[]string{"notes []"}},
		{"no opinion at all", "a statement that reads nothing is none", schema.Links{}, answered("SELECT 1"), nil, nil},
		{"no opinion, corrected", "one table is not all that a question needs", schema.Links{}, nil,
			[]session.Correction{{Kind: dialogue.CorrectTable, Tables: []schema.TableName{name("notes")}}}, nil},
		{"selected", "by the user, without case", some, nil,
			[]session.Correction{{Kind: dialogue.CorrectTable, Tables: []schema.TableName{name("NOTES")}}},
			[]string{"orders [total]", "notes []"}},
		{"rejected", "the other way round", some, answered("SELECT body FROM notes"),
			[]session.Correction{{Kind: dialogue.CorrectTable, Rejected: []schema.TableName{name("Notes")}}},
			[]string{"orders [total]"}},
		{"join", "both sides, with the columns", some, nil,
			[]session.Correction{{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: column("orders", "customer_id"),
				Right: column("customers", "id")}}},
			[]string{"orders [total customer_id]", "customers []"}},
		{"column", "its table", some, nil,
			[]session.Correction{{Kind: dialogue.CorrectColumn, Term: "state", Column: new(column("orders", "status"))}},
			[]string{"orders [total status]"}},
		{"unknown", "what does not exist cannot be linked", some, nil,
			[]session.Correction{{Kind: dialogue.CorrectTable, Tables: []schema.TableName{name("nothing")}}},
			[]string{"orders [total]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			given := linker.Func(func(context.Context, linker.Input) (schema.Links, error) { return tt.found, nil })
			links, err := linker.Conversation{Linker: given}.Link(t.Context(),
				linker.Input{Schema: s, DB: db, Earlier: tt.earlier, Corrections: tt.corrections})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range links.Tables {
				got = append(got, fmt.Sprint(l.Table, " ", l.Columns))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || links.Whole != tt.found.Whole {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
	golden.Equal(t, []schema.TableLink{{Table: "orders", Columns: []string{"total"}, Score: 1}}, some.Tables,
		"the links of the other linker changed")
}

// A follow-up without a word of the schema is about what the answer before it reads; a question of its own needs all.
func TestLexicalFollowUp(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	in := linker.Input{Question: "and in 2004?", Schema: s, DB: db}
	if links, err := (linker.Lexical{}).Link(t.Context(), in); err != nil || !links.Whole {
		t.Errorf("alone: %+v, %v", links, err)
	}
	in.Earlier = []session.PreviousTurn{{Question: "?", SQL: "SELECT body FROM notes"}}
	links, err := linker.Conversation{Linker: linker.Lexical{}}.Link(t.Context(), in)
	if err != nil || links.Whole || len(links.Tables) != 1 || links.Tables[0].Table != "notes" || len(links.Notes) != 1 {
		t.Errorf("follow-up: %+v, %v", links, err)
	}
}

func TestConversationFails(t *testing.T) {
	db, s := open(t, shop, exec.Config{})
	broken := errors.New("no")
	failing := linker.Func(func(context.Context, linker.Input) (schema.Links, error) { return schema.Links{}, broken })
	if _, err := (linker.Conversation{Linker: failing}).Link(t.Context(), linker.Input{Schema: s, DB: db}); !errors.Is(err,
		broken) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancelling := linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
		cancel()
		return schema.Links{Tables: []schema.TableLink{{Table: "orders"}}}, nil
	})
	in := linker.Input{Schema: s, DB: db, Earlier: []session.PreviousTurn{{SQL: "SELECT 1"}}}
	if _, err := (linker.Conversation{Linker: cancelling}).Link(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func ExampleConversation() {
	s := tables([]string{"customers", "id", "name"}, []string{"orders", "id", "total"}, []string{"notes", "body"})
	l := linker.Conversation{Linker: linker.Lexical{}}
	links, err := l.Link(context.Background(), linker.Input{
		Question: "and their orders?", Schema: s,
		Earlier: []session.PreviousTurn{{Question: "Who are the customers?", SQL: "SELECT name FROM customers"}},
	})
	for _, t := range links.Tables {
		fmt.Println(t.Table)
	}
	fmt.Println(err)
	// Output:
	// orders
	// customers
	// <nil>
}
