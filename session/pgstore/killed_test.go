package pgstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/pgstore"
	"github.com/texttosql/texttosql/strategy"
)

// childAdds adds turns to one session until it is killed, each behind a line of the journal, under a lease.
func childAdds(dsn, id string) {
	ctx := context.Background()
	s, err := pgstore.Open(ctx, dsn, pgstore.Config{Lease: time.Second})
	for err == nil {
		var release func()
		if release, err = s.Lock(ctx, id); errors.Is(err, session.ErrLocked) {
			time.Sleep(5 * time.Millisecond)
			err = nil
			continue
		}
		if err == nil {
			err = add(ctx, s, id)
			release()
		}
	}
	fmt.Fprintln(os.Stderr, "a process that adds turns: ", err)
}

func add(ctx context.Context, s *pgstore.Store, id string) error {
	r, err := s.Load(ctx, id)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%d of %d", len(r.Turns), os.Getpid())
	j, err := s.Journal(ctx, id)
	if err == nil {
		err = j.Append([]byte(line))
	}
	if err != nil {
		return err
	}
	r.Turns = append(r.Turns, session.Turn{Kind: "question", Text: line})
	err = s.Save(ctx, r) // ErrConflict: the session did not belong to this process alone
	fmt.Println(line)
	return err
}

// Three processes work on one session and are killed 12 times: each turn builds on the one before, nothing that was
// saved is lost, and no process ever meets another one's change.
func TestKilledProcesses(t *testing.T) {
	dsn, _ := newDSN(t)
	s := open(t, dsn, pgstore.Config{})
	r := saved(t, s)
	start := func() (*osexec.Cmd, chan bool) {
		c, say := child(t, "add", dsn, r.ID)
		said := make(chan bool, 1)
		go func() {
			defer close(said)
			for b := make([]byte, 1000); ; {
				if _, err := say.Read(b); err != nil {
					return
				}
				select {
				case said <- true:
				default:
				}
			}
		}()
		return c, said
	}
	type process struct {
		*osexec.Cmd
		said chan bool
	}
	var all []process
	for range 3 {
		c, said := start()
		all = append(all, process{c, said})
	}
	for i := range 12 {
		p := &all[i%3]
		for range 2 + i { // so that it is killed at different places
			if !<-p.said {
				t.Fatal("a process ended by itself")
			}
		}
		p.Process.Kill()
		p.Wait()
		p.Cmd, p.said = start()
	}
	for _, p := range all {
		p.Process.Kill()
		p.Wait()
	}
	r = testutil.Value(s.Load(t.Context(), r.ID))(t)
	j := testutil.Value(s.Journal(t.Context(), r.ID))(t)
	lines := testutil.Value(j.Read())(t)
	pids := map[string]bool{}
	for i, turn := range r.Turns {
		n, pid, _ := strings.Cut(turn.Text, " of ")
		pids[pid] = true
		if n != fmt.Sprint(i) || !strings.Contains("\n"+string(lines), "\n"+turn.Text+"\n") {
			t.Errorf("turn %d is %q", i, turn.Text)
		}
	}
	if r.Revision != int64(len(r.Turns))+1 || len(pids) < 6 {
		t.Errorf("revision %d of %d turns, by %d processes", r.Revision, len(r.Turns), len(pids))
	}
	t.Logf("%d turns by %d processes, %d lines", len(r.Turns), len(pids), strings.Count(string(lines), "\n"))
}

// newEngine answers by a model that calls asked before each reply.
func newEngine(samples int, asked func(sample int)) (*texttosql.Engine, error) {
	db, err := sql.Open("sqlite3", "file:x?mode=memory&cache=shared")
	if err == nil {
		_, err = db.Exec("CREATE TABLE IF NOT EXISTS singer (id INTEGER, name TEXT)")
	}
	if err != nil {
		return nil, err
	}
	return texttosql.New(db, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		asked(req.Sample)
		return llm.Response{Text: "SELECT count(*) FROM singer"}, nil
	}), texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(samples))
}

// childAsks asks a question and hangs in the call of the second sample once the first has its reply.
func childAsks(dsn, _ string) {
	var talk *texttosql.Conversation
	s, err := pgstore.Open(context.Background(), dsn, pgstore.Config{Lease: time.Second})
	first := make(chan bool)
	e, err2 := newEngine(2, func(sample int) {
		if sample == 0 {
			close(first)
			return
		}
		<-first
		for id := talk.Record().ID; ; time.Sleep(time.Millisecond) {
			if j, err := s.Journal(context.Background(), id); err == nil {
				if lines, _ := j.Read(); len(lines) > 0 {
					fmt.Println(id)
					select {}
				}
			}
		}
	})
	if err = errors.Join(err, err2); err == nil {
		talk = e.NewConversation(s)
		_, err = talk.Ask(context.Background(), "How many singers?")
	}
	fmt.Fprintln(os.Stderr, "a process that asks: ", err)
}

// A process that is killed within a question leaves its conversation to another one, which pays for what was in flight
// only.
func TestConversationOfAKilledProcess(t *testing.T) {
	dsn, _ := newDSN(t)
	s := open(t, dsn, pgstore.Config{Lease: time.Second})
	c, say := child(t, "ask", dsn, "")
	id := ""
	testutil.Value(fmt.Fscan(say, &id))(t)
	var calls []int
	e := testutil.Value(newEngine(2, func(sample int) { calls = append(calls, sample) }))(t)
	talk := testutil.Value(e.OpenConversation(t.Context(), s, id))(t)
	if _, err := talk.Resume(t.Context()); !errors.Is(err, exec.ErrBusy) {
		t.Errorf("resume while another process is at it: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	res, err := talk.Resume(t.Context())
	for errors.Is(err, exec.ErrBusy) { // until the lease has run out
		time.Sleep(20 * time.Millisecond)
		res, err = talk.Resume(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1}, calls); diff != "" || res.SQL != "SELECT count(*) FROM singer" {
		t.Errorf("%s, calls (-want +got)\n%s", res.SQL, diff)
	}
}
