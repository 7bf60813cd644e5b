package session_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

func TestRecordOfTurns(t *testing.T) {
	answer := func(sql string) *session.Answer { return &session.Answer{SQL: sql} }
	said := func(text string) *session.Correction {
		return &session.Correction{Kind: dialogue.CorrectText, Text: text}
	}
	question := func(text, sql string) session.Turn {
		return session.Turn{Kind: dialogue.TurnQuestion, Text: text, Answer: answer(sql)}
	}
	written := func(sql string, confirmed bool) session.Turn {
		return session.Turn{Kind: dialogue.TurnStatement, Text: sql, Confirmed: confirmed}
	}
	unanswered := session.Turn{Kind: dialogue.TurnFollowUp, Text: "unanswered"}
	correction := session.Turn{
		Kind: dialogue.TurnCorrection, Correction: &session.Correction{Kind: dialogue.CorrectFilter, Text: "c"},
		Answer: answer("corrected"),
	}
	prose := session.Turn{Kind: dialogue.TurnCorrection, Correction: said("p")}
	tests := []struct {
		why         string
		turns       []session.Turn
		turn        int
		corrections int // of the current question
		corrected   int // that are counted
		earlier     []session.PreviousTurn
	}{
		{"nothing asked", nil, -1, 0, 0, nil},
		{"the current question is not an earlier one", []session.Turn{question("q1", "s1")}, 0, 0, 0, nil},
		{"a corrected answer is the answer; a follow-up starts without corrections",
			[]session.Turn{question("q1", "s1"), correction, unanswered}, 2, 0, 0,
			[]session.PreviousTurn{{Question: "q1", SQL: "corrected"}}},
		{"a choice is not counted, nor is what was held of a correction that could not be used",
			[]session.Turn{unanswered, {Kind: dialogue.TurnChoice, Option: "r1"}, correction,
				{Kind: dialogue.TurnPartial, Correction: said("h")}}, 0, 2, 1, nil},
		{"prose is not counted, whatever it names", []session.Turn{unanswered, prose, correction, prose}, 0, 3, 1, nil},
		{"what has no answer is no earlier question",
			[]session.Turn{question("q1", "s1"), unanswered, question("q2", "s2")}, 2, 0, 0,
			[]session.PreviousTurn{{Question: "q1", SQL: "s1"}}},
		{"a confirmation changes nothing",
			[]session.Turn{question("q1", "s1"), {Kind: dialogue.TurnConfirmation, Text: "alone"}, question("q2", "s2")}, 2,
			0, 0,
			[]session.PreviousTurn{{Question: "q1", SQL: "s1"}}},
		{"a statement of the user answers what it was confirmed for, and only that",
			[]session.Turn{written("s0", true), question("q1", ""), written("own", true), question("q2", "s2"),
				written("other", false), unanswered}, 5, 0, 0,
			[]session.PreviousTurn{{Question: "q1", SQL: "own"}, {Question: "q2", SQL: "s2"}}},
		{"the last three", []session.Turn{question("q1", "s1"), question("q2", "s2"), question("q3", "s3"),
			question("q4", "s4"), unanswered}, 4, 0, 0,
			[]session.PreviousTurn{{Question: "q2", SQL: "s2"}, {Question: "q3", SQL: "s3"}, {Question: "q4", SQL: "s4"}}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			r := session.Record{Turns: tt.turns}
			if r.Turn() != tt.turn || len(r.Corrections()) != tt.corrections || r.Corrected() != tt.corrected {
				t.Errorf("turn %d, %d corrections, %d counted", r.Turn(), len(r.Corrections()), r.Corrected())
			}
			golden.Equal(t, tt.earlier, r.Earlier(), "earlier")
		})
	}
}

// TestCorrectionsInForce: a statement could not obey both of two corrections that contradict each other.
func TestCorrectionsInForce(t *testing.T) {
	known := shop()
	for _, tt := range []struct {
		why         string
		said, wants []string
	}{
		{"what agrees stays", []string{"use table orders", "not table clients", "client means customers.id"},
			[]string{"table orders", "table  not clients", "column 'client' Customers.id"}},
		{"a selected table is rejected", []string{"use table clients not customers",
			"use table customers instead of table clients"},
			[]string{"table Customers not clients"}},
		{"prose names a rejected table", []string{"not table clients", "take the region of the client"},
			[]string{"natural take the region of the client"}},
		{"prose with a contrast says it again",
			[]string{"not table clients", "take orders instead of clients where possible"},
			[]string{"table  not clients", "natural take orders instead of clients where possible"}},
		{"prose with a negation keeps it out", []string{"not table clients", "clients is still wrong"},
			[]string{"table  not clients", "natural clients is still wrong"}},
		{"prose turns on a selected table", []string{"use table orders", "order is the wrong one"},
			[]string{"natural order is the wrong one"}},
		{"prose about a selected table", []string{"use table orders", "only orders of 2020"},
			[]string{"table orders", "natural only orders of 2020"}},
		{"prose about a part of its name", []string{"not table Order Details", "the details of 2020"},
			[]string{"table  not Order Details", "natural the details of 2020"}},
		{"back and forth", []string{"use table orders", "not table orders", "use table orders"}, []string{"table orders"}},
		{"one of two", []string{"use tables clients and orders", "not table clients"},
			[]string{"table orders", "table  not clients"}},
		{"a join of a table that is rejected", []string{"orders.customer_id = customers.id", "not table customers"},
			[]string{"table  not Customers"}},
		{"a rejected table is joined", []string{"not table customers", "orders.customer_id = customers.id"},
			[]string{"join orders.customer_id = Customers.id"}},
		{"a word means a column of a rejected table", []string{"not table customers", "town means customers.city"},
			[]string{"column 'town' Customers.city"}},
		{"a word means something else", []string{"Town means customers.city", "town means aux.stores.city"},
			[]string{"column 'town' aux.Stores.city"}},
	} {
		r, typed := session.Record{Turns: []session.Turn{{Kind: dialogue.TurnQuestion}}}, 0
		for _, text := range tt.said {
			c := testutil.Value(session.Parse(text, known))(t)
			r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnCorrection, Correction: &c})
			if c.Kind != dialogue.CorrectText {
				typed++
			}
		}
		var got []string
		for _, c := range r.Corrections() {
			got = append(got, say(c))
		}
		if diff := cmp.Diff(tt.wants, got); diff != "" || r.Corrected() != typed {
			t.Errorf("%s: %d counted (-want +got):\n%s", tt.why, r.Corrected(), diff)
		}
	}
}

func TestClone(t *testing.T) {
	rows := &result.Table{}
	r := session.New(session.NewID(), time.Now().UTC().Round(0))
	r.Pending = &session.QuestionError{Kind: dialogue.KindResult, Options: []session.Option{{ID: "r1", Rows: rows}}}
	r.Turns = []session.Turn{{Kind: dialogue.TurnQuestion, Text: "q", Answer: &session.Answer{SQL: "s"}}}
	c := r.Clone()
	if diff := cmp.Diff(r, c); diff != "" || c.Pending.Options[0].Rows != rows {
		t.Errorf("(-record +clone):\n%s", diff)
	}
	c.Turns[0].Answer.SQL, c.Pending.Options[0].ID = "other", "other"
	if r.Turns[0].Answer.SQL != "s" || r.Pending.Options[0].ID != "r1" {
		t.Error("the clone shares with the record")
	}
}

func TestQuestionCorrection(t *testing.T) {
	name := func(n string) *schema.TableName { return &schema.TableName{Name: n} }
	join := &schema.Join{Left: schema.ColumnName{Table: *name("a"), Column: "x"},
		Right: schema.ColumnName{Table: *name("b"), Column: "y"}}
	tables := &session.QuestionError{Kind: dialogue.KindTable, Options: []session.Option{
		{ID: "t1", Table: name("a")}, {ID: "t2", Table: name("b")}, {ID: "t3", Table: name("c")},
	}}
	tests := []struct {
		why      string
		question *session.QuestionError
		id, want string
	}{
		{"a table rejects the others", tables, "t2", "table b not a,c"},
		{"a join", &session.QuestionError{Kind: dialogue.KindJoin, Options: []session.Option{{ID: "j1", Join: join}}}, "j1",
			"join a.x = b.y"},
		{"a result corrects nothing", &session.QuestionError{Kind: dialogue.KindResult,
			Options: []session.Option{{ID: "r1", SQL: "SELECT 1"}}}, "r1", "natural "},
		{"an unknown id", tables, "t4", "!no option \"t4\"; choose one of t1, t2, t3"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			c, err := tt.question.Correction(tt.id)
			if tt.want[0] == '!' {
				var bad *session.CorrectionError
				if !errors.As(err, &bad) || bad.Reason != "the question has "+tt.want[1:] {
					t.Error(err)
				}
			} else if err != nil || say(c) != tt.want {
				t.Errorf("%s, %v", say(c), err)
			}
		})
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := session.NewID()
		if session.CheckID(id) != nil || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
}

// Only the owner of the latest revision can save. The one who was late loads again.
func ExampleStore() {
	ctx := context.Background()
	var store session.MemoryStore
	r := session.New(session.NewID(), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	fmt.Println(store.Save(ctx, r))
	fmt.Println(errors.Is(store.Save(ctx, r), session.ErrConflict)) // revision 1 is stored, r was made from none
	r, _ = store.Load(ctx, r.ID)
	fmt.Println(r.Revision, store.Save(ctx, r))
	// Output:
	// <nil>
	// true
	// 1 <nil>
}

func ExampleOpenFiles() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := session.OpenFiles(dir)
	if err != nil {
		log.Fatal(err)
	}
	r := session.New(session.NewID(), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	r.Turns = []session.Turn{{Kind: dialogue.TurnQuestion, Text: "How many orders are there?"},
		{Kind: dialogue.TurnFollowUp, Text: "In 2024?"}}
	if err := store.Save(ctx, r); err != nil {
		log.Fatal(err)
	}
	all, err := store.List(ctx, session.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range all {
		fmt.Println(s.State, s.Question)
	}
	// Output: initializing How many orders are there?
}

// Sweep deletes what is old; a server calls it once a day.
func ExampleDeleteExpired() {
	ctx := context.Background()
	var store session.MemoryStore
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	if err := store.Save(ctx, session.New(session.NewID(), day)); err != nil {
		log.Fatal(err)
	}
	for _, days := range []int{89, 91} {
		deleted, err := session.DeleteExpired(ctx, &store, day.AddDate(0, 0, days))
		fmt.Println(len(deleted), err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
}

func ExampleRecord_Move() {
	r := session.New(session.NewID(), time.Time{})
	fmt.Println(r.Move(dialogue.SchemaLoading, time.Time{}, "a question"))
	fmt.Println(r.Move(session.Completed, time.Time{}, ""))
	// Output:
	// <nil>
	// session: completed may not follow schema_loading
}

// The choice of a table is a correction: the other tables must not be read.
func ExampleQuestionError_Correction() {
	q := &session.QuestionError{Kind: dialogue.KindTable, Message: "Which table holds the orders?",
		Options: []session.Option{
			{ID: "t1", Label: "orders", Table: &schema.TableName{Name: "orders"}},
			{ID: "t2", Label: "orders_archive", Table: &schema.TableName{Name: "orders_archive"}},
		}}
	c, err := q.Correction("t1")
	fmt.Println(c.Constraint(), err)
	// Output: MANDATORY TABLE: Use table 'orders'. DO NOT use: orders_archive <nil>
}

// TestStatement: a statement that the user wrote is nothing that the state is about, and names a conversation only
// until something was asked.
func TestStatement(t *testing.T) {
	r := session.Record{Turns: []session.Turn{{Kind: dialogue.TurnStatement, Text: "SELECT 1"}}}
	if r.Turn() != -1 || r.Last() != 0 || r.Summary().Question != "SELECT 1" {
		t.Error(r.Turn(), r.Last(), r.Summary())
	}
	r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnQuestion, Text: "q"},
		session.Turn{Kind: dialogue.TurnStatement, Text: "SELECT 2"},
		session.Turn{Kind: dialogue.TurnFollowUp, Text: "f"}, session.Turn{Kind: dialogue.TurnStatement, Text: "SELECT 3"})
	if r.Turn() != 3 || r.Last() != 3 || r.Summary().Question != "q" {
		t.Error(r.Turn(), r.Last(), r.Summary())
	}
}

// TestChosenBefore: a choice counts where the same options were there: a table that was selected for another reason
// does not decide.
func TestChosenBefore(t *testing.T) {
	table := func(name string) *schema.TableName { return &schema.TableName{Name: name} }
	q := &session.QuestionError{Kind: dialogue.KindTable, Options: []session.Option{{ID: "t1", Table: table("a")},
		{ID: "t2", Table: table("b")}}}
	for _, tt := range []struct {
		c    session.Correction
		want string
		why  string
	}{
		{session.Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{*table("b")},
			Rejected: []schema.TableName{*table("a")}},
			"t2", "the same choice"},
		{session.Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{*table("b")}}, "", "a was not rejected"},
		{session.Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{*table("b")},
			Rejected: []schema.TableName{*table("c")}}, "", "another one was"},
	} {
		r := session.New(session.NewID(), time.Unix(0, 0))
		r.Turns = []session.Turn{{Kind: dialogue.TurnQuestion}, {Kind: dialogue.TurnChoice, Correction: &tt.c},
			{Kind: dialogue.TurnQuestion}}
		if o, c := r.ChosenBefore(q); o.ID != tt.want || (c.Kind == "") != (tt.want == "") {
			t.Errorf("%s: %q, %v; want %q", tt.why, o.ID, c, tt.want)
		}
	}
}

func TestSaid(t *testing.T) {
	say := func(text string) session.Turn {
		return session.Turn{Kind: dialogue.TurnCorrection, Correction: &session.Correction{Kind: dialogue.CorrectLogic,
			Text: text}}
	}
	ask := session.Turn{Kind: dialogue.TurnQuestion, Text: "How many?"}
	for _, tt := range []struct {
		why   string
		turns []session.Turn
		want  []string
	}{
		{"it holds for every later question", []session.Turn{ask, say("done means status is paid"), ask, ask, ask, ask, ask},
			[]string{"BUSINESS LOGIC: done means status is paid"}},
		{"the later of two", []session.Turn{ask, say("done means paid"), ask, say("done means sent"), ask},
			[]string{"BUSINESS LOGIC: done means sent"}},
		{"taken back", []session.Turn{ask, say("done means paid"), ask, say("forget what I said about done and paid"), ask},
			nil},
		{"two terms", []session.Turn{ask, say("done means paid"), ask, say("big is over 100"), ask},
			[]string{"BUSINESS LOGIC: done means paid", "BUSINESS LOGIC: big is over 100"}},
		{"that of the question itself stands among its corrections", []session.Turn{ask, say("done means paid")}, nil},
		{"the newest of much", []session.Turn{ask, say("a means " + strings.Repeat("x", 1500)), ask,
			say("b means " + strings.Repeat("y", 1500)), ask},
			[]string{"BUSINESS LOGIC: b means " + strings.Repeat("y", 1500)}},
	} {
		r := session.Record{Turns: tt.turns}
		if diff := cmp.Diff(tt.want, r.Said()); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}
