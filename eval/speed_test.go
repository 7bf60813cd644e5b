package eval_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/texttosql/texttosql/eval"
)

var speed = flag.Bool("speed", false, "measure the scorer against plain Python (TestSpeed)")

// speedChild asks a run of this test binary to score and to do nothing else; its
// value is what to score and the number of workers.
const speedChild = "TEXTTOSQL_SPEED_CHILD"

// TestSpeed prints what scoring costs as ratios to plain Python with its sqlite3,
// whole processes beside whole processes, in one run:
//
//	TEXTTOSQL_DATA=… go test -run '^TestSpeed$' -speed -v ./eval
//
// It needs python3. Each figure is the least of three runs, since whatever else
// runs on the machine only adds to it.
func TestSpeed(t *testing.T) {
	if child := os.Getenv(speedChild); child != "" {
		score(t, child)
		return
	}
	f := folder(t)
	if !*speed {
		t.Skip("give -speed to measure")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: nothing to measure against")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain := func(what string) spent { return measure(t, exec.Command(python, "testdata/speed.py", f.Dir(), what)) }
	ours := func(what string) spent {
		cmd := exec.Command(self, "-test.run=^TestSpeed$")
		cmd.Env = append(os.Environ(), speedChild+"="+what)
		return measure(t, cmd)
	}

	spider, one, two := plain("spider"), ours("spider 1"), ours("spider 2")
	superhero, shared := plain("superhero"), ours("superhero 1")
	for _, s := range []struct {
		name string
		spent
	}{
		{"python, spider, memo", spider}, {"eval, spider, 1 worker", one}, {"eval, spider, 2 workers", two},
		{"python, superhero, pairs", superhero}, {"eval, superhero, 1 worker", shared},
	} {
		t.Logf("%-26s cpu %6.3f s  wall %6.3f s  peak %4d MB  %s", s.name, s.cpu.Seconds(), s.wall.Seconds(), s.peak>>10, s.did)
	}
	t.Logf("spider:    cpu  %.2f × Python's (goal 1.0)", one.cpu.Seconds()/spider.cpu.Seconds())
	t.Logf("spider:    wall %.2f × Python's with two workers (goal 0.6)", two.wall.Seconds()/spider.wall.Seconds())
	t.Logf("superhero: cpu  1/%.1f of executing every pair (goal 1/15)", superhero.cpu.Seconds()/shared.cpu.Seconds())
	t.Logf("memory:    %d MB at most (goal 100)", max(one.peak, two.peak, shared.peak)>>10)
}

// spent is what a process took.
type spent struct {
	cpu, wall time.Duration
	peak      int64  // KiB
	did       string // its last line of JSON
}

func measure(t *testing.T, cmd *exec.Cmd) spent {
	t.Helper()
	var least spent
	for i := range 3 {
		again := exec.Command(cmd.Path, cmd.Args[1:]...)
		again.Env = cmd.Env
		start := time.Now()
		out, err := again.CombinedOutput()
		wall := time.Since(start)
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
		s := spent{cpu: again.ProcessState.UserTime() + again.ProcessState.SystemTime(), wall: wall}
		if usage, ok := again.ProcessState.SysUsage().(*syscall.Rusage); ok {
			s.peak = int64(usage.Maxrss)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "{") {
				s.did = strings.TrimSpace(line)
			}
		}
		if i == 0 {
			least = s
		}
		least.cpu, least.wall, least.peak = min(least.cpu, s.cpu), min(least.wall, s.wall), max(least.peak, s.peak)
	}
	return least
}

// score is the child: it reads and scores one of the two files.
func score(t *testing.T, what string) {
	var name string
	var workers int
	if _, err := fmt.Sscan(what, &name, &workers); err != nil {
		t.Fatal(err)
	}
	f := folder(t)
	dataset := map[string]string{"spider": "spider_dev", "superhero": "bird_dev"}[name]
	d, err := f.Dataset(dataset)
	if err != nil {
		t.Fatal(err)
	}
	d = d.Select(func(q eval.Question) bool { _, err := f.Database(q.DB); return err == nil })
	store := eval.NewStore(eval.StoreConfig{Find: f.Database, Open: openReadOnly, Workers: workers})
	defer store.Close()
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
	path := f.Path("predictions", "preds_"+dataset+".exec.jsonl.gz")
	reports, err := scorer.ScoreRuns(context.Background(), d, path, eval.Answers(path))
	if err != nil {
		t.Fatal(err)
	}
	rows, right := 0, 0
	for _, r := range reports {
		rows += r.N()
		for _, v := range r.Verdicts {
			right += int(v.Scores[0])
		}
	}
	line, _ := json.Marshal(map[string]int{"rows": rows, "right": right, "executed": store.Stats().Executed})
	fmt.Println(string(line))
}
