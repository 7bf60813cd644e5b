package strategy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/strategy"
)

// TestConfirmedIsReadOnce: reading a file takes memory for its lines, not for
// all before each of them. Many programs open a file of years.
func TestConfirmedIsReadOnce(t *testing.T) {
	const lines = 5000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "{\"question\": \"question %d\", \"sql\": \"SELECT %d\"}\n", i%(lines/2), i) // the second half replaces the first
	}
	path := filepath.Join(t.TempDir(), "confirmed")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := strategy.OpenConfirmed(path)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pairs, err := c.Pairs()
	if err != nil || len(pairs) != lines/2 || pairs[9].SQL != "SELECT 2509" {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d lines took %d bytes", lines, took)
	}
}

// TestConfirmedPairsStay: whoever has the answers keeps them as they were,
// whatever is confirmed later, and cannot change those of others.
func TestConfirmedPairsStay(t *testing.T) {
	var c strategy.Confirmed
	add := func(question, sql string) {
		t.Helper()
		if err := c.Add(strategy.Pair{Question: question, SQL: sql}); err != nil {
			t.Fatal(err)
		}
	}
	pairs := func() []strategy.Pair {
		t.Helper()
		list, err := c.Pairs()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	text := func(list []strategy.Pair) string {
		var all []string
		for _, p := range list {
			all = append(all, p.Question+"="+p.SQL)
		}
		return strings.Join(all, " ")
	}
	var had [][]strategy.Pair
	var want []string
	for i, question := range []string{"a", "b", "A", "c", "b", "b", "d", "a", "e", "f", "g", "h"} {
		add(question, fmt.Sprint(i))
		if i%3 != 1 { // some are added with nobody looking
			had = append(had, pairs())
			want = append(want, text(pairs()))
		}
	}
	for _, list := range had {
		_ = append(list, strategy.Pair{Question: "x", SQL: "x"})
	}
	for i, list := range had {
		if diff := cmp.Diff(want[i], text(list)); diff != "" {
			t.Errorf("what was given as number %d changed (-want +got):\n%s", i, diff)
		}
	}
	if got := text(pairs()); got != "a=7 b=5 c=3 d=6 e=8 f=9 g=10 h=11" {
		t.Errorf("got %s", got)
	}
}
