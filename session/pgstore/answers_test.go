package pgstore_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session/pgstore"
)

func verified(t *testing.T, dsn, name string) *memory.VerifiedAnswers {
	t.Helper()
	return testutil.Value(memory.VerifiedAnswersOn(open(t, dsn, pgstore.Config{}).VerifiedAnswers(name)))(t)
}

// questions returns the questions of all answers, with their statements.
func questions(t *testing.T, v *memory.VerifiedAnswers) (all []string) {
	t.Helper()
	for _, p := range testutil.Value(v.Pairs())(t) {
		all = append(all, p.Question+"="+p.SQL)
	}
	return all
}

// childConfirms confirms answers until it is killed, removes every third one, and says what is durable.
func childConfirms(dsn, name string) {
	s, err := pgstore.Open(context.Background(), dsn, pgstore.Config{})
	var v *memory.VerifiedAnswers
	if err == nil {
		v, err = memory.VerifiedAnswersOn(s.VerifiedAnswers(name))
	}
	for i := 0; err == nil; i++ {
		question := fmt.Sprintf("%d of %d", i, os.Getpid())
		if err = v.Add(memory.Exemplar{Question: question, SQL: "SELECT 1"}); err == nil && i%3 == 2 {
			fmt.Println("removing", question)
			err = v.Remove("", question)
			fmt.Println("removed", question)
			continue
		}
		fmt.Println("added", question)
	}
	fmt.Fprintln(os.Stderr, "a process that confirms: ", err)
}

// TestVerifiedAnswersOfKilledProcesses: four processes confirm and remove answers of one name until each is killed.
// What they had said is there, and every reader sees one order, in which nothing changes that was read before.
func TestVerifiedAnswersOfKilledProcesses(t *testing.T) {
	dsn, _ := newDSN(t)
	reader := open(t, dsn, pgstore.Config{}).VerifiedAnswers("shop")
	follower := verified(t, dsn, "shop")
	var mu sync.Mutex
	said := map[string]string{} // question → the last that a process said of it
	var group sync.WaitGroup
	for range 4 {
		c, say := child(t, "confirm", dsn, "shop")
		group.Go(func() {
			lines := bufio.NewScanner(say)
			for n := 0; lines.Scan(); n++ {
				verb, question, _ := strings.Cut(lines.Text(), " ")
				mu.Lock()
				said[question] = verb
				mu.Unlock()
				if n == 20 {
					c.Process.Kill()
				}
			}
		})
	}
	done := make(chan bool)
	go func() { group.Wait(); close(done) }()
	var before []byte
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		now := testutil.Value(reader.Read(0))(t)
		if !bytes.HasPrefix(now, before) {
			t.Fatal("a text that was read is not the beginning of a later one")
		}
		before = now
		questions(t, follower)
		time.Sleep(time.Millisecond) // the writers need the processor too
	}

	all := questions(t, verified(t, dsn, "shop"))
	if diff := cmp.Diff(all, questions(t, follower)); diff != "" {
		t.Errorf("who opened them later reads others (-later +earlier)\n%s", diff)
	}
	for question, verb := range said {
		there := slices.Contains(all, question+"=SELECT 1")
		if verb == "added" && !there || verb == "removed" && there {
			t.Errorf("%s: %s, and it is there: %v", question, verb, there)
		}
	}
	if len(said) < 50 {
		t.Errorf("%d questions", len(said))
	}
}

// TestVerifiedAnswers: processes share the answers of one name, each replaced or removed for all of them; another name
// has none.
func TestVerifiedAnswers(t *testing.T) {
	dsn, db := newDSN(t)
	one, two := verified(t, dsn, "shop"), verified(t, dsn, "shop")
	add := func(v *memory.VerifiedAnswers, question, sql string) {
		t.Helper()
		testutil.OK(t, v.Add(memory.Exemplar{Question: question, SQL: sql}))
	}
	add(one, "Who?", "SELECT 1")
	add(two, "When?", "SELECT 2")
	add(two, " who? ", "SELECT 3")
	add(one, "Where?", "SELECT 4")
	testutil.OK(t, two.Remove("", "when?"))
	want := []string{" who? =SELECT 3", "Where?=SELECT 4"}
	for _, v := range []*memory.VerifiedAnswers{one, two, verified(t, dsn, "shop")} {
		if diff := cmp.Diff(want, questions(t, v)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if all := questions(t, verified(t, dsn, "other")); len(all) > 0 {
		t.Errorf("another name has %q", all)
	}

	// Many at once: every one of them is there, and each pool of connections serves its own process.
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() { add([]*memory.VerifiedAnswers{one, two}[i%2], fmt.Sprint("question ", i), "SELECT 5") })
	}
	group.Wait()
	if n := len(questions(t, verified(t, dsn, "shop"))); n != len(want)+32 {
		t.Errorf("%d answers, want %d", n, len(want)+32)
	}

	run(t, db, "UPDATE texttosql_answers SET lines = overlay(lines PLACING 'X'::bytea FROM 20) WHERE name = 'shop' "+
		"AND place > 0")
	_, err := memory.VerifiedAnswersOn(open(t, dsn, pgstore.Config{}).VerifiedAnswers("shop"))
	if bad := (*fileerr.Memory)(nil); !errors.As(err, &bad) || bad.Line != 2 ||
		bad.File != `table texttosql_answers, name "shop"` {
		t.Errorf("a changed row: %v", err)
	}
}

// TestVerifiedAnswersOfAClosedStore: a store that does not answer is an error of each call, and nothing is forgotten.
func TestVerifiedAnswersOfAClosedStore(t *testing.T) {
	dsn, _ := newDSN(t)
	s := open(t, dsn, pgstore.Config{})
	v := testutil.Value(memory.VerifiedAnswersOn(s.VerifiedAnswers("shop")))(t)
	testutil.OK(t, v.Add(memory.Exemplar{Question: "Who?", SQL: "SELECT 1"}))
	testutil.OK(t, s.Close())
	_, read := v.Pairs()
	for call, err := range map[string]error{
		"Add": v.Add(memory.Exemplar{Question: "When?", SQL: "SELECT 2"}), "Remove": v.Remove("", "Who?"), "Pairs": read,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "memory: ") {
			t.Errorf("%s: %v", call, err)
		}
	}
	if all := questions(t, verified(t, dsn, "shop")); !slices.Equal(all, []string{"Who?=SELECT 1"}) {
		t.Errorf("%q", all)
	}
}
