package linker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// linked writes links in one line: table(columns) in order, "*" for all
// columns, or "whole".
func linked(l schema.Links) string {
	var parts []string
	if l.Whole {
		parts = append(parts, "whole")
	}
	for _, t := range l.Tables {
		columns := "*"
		if t.Columns != nil {
			columns = strings.Join(t.Columns, ",")
		}
		parts = append(parts, t.Table+"("+columns+")")
	}
	return strings.Join(parts, " ")
}

// numbered makes n tables alike, named by their numbers.
func numbered(format string, n int) *schema.Schema {
	s := tables()
	for i := range n {
		s.Tables = append(s.Tables, tables([]string{fmt.Sprintf(format, i), "amount"}).Tables...)
	}
	return s
}

// lettered makes tables that no family joins, called sale_b, sale_c and so on.
func lettered(n int) *schema.Schema {
	s := tables()
	for i := range n {
		s.Tables = append(s.Tables,
			tables([]string{"sale_" + string(rune('j'+i%16)) + strings.Repeat("x", i/16), "amount"}).Tables...)
	}
	return s
}

// links names all tables of s.
func links(s *schema.Schema) (all []schema.TableLink) {
	for _, t := range s.Tables {
		all = append(all, schema.TableLink{Table: t.Name})
	}
	return all
}

func TestLexical(t *testing.T) {
	described := tables([]string{"t1", "c1"}, []string{"t2", "c2"})
	described.Tables[0].Description = "what a person paid for"
	described.Tables[1].Columns[0].Title = "credit limit"
	exampled := tables([]string{"customers", "country", "name"}, []string{"orders", "status"})
	exampled.Tables[0].Columns[0].Profile = &schema.Profile{Examples: []any{"New Zealand", int64(7), "Norway"}}
	exampled.Tables[1].Columns[0].Profile = &schema.Profile{Examples: []any{"shipped"}}
	days := tables([]string{"ga_20170131", "hits"}, []string{"ga_20170201", "hits"}, []string{"ga_20170202", "hits"},
		[]string{"ga_20170301", "hits"})
	secret := tables([]string{"customers", "pin"}, []string{"orders", "status"})
	secret.Tables[0].Columns[0].Profile = &schema.Profile{Examples: []any{"norway"}}
	secret.Tables[0].Columns[0].Sensitive = true

	tests := []struct {
		name          string
		lexical       linker.Lexical
		schema        *schema.Schema
		question      string
		evidence      string
		withoutValues bool
		want          string
		note          string
		why           string
	}{
		{
			name: "plural", schema: tables([]string{"country", "code"}, []string{"box", "size"}),
			question: "How many countries have boxes?",
			want:     "country(*) box(*)", why: "both sides are stemmed",
		},
		{
			name: "plural in the schema", schema: tables([]string{"customers", "id"}, []string{"orders", "id"}),
			question: "Who is the best customer?",
			want:     "customers(*)", why: "in either direction",
		},
		{
			name: "word boundary", schema: tables([]string{"rate", "x"}, []string{"orders", "y"}),
			question: "Count the separate orders", want: "orders(*)",
			why: "rate is no word of separate",
		},
		{
			name: "camelCase", schema: tables([]string{"orderDetails", "quantityOrdered"}, []string{"offices", "city"}),
			question: "What quantity was ordered?", want: "orderDetails(*)", why: "names are split into words",
		},
		{
			name: "snake_case", schema: tables([]string{"t", "credit_limit"}, []string{"u", "x"}),
			question: "Who has a credit card?", want: "t(*)",
			why: "one word of two is a match",
		},
		{name: "case", schema: tables([]string{"ORDERS", "ID"}, []string{"t", "x"}), question: "ORDERS?", want: "ORDERS(*)",
			why: "case does not matter"},
		{
			name: "stop words", schema: tables([]string{"how", "many"}, []string{"orders", "id"}),
			question: "How many orders are there?", want: "orders(*)",
			why: "words that name nothing do not count",
		},
		{
			name: "rare words first", schema: tables([]string{"a", "name"}, []string{"b", "name"},
				[]string{"c", "name", "country"}),
			question: "name and country", want: "c(*) a(*) b(*)", why: "a word on every table is shared out, country is on one",
		},
		{
			name: "table before column", schema: tables([]string{"visits", "patient"}, []string{"patient", "id"}),
			question: "patients",
			want:     "patient(*) visits(*)", why: "3 for a table, 2 for a column",
		},
		{
			name: "ties", schema: tables([]string{"b", "name"}, []string{"a", "name"}), question: "names", want: "b(*) a(*)",
			why: "of equal scores the earlier table stays first",
		},
		{
			name: "columns", lexical: linker.Lexical{Columns: true}, schema: tables([]string{"orders", "status", "total"},
				[]string{"customers", "name"}),
			question: "status of orders of customers", want: "orders(status) customers(*)",
			why: "a table that matches by its name alone keeps all",
		},
		{
			name: "most tables", lexical: linker.Lexical{Tables: 2}, schema: tables([]string{"sale", "x"}, []string{"t", "sale"},
				[]string{"u", "amount"}),
			question: "sale amount", want: "u(*) sale(*)", note: "3 tables match words of the question, the best 2 are kept",
			why: "what is left out is told",
		},
		{
			name: "ties at the end", lexical: linker.Lexical{Tables: 2}, schema: lettered(4), question: "sale amount",
			want: "sale_j(*) sale_k(*) sale_l(*) sale_m(*)", note: "4 tables match words of the question, the best 4 are kept",
			why: "none goes for its place",
		},
		{
			name: "ties behind a better one", lexical: linker.Lexical{Tables: 2}, schema: lettered(3), question: "sale l",
			want: "sale_l(*) sale_j(*) sale_k(*)", note: "the best 3 are kept",
			why: "its letter puts its table first, the others may be meant too",
		},
		{
			name: "eight by default", schema: lettered(16), question: "sale", note: "the best 16 are kept",
			want: linked(schema.Links{Tables: links(lettered(16))}), why: "the documented default, twice for ties",
		},
		{
			name: "too many alike, one named", schema: lettered(40), question: "amount of sale k", want: "sale_k(*)",
			note: "39 tables match words of the question equally well", why: "k is named, and the rest is noise",
		},
		{
			name: "too many alike, none named", schema: lettered(40), question: "amount of the sale",
			want: linked(schema.Links{Tables: links(lettered(40))}), note: "words cannot choose among them",
			why: "any eight would be a guess",
		},
		{
			name: "too many alike for a prompt", schema: lettered(120), question: "amount of the sale",
			want: linked(schema.Links{Tables: links(lettered(40))}), note: "120 tables match words of the question, the best 40",
			why: "no prompt has room for all",
		},
		{
			name: "a family, one named", schema: numbered("sale_%03d", 300), question: "amount of sale 42", want: "sale_042(*)",
			note: "sale_000 to sale_299 are a family of 300 tables alike: the question means sale_042", why: "42 meets 042",
		},
		{
			name: "a family, one named in full", schema: numbered("sale%03d", 300), question: "amount of Sale042",
			want: "sale042(*)",
			note: "the question means sale042", why: "a name in a question is split as names are",
		},
		{
			name: "a family, two named", schema: numbered("sale_%d", 300), question: "amount of sale from 42 to 44",
			want: "sale_42(*) sale_43(*) sale_44(*)", note: "the question means sale_42, sale_43, sale_44",
			why: "what is between two numbers is meant too",
		},
		{
			name: "a family, none named", schema: numbered("sale_%03d", 300), question: "amount of the sale",
			want: "sale_299(*)",
			note: "the question names none, the last is linked: sale_299", why: "the newest, and a note",
		},
		{
			name: "a small family", schema: numbered("sale_%d", 3), question: "amount of sale 1",
			want: "sale_0(*) sale_1(*) sale_2(*)",
			why:  "three tables more cost little",
		},
		{
			name: "days of a month", schema: days,
			question: "hits in February 2017", want: "ga_20170201(*) ga_20170202(*)", note: "means ga_20170201, ga_20170202",
			why: "a month is the beginning of a day's name",
		},
		{
			name: "a day", schema: days,
			question: "hits on 2017-02-02, and in 2017", want: "ga_20170202(*)", note: "means ga_20170202",
			why: "the longest number counts",
		},
		{
			name: "names alike, columns not", question: "price",
			schema: tables([]string{"t1", "amount"}, []string{"t2", "price"}, []string{"t3", "size"}, []string{"t4", "colour"}),
			want:   "t2(*)", why: "a number alone makes no family",
		},
		{
			name: "fill", lexical: linker.Lexical{Tables: 2, Fill: true},
			schema:   tables([]string{"orders", "customer_id"}, []string{"box", "size"}, []string{"clients", "customer_id"}),
			question: "orders", want: "orders(*) clients(*)", why: "a table that shares a key is closer than one that does not",
		},
		{
			name: "beginnings", schema: tables([]string{"orderdetails", "x"}, []string{"orders", "y"}, []string{"boxes", "z"}),
			question: "orders", want: "orders(*) orderdetails(*)", why: "a name that begins with a word counts half",
		},
		{name: "descriptions", schema: described, question: "Who paid?", want: "t1(*)", why: "what a table means counts"},
		{name: "titles", schema: described, question: "credit", want: "t2(*)", why: "and a readable name"},
		{
			name: "evidence", schema: tables([]string{"orders", "total"}, []string{"customers", "name"}),
			question: "How big are they?",
			evidence: "big refers to total", want: "orders(*)", why: "evidence is read like the question",
		},
		{name: "values", schema: exampled, question: "how many from new zealand", want: "customers(*)",
			why: "every word of the value stands in the question"},
		{name: "part of a value", schema: exampled, question: "what is new", want: "whole", note: "no word of the question",
			why: "one word of two is no value"},
		{
			name: "values not allowed", schema: exampled, question: "which were shipped to Norway", withoutValues: true,
			want: "whole",
			note: "no word of the question", why: "without values they say nothing",
		},
		{name: "sensitive values", schema: secret, question: "norway", want: "whole", note: "no word",
			why: "a sensitive column is not looked into"},
		{
			name: "Spanish", schema: tables([]string{"customers", "country"}), question: "¿Qué clientes viven en Noruega?",
			want: "whole",
			note: "no word of the question matches the schema", why: "no match: the whole schema, with a note",
		},
		{
			name: "Chinese", schema: tables([]string{"customers", "country"}), question: "有哪些客户住在美国？", want: "whole",
			note: "no word",
			why:  "the same without blanks between words",
		},
		{
			name: "schema of that language", schema: tables([]string{"客户", "国家"}, []string{"orders", "id"}), question: "客户 的 国家",
			want: "客户(*)", why: "words of any script match",
		},
		{name: "no question", schema: tables([]string{"t", "x"}), question: "", want: "whole", note: "no word",
			why: "nothing asked, nothing chosen"},
		{name: "no tables", schema: &schema.Schema{}, question: "orders", want: "whole", note: "no word",
			why: "an empty schema is no error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := linker.Input{Question: tt.question, Evidence: tt.evidence, Schema: tt.schema, WithoutValues: tt.withoutValues}
			root := trace.Tracer{}.New("test")
			got := testutil.Value(tt.lexical.Link(trace.NewContext(t.Context(), root), in))(t)
			if warned := len(root.Warnings()) == 1 && root.Warnings()[0].Code == "no-choice"; warned != strings.Contains(tt.name,
				"too many") {
				t.Errorf("warnings %v: %s", root.Warnings(), tt.why)
			}
			if linked(got) != tt.want {
				t.Errorf("got %s, want %s: %s", linked(got), tt.want, tt.why)
			}
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
				t.Errorf("notes %q, want %q: %s", notes, tt.note, tt.why)
			}
			for range 5 {
				again, _ := tt.lexical.Link(t.Context(), in)
				if diff := cmp.Diff(got, again); diff != "" {
					t.Fatalf("the same question gave other links (-first +again):\n%s", diff)
				}
			}
		})
	}
}

// TestLexicalValues carries the value that the words of the question are.
func TestLexicalValues(t *testing.T) {
	s := tables([]string{"customers", "country"})
	s.Tables[0].Columns[0].Profile = &schema.Profile{Examples: []any{"New Zealand"}}
	got := testutil.Value(linker.Lexical{}.Link(t.Context(), linker.Input{Question: "Who lives in new zealand?",
		Schema: s}))(t)
	want := []schema.ValueMatch{{Column: "country", Value: "New Zealand", Span: "new zealand"}}
	golden.Equal(t, want, got.Tables[0].Values, "values")
}

// TestLexicalWithoutAMatch: no word matches a table, and more are wanted than there are.
func TestLexicalWithoutAMatch(t *testing.T) {
	s := tables()
	for i := range 50 {
		s.Tables = append(s.Tables, tables([]string{fmt.Sprintf("warehouse%c", 'a'+i), "stock"}).Tables...)
	}
	got := testutil.Value(linker.Lexical{Tables: 60}.Link(t.Context(), linker.Input{Question: "Wer wohnt dort?",
		Schema: s}))(t)
	golden.Equal(t, true, got.Whole, "all tables")
}

func TestLexicalEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (linker.Lexical{}).Link(ctx, linker.Input{Schema: tables()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkLexical links a question to 1,000 tables of 20 columns.
func BenchmarkLexical(b *testing.B) {
	s := tables()
	for i := range 1000 {
		names := []string{fmt.Sprintf("warehouse_%d", i)}
		for j := range 20 {
			names = append(names, fmt.Sprintf("some_column_%d", j))
		}
		s.Tables = append(s.Tables, tables(names).Tables...)
	}
	in := linker.Input{Question: "Which warehouse has the largest column 7?", Schema: s}
	for b.Loop() {
		if _, err := (linker.Lexical{}).Link(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
