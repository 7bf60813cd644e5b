package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/strategy"
)

// TestShotsLeakage: a pair is no exemplar for its own question in other words or
// with other values.
func TestShotsLeakage(t *testing.T) {
	tests := []struct {
		name     string
		pair     strategy.Pair
		question string
		shown    bool
		why      string
	}{
		{"itself", strategy.Pair{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"}, "How many orders are there?", false, "the question itself"},
		{"case and blanks", strategy.Pair{Question: "How many orders are there?", SQL: "SELECT 1"}, "  how many\nORDERS are there?", false, "spelled otherwise"},
		{"punctuation", strategy.Pair{Question: "How many orders, are there?", SQL: "SELECT 1"}, "How many orders are there", false, "marks do not count"},
		{"other number", strategy.Pair{Question: "Which orders cost more than 100?", SQL: "SELECT id FROM orders WHERE total > 100"}, "Which orders cost more than 2,500.5?", false, "the same template"},
		{"other value", strategy.Pair{Question: "How many orders came from France?", SQL: "SELECT count(*) FROM orders WHERE country = 'France'"}, "How many orders came from Norway?", false, "the same template"},
		{"value of several words", strategy.Pair{Question: "How many orders came from France?", SQL: "SELECT count(*) FROM orders WHERE country = 'France'"}, "How many orders came from the United States?", false, "a value may be a few words"},
		{"several words for one", strategy.Pair{Question: "orders of New South Wales", SQL: "SELECT 1 FROM o WHERE x = 'New South Wales'"}, "orders of Wales", false, "or one word for a few"},
		{"two values", strategy.Pair{Question: "Did Ada order more than Bo?", SQL: "SELECT 1 WHERE 'Ada' > 'Bo'"}, "Did Cyd order more than Dee Dee?", false, "each of them"},
		{"value at the end of a longer question", strategy.Pair{Question: "How many orders came from France?", SQL: "SELECT count(*) FROM orders WHERE country = 'France'"}, "How many orders came from France and were never shipped at all?", true, "five words more are no value"},
		{"quoted value", strategy.Pair{Question: "Which orders are 'On Hold'?", SQL: "SELECT id FROM orders WHERE status = 'On Hold'"}, `Which orders are "Shipped"?`, false, "quotes do not matter"},
		{"value that the SQL does not hold", strategy.Pair{Question: "Which orders are late?", SQL: "SELECT id FROM orders WHERE shipped > required"}, "Which orders are early?", true, "another question"},
		{"other question", strategy.Pair{Question: "How many orders are there?", SQL: "SELECT 1"}, "How many customers are there?", true, "what exemplars are for"},
		{"template with more words", strategy.Pair{Question: "How many orders are there?", SQL: "SELECT 1"}, "How many orders are there in all?", true, "a part of it is not it"},
		{"broken SQL", strategy.Pair{Question: "How many orders of 'France", SQL: "SELECT 'France"}, "How many customers?", true, "the pool may hold anything"},
		{"no words", strategy.Pair{Question: "?", SQL: "?"}, "How many customers?", true, "the pool may hold anything"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strategy.Shots{K: 3}.Pick([]strategy.Pair{tt.pair}, tt.question, 1)
			if shown := len(got) > 0; shown != tt.shown {
				t.Errorf("%q for %q: shown %v, want %v: %s", tt.pair.Question, tt.question, shown, tt.shown, tt.why)
			}
		})
	}
}

func numbered(n int) []strategy.Pair {
	pool := make([]strategy.Pair, n)
	for i := range pool {
		pool[i] = strategy.Pair{ID: fmt.Sprint(i), Question: fmt.Sprintf("What is %c%c?", 'a'+i%26, 'a'+i/26), SQL: "SELECT 1"}
	}
	return pool
}

// TestShotsChoice depends on seed and question and on nothing else.
func TestShotsChoice(t *testing.T) {
	pool := numbered(50)
	ids := func(k int, question string, seed int64) []string {
		var ids []string
		for _, p := range (strategy.Shots{K: k}).Pick(pool, question, seed) {
			ids = append(ids, p.ID)
		}
		return ids
	}
	first := ids(5, "How many?", 7)
	if len(first) != 5 {
		t.Fatalf("picked %v", first)
	}
	ids(5, "Another question?", 7)
	if diff := cmp.Diff(first, ids(5, "how  many?", 7)); diff != "" {
		t.Errorf("the same question has other exemplars (-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(first[:3], ids(3, "How many?", 7)); diff != "" {
		t.Errorf("fewer are not the first of them (-want +got):\n%s", diff)
	}
	for name, other := range map[string][]string{"seed": ids(5, "How many?", 8), "question": ids(5, "How much?", 7)} {
		if slices.Equal(first, other) {
			t.Errorf("another %s has the same exemplars: %v", name, first)
		}
	}
	if got := ids(80, "How many?", 7); len(got) != 50 {
		t.Errorf("%d of a pool of 50", len(got))
	}
	for _, k := range []int{0, -1} {
		if got := ids(k, "How many?", 7); got != nil {
			t.Errorf("K %d: %v", k, got)
		}
	}
	if got := (strategy.Shots{K: 3}).Pick(nil, "q", 1); got != nil {
		t.Errorf("of no pool: %v", got)
	}
}

// TestShotsRepeatNothing: a pool may hold a question twice.
func TestShotsRepeatNothing(t *testing.T) {
	pool := append(numbered(2), numbered(2)...)
	if got := (strategy.Shots{K: 4}).Pick(pool, "How many?", 1); len(got) != 2 || got[0].Question == got[1].Question {
		t.Errorf("got %+v", got)
	}
}

// BenchmarkShots picks 3 of 10,000.
func BenchmarkShots(b *testing.B) {
	pool := make([]strategy.Pair, 10_000)
	for i := range pool {
		pool[i] = strategy.Pair{Question: fmt.Sprintf("How many orders of product %d came from France in 2003?", i), SQL: "SELECT count(*) FROM orders WHERE country = 'France'"}
	}
	for b.Loop() {
		strategy.Shots{K: 3}.Pick(pool, "Which customers never ordered?", 1)
	}
}
