package enginetest_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/strategy"
)

var manyQuestions = flag.Int("questions", 1500,
	"questions of TestAskAllKilled; docs/lab/scale.md has the figures of 100,000")

// batchAtOnce is how many questions are in flight.
const batchAtOnce = 4

// wholeBatch asks what is left of n questions: the file of answers says how far it is. It writes each answer down, and
// what it took.
func wholeBatch(dir string, n int) (err error) {
	file := func(name string) string { return filepath.Join(dir, name) }
	db, err := sql.Open("sqlite3", "file:"+file("shop.sqlite"))
	if err != nil {
		return err
	}
	defer db.Close()
	rec, err := replay.Append(file("journal"))
	if err != nil {
		return err
	}
	defer rec.Close()
	player, err := replay.Open(file("journal"))
	if err != nil {
		return err
	}
	bill, err := os.OpenFile(file("calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer bill.Close()
	provider := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if _, err := bill.WriteString("."); err != nil { // paid, whatever becomes of the process
			return llm.Response{}, err
		}
		text := req.Messages[len(req.Messages)-1].Text
		_, number, _ := strings.Cut(text, "number ")
		number, _, _ = strings.Cut(number, "?")
		return llm.Response{Text: "```sql\nSELECT " + number + ", count(*) FROM customers\n```", StopReason: llm.StopEnd}, nil
	})
	model := llm.Chain(llm.Named("m", provider), player.Or, rec.Record)
	e, err := texttosql.New(db, model, texttosql.WithStrategy(strategy.Direct{}))
	if err != nil {
		return err
	}
	before, err := os.ReadFile(file("answers"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	whole := before[:bytes.LastIndexByte(before, '\n')+1]
	answers, err := os.OpenFile(file("answers"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer answers.Close()
	if err := errors.Join(answers.Truncate(int64(len(whole))), func() error {
		_, err := answers.Seek(0, 2)
		return err
	}()); err != nil {
		return err
	}
	first := bytes.Count(whole, []byte("\n"))
	done, start := first, time.Now()
	for a, err := range e.AskAll(context.Background(), numbered(first, n), batchAtOnce) {
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(answers, "%s %v\n", a.Question.ID, a.Result.Rows.Rows); err != nil {
			return err
		}
		if done++; done%(n/4) == 0 {
			var m runtime.MemStats
			each := time.Since(start) / time.Duration(done-first)
			runtime.GC()
			runtime.ReadMemStats(&m)
			line, _ := json.Marshal(batchFigures{Done: done, Heap: m.HeapAlloc >> 10, RSS: memoryOf("VmRSS:"),
				Peak: memoryOf("VmHWM:"), Each: each.Microseconds()})
			if err := os.WriteFile(file(fmt.Sprint("figures-", 4*done/n)), line, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// batchFigures are what a process took: kB, and microseconds a question.
type batchFigures struct {
	Done            int
	Heap, RSS, Peak uint64
	Each            int64
}

func numbered(first, n int) iter.Seq[texttosql.Question] {
	return func(yield func(texttosql.Question) bool) {
		for i := first; i < n; i++ {
			if !yield(texttosql.Question{ID: strconv.Itoa(i), Text: fmt.Sprintf("How many customers are there beside number %d?",
				i)}) {
				return
			}
		}
	}
}

// memoryOf is a figure of /proc/self/status in kB; 0 where there is none.
func memoryOf(key string) uint64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, key); found {
			kB, _ := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			return kB
		}
	}
	return 0
}

// TestAskAllKilled kills the process of a batch by SIGKILL ten times, twice under the race detector, anywhere: each
// question has its one answer in the end, as in a batch that nobody killed, only calls in flight are paid again, and
// the memory of a batch does not grow with its questions.
func TestAskAllKilled(t *testing.T) {
	if text := os.Getenv("TEXTTOSQL_TEST_BATCH"); text != "" {
		dir, n, _ := strings.Cut(text, "|")
		count, _ := strconv.Atoi(n)
		testutil.OK(t, wholeBatch(dir, count))
		return
	}
	n, kills := *manyQuestions, 10
	if race.Enabled {
		n, kills = min(n, 200), 2
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	batch := func(kills int) (answers string, calls int64, dir string) {
		dir = t.TempDir()
		db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(dir, "shop.sqlite")+"?_sync=OFF"))(t)
		testutil.Value(db.Exec(shop))(t)
		db.Close()
		random := rand.New(rand.NewPCG(7, 7))
		for run := 0; ; run++ {
			cmd := osexec.Command(os.Args[0], "-test.run=^TestAskAllKilled$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("TEXTTOSQL_TEST_BATCH=%s|%d", dir, n))
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			testutil.OK(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			// Somewhere in its share of the calls, at no point of its own work.
			until := int64((run*n + random.IntN(n)) / (kills + 1))
			for killed := false; ; {
				select {
				case err := <-ended:
					if killed {
						break
					}
					if err != nil {
						t.Fatalf("run %d: %v\n%s", run, err, out.String())
					}
					text := testutil.Value(os.ReadFile(filepath.Join(dir, "answers")))(t)
					return string(text), size(filepath.Join(dir, "calls")), dir
				case <-time.After(time.Millisecond):
					if !killed && run < kills && size(filepath.Join(dir, "calls")) > until {
						cmd.Process.Kill()
						killed = true
					}
					continue
				}
				break
			}
		}
	}
	want, calls, dir := batch(0)
	if lines := strings.Count(want, "\n"); lines != n || calls != int64(n) {
		t.Fatalf("%d answers and %d calls, want %d", lines, calls, n)
	}
	var quarters []batchFigures
	for i := range 4 {
		var f batchFigures
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("figures-", i+1)))
		if err != nil || json.Unmarshal(text, &f) != nil {
			t.Fatal(string(text), err)
		}
		quarters = append(quarters, f)
		t.Logf("%+v", f)
	}
	if grown := int64(quarters[3].Heap) - int64(quarters[0].Heap); grown > 512+int64(n)/50 {
		t.Errorf("the heap grows by %d kB over three quarters of the questions", grown)
	}
	got, paid, dir := batch(kills)
	text, _ := os.ReadFile(filepath.Join(dir, "figures-4"))
	t.Logf("after %d kills: %s; %d calls were paid again", kills, text, paid-int64(n))
	if got != want {
		t.Errorf("the answers differ from those of a batch that nobody killed")
	}
	if again := paid - int64(n); again < 0 || again > int64(kills*batchAtOnce) {
		t.Errorf("%d calls were paid again, want at most %d", again, kills*batchAtOnce)
	}
}
