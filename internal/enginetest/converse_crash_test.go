package enginetest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
)

// paid is a provider that counts its calls in a file, which survives the process.
type paid struct {
	provider
	path string
}

func (p *paid) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	f, err := os.OpenFile(p.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return llm.Response{}, err
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		return llm.Response{}, err
	}
	return p.provider.Complete(ctx, req)
}

// wholeConversation does what is left of a conversation with ambiguities, choices, a correction and follow-ups: it asks
// the record how far it is. It returns the record, without times, with the last statement.
func wholeConversation(t *testing.T, dir string) (string, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "shop.sqlite"))
	if err != nil {
		return "", err
	}
	defer db.Close()
	model := &paid{path: filepath.Join(dir, "calls")}
	e, err := texttosql.New(db, llm.Named("m", model), texttosql.WithStrategy(asker{}))
	if err != nil {
		return "", err
	}
	store, err := session.OpenFiles(filepath.Join(dir, "sessions"))
	if err != nil {
		return "", err
	}
	ctx, id := context.Background(), ""
	if all, err := store.List(ctx, session.Filter{}); err != nil {
		return "", err
	} else if len(all) > 0 {
		id = all[0].ID
	}
	s, err := e.NewConversation(store), error(nil)
	if id != "" {
		s, err = e.OpenConversation(ctx, store, id)
	}
	if err != nil {
		return "", err
	}
	if rec := s.Record(); id != "" && rec.State.Active() {
		_, err = s.Resume(ctx)
	}
	var res *texttosql.Result
	for {
		if q := (*session.QuestionError)(nil); err != nil && !errors.As(err, &q) {
			return "", err
		}
		switch len(s.Record().Turns) {
		case 0:
			_, err = s.Ask(ctx, "an unclear question")
		case 1:
			_, err = s.Choose(ctx, "t1")
		case 2:
			_, err = s.Correct(ctx, "join orders.customer_id with customers.id")
		case 3:
			_, err = s.Ask(ctx, "and of those?")
		case 4:
			_, err = s.Ask(ctx, "answers that disagree")
		case 5:
			_, err = s.Choose(ctx, "r2")
		default:
			if res, err = s.Resume(ctx); err != nil {
				return "", err
			}
			return timeless(t, s.Record()) + res.SQL, nil
		}
	}
}

// TestConversationKilled kills the process of a whole conversation by SIGKILL at every step of every save and append:
// another process goes on, ends as the conversation that nobody killed, and at most the call in flight is paid for
// again.
func TestConversationKilled(t *testing.T) {
	if text := os.Getenv("TEXTTOSQL_TEST_CONVERSE"); text != "" {
		dir, at, _ := strings.Cut(text, "|")
		n, _ := strconv.Atoi(at)
		atomicfile.AtStep = func(string, string) {
			if n--; n < 0 {
				self, _ := os.FindProcess(os.Getpid())
				self.Kill()
				select {}
			}
		}
		testutil.Value(wholeConversation(t, dir))(t)
		return
	}
	prepared := func() string {
		dir := t.TempDir()
		db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(dir, "shop.sqlite")+"?_sync=OFF"))(t)
		defer db.Close()
		testutil.Value(db.Exec(shop + twin))(t)
		return dir
	}
	calls := func(dir string) int {
		b, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return len(b)
	}
	dir, steps := prepared(), 0
	atomicfile.AtStep = func(string, string) { steps++ }
	want, err := wholeConversation(t, dir)
	atomicfile.AtStep = nil
	if err != nil {
		t.Fatal(err)
	}
	paidFor := calls(dir)
	if steps < 60 || paidFor < 8 {
		t.Fatalf("%d steps and %d calls: that is no whole conversation", steps, paidFor)
	}
	stride := 1
	if testing.Short() || race.Enabled { // it shows the race detector nothing
		stride = 17
	}
	for at := 0; at < steps; at += stride {
		dir := prepared()
		cmd := osexec.Command(os.Args[0], "-test.run=^TestConversationKilled$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("TEXTTOSQL_TEST_CONVERSE=%s|%d", dir, at))
		out, err := cmd.CombinedOutput()
		var killed *osexec.ExitError
		if !errors.As(err, &killed) || killed.Exited() {
			t.Fatalf("step %d of %d: %v\n%s", at, steps, err, out)
		}
		got, err := wholeConversation(t, dir)
		if err != nil {
			t.Fatalf("killed at step %d of %d: %v", at, steps, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed at step %d of %d (-whole +resumed):\n%s", at, steps, diff)
		}
		if n := calls(dir); n < paidFor || n > paidFor+1 {
			t.Errorf("killed at step %d of %d: %d calls were paid for, %d without the kill", at, steps, n, paidFor)
		}
	}
}
