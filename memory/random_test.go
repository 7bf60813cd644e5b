package memory_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/memory"
)

// TestRandomLeakage: a pair is no exemplar for its own question in other words or with other values.
func TestRandomLeakage(t *testing.T) {
	const france = "SELECT count(*) FROM orders WHERE country = 'France'"
	tests := []struct {
		pair, sql, question string
		shown               bool
		why                 string
	}{
		{"How many orders are there?", "SELECT count(*) FROM orders", "How many orders are there?", false,
			"itself: the question itself"},
		{"How many orders are there?", "SELECT 1", "  how many\nORDERS are there?", false, "spelled otherwise"},
		{"How many orders, are there?", "SELECT 1", "How many orders are there", false, "marks do not count"},
		{"Which orders cost more than 100?", "SELECT id FROM orders WHERE total > 100",
			"Which orders cost more than 2,500.5?", false, "the same template"},
		{"How many orders came from France?", france, "How many orders came from Norway?", false,
			"other value: the same template"},
		{"How many orders came from France?", france, "How many orders came from the United States?", false,
			"value of several words: a value may be a few words"},
		{"orders of New South Wales", "SELECT 1 FROM o WHERE x = 'New South Wales'", "orders of Wales", false,
			"or one word for a few"},
		{"Did Ada order more than Bo?", "SELECT 1 WHERE 'Ada' > 'Bo'", "Did Cyd order more than Dee Dee?", false,
			"each of them"},
		{"How many orders came from France?", france, "How many orders came from France and were never shipped at all?", true,
			"five words more are no value"},
		{"Which orders are 'On Hold'?", "SELECT id FROM orders WHERE status = 'On Hold'", `Which orders are "Shipped"?`,
			false, "quotes do not matter"},
		{"Which orders are late?", "SELECT id FROM orders WHERE shipped > required", "Which orders are early?", true,
			"another question"},
		{"How many orders are there?", "SELECT 1", "How many customers are there?", true,
			"other question: what exemplars are for"},
		{"How many orders are there?", "SELECT 1", "How many orders are there in all?", true,
			"template with more words: a part of it is not it"},
		{"How many orders of 'France", "SELECT 'France", "How many customers?", true,
			"broken SQL: the pool may hold anything"},
		{"?", "?", "How many customers?", true, "no words: the pool may hold anything"},
	}
	for _, tt := range tests {
		pool := &memory.Pool{Pairs: []memory.Exemplar{{Question: tt.pair, SQL: tt.sql}}}
		if shown := len(pool.Random(3, tt.question, 1)) > 0; shown != tt.shown {
			t.Errorf("%q for %q: shown %v, want %v: %s", tt.pair, tt.question, shown, tt.shown, tt.why)
		}
	}
}

func numbered(n int) *memory.Pool {
	pool := make([]memory.Exemplar, n)
	for i := range pool {
		pool[i] = memory.Exemplar{ID: fmt.Sprint(i), Question: fmt.Sprintf("What is %c%c?", 'a'+i%26, 'a'+i/26),
			SQL: "SELECT 1"}
	}
	return &memory.Pool{Pairs: pool}
}

// TestRandomChoice depends on seed and question and on nothing else.
func TestRandomChoice(t *testing.T) {
	pool := numbered(50)
	ids := func(k int, question string, seed int64) []string {
		var ids []string
		for _, p := range pool.Random(k, question, seed) {
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
	golden.Equal(t, first[:3], ids(3, "How many?", 7), "fewer are not the first of them")
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
			t.Errorf("k of %d: %v", k, got)
		}
	}
	if got := (*memory.Pool)(nil).Random(3, "q", 1); got != nil {
		t.Errorf("of no pool: %v", got)
	}
}

// TestRandomRepeatNothing: a pool may hold a question twice.
func TestRandomRepeatNothing(t *testing.T) {
	pool := &memory.Pool{Pairs: append(numbered(2).Pairs, numbered(2).Pairs...)}
	if got := pool.Random(4, "How many?", 1); len(got) != 2 || got[0].Question == got[1].Question {
		t.Errorf("got %+v", got)
	}
}

// BenchmarkRandom picks 3 of 10,000.
func BenchmarkRandom(b *testing.B) {
	pool := make([]memory.Exemplar, 10_000)
	for i := range pool {
		question := fmt.Sprintf("How many orders of product %d came from France in 2003?", i)
		pool[i] = memory.Exemplar{Question: question, SQL: "SELECT count(*) FROM orders WHERE country = 'France'"}
	}
	all := &memory.Pool{Pairs: pool}
	for b.Loop() {
		all.Random(3, "Which customers never ordered?", 1)
	}
}
