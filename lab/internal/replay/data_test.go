package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
)

// Figures on recorded answers. They need the evaluation data, at TEXTTOSQL_DATA.

func folder(t testing.TB) *pools.Folder {
	t.Helper()
	dir := evaldata.Path(t)
	f := testutil.Value(pools.OpenFolder(dir))(t)
	return f
}

// all loads the reference pools once for all tests.
var all = sync.OnceValues(func() ([]Pool, error) {
	f, err := pools.OpenFolder(os.Getenv("TEXTTOSQL_DATA"))
	if err != nil {
		return nil, err
	}
	loaded, err := Loader{Folder: f}.Load(context.Background(), pools.Pools())
	return loaded.Pools, errors.Join(append(loaded.Failed, err)...)
})

func reference(t *testing.T) []Pool {
	t.Helper()
	folder(t)
	pools := testutil.Value(all())(t)
	return pools
}

// lines measures voters over the reference pools, by "pool voter".
func lines(t *testing.T, pools []Pool, names ...string) map[string]Line {
	t.Helper()
	var voters []Voter
	for _, name := range names {
		v := testutil.Value(VoterNamed(name))(t)
		voters = append(voters, v)
	}
	list := testutil.Value(Measure(pools, voters, Settings{}, stats.Bootstrap{Rounds: 2000}, nil))(t)
	by := make(map[string]Line)
	for _, l := range list {
		by[l.Pool+" "+l.Voter] = l
	}
	return by
}

func TestNaiveMajorityReproducesTheReferenceFigures(t *testing.T) {
	pools := reference(t)
	got := lines(t, pools, "one", "text", "result", "any")
	// n, k, one, string, result and any of the data's README.
	tests := []struct {
		pool                   string
		n, k                   int
		one, text, result, any float64
	}{
		{"classicmodels/llama_base_k3", 99, 10, .532, .505, .646, .838},
		{"classicmodels/qwen_base_k3", 99, 10, .627, .596, .727, .899},
		{"classicmodels/base_k3", 99, 20, .580, .657, .737, .929},
		{"classicmodels/qwen_react_k3", 99, 5, .693, .707, .727, .889},
		{"spider_dev/all", 496, 34, .757, .851, .871, .964},
		{"samples/spider_samples_k16", 251, 16, .814, .813, .817, .833},
		{"samples/spider_samples_multi", 245, 8, .661, .661, .665, .714},
		{"samples/grok-4-1-fast-non-reasoning_k=12", 50, 12, .718, .760, .820, .860},
		{"bird_dev/all", 70, 77, .768, .900, .900, .971},
	}
	for _, test := range tests {
		l := got[test.pool+" result"]
		if l.N != test.n || l.K != test.k {
			t.Errorf("%s: %d questions of %d answers, want %d of %d", test.pool, l.N, l.K, test.n, test.k)
		}
		// The figures are rounded to three places.
		within := func(voter string, want, questions float64) {
			l := got[test.pool+" "+voter]
			if d := l.Right - want*float64(l.N); d > questions+0.3 || d < -questions-0.3 {
				t.Errorf("%s: %s has %.1f right, want %.1f within %v", test.pool, voter, l.Right, want*float64(l.N), questions)
			}
		}
		within("result", test.result, 1)
		within("any", test.any, 1)
		within("one", test.one, 1)
		// The texts of the README are normalised a little differently.
		within("text", test.text, 2)
	}
}

func TestConsensusBeatsNaiveMajority(t *testing.T) {
	pools := reference(t)
	got := lines(t, pools, "result", "consensus")
	for _, p := range pools {
		c, r := got[p.Name+" consensus"], got[p.Name+" result"]
		t.Logf("%-42s result %3.0f consensus %3.0f of %d", p.Name, r.Right, c.Right, c.N)
		if c.Right < r.Right-1 {
			t.Errorf("%s: consensus has %.0f right, more than one fewer than %.0f", p.Name, c.Right, r.Right)
		}
	}
	v := got["all consensus"].Versus
	t.Logf("together %+.2f points [%+.2f, %+.2f], by template [%+.2f, %+.2f], %d better, %d worse",
		100*v.Difference, 100*v.CI[0], 100*v.CI[1], 100*v.ByTemplate[0], 100*v.ByTemplate[1], v.Better, v.Worse)
	if v.CI[0] <= 0 {
		t.Errorf("the interval by question begins at %+.4f, not above 0", v.CI[0])
	}
}

// TestConsensusOnBothData holds the default vote to what it was chosen for: docs/lab/votes.md,
// section 8. The fresh data are at TEXTTOSQL_DATA_FRESH.
func TestConsensusOnBothData(t *testing.T) {
	check := func(name string, pools []Pool, points, auroc, risk float64) {
		got := lines(t, pools, "result", "consensus")
		for _, p := range pools {
			c, r := got[p.Name+" consensus"], got[p.Name+" result"]
			if c.Right < r.Right-1 {
				t.Errorf("%s, %s: %.0f right, more than one fewer than %.0f", name, p.Name, c.Right, r.Right)
			}
		}
		all := got["all consensus"]
		t.Logf("%s: %+.2f points, AUROC %.3f, %.3f wrong in the surer half", name, 100*all.Versus.Difference, *all.AUROC,
			*all.Risk50)
		if all.Versus.Difference < points || *all.AUROC < auroc || *all.Risk50 > risk {
			t.Errorf("%s: want %+.2f points, AUROC %.3f, and %.3f wrong in the surer half at most", name, 100*points, auroc,
				risk)
		}
	}
	check("without flight_2", About(reference(t), nil, []string{"flight_2"}), 0.016, 0.772, 0.085)
	dir := evaldata.Folder(t, "TEXTTOSQL_DATA_FRESH")
	f := testutil.Value(pools.OpenFolder(dir))(t)
	names := testutil.Value(os.ReadFile(filepath.Join(dir, "pools.txt")))(t)
	loaded := testutil.Value(Loader{Folder: f}.Load(context.Background(), strings.Split(strings.TrimSpace(string(names)),
		"\n")))(t)
	check("fresh", loaded.Pools, 0.024, 0.76, 0.229)
}

func TestStoppingEarly(t *testing.T) {
	pools := reference(t)
	for _, names := range [][2]string{{"result", "result+decided"}, {"consensus", "consensus+decided"}} {
		full := testutil.Value(VoterNamed(names[0]))(t)
		early := testutil.Value(VoterNamed(names[1]))(t)
		for _, p := range pools {
			a, _ := full.start(p, Settings{})
			b, _ := early.start(p, Settings{})
			for _, q := range p.Questions {
				x, errX := a(q)
				y, errY := b(q)
				if errX != nil || errY != nil || x.Key != y.Key {
					t.Errorf("%s, question %s: %s elects %q, not %q (%v, %v)", p.Name, q.ID, names[1], y.Key, x.Key, errX, errY)
				}
			}
		}
	}

	tests := []struct {
		voter, full string
		most        float64 // of the calls, in the mean of the pools with 8 answers and more
		loss        float64 // in points over those pools together
	}{
		{"result+decided", "result", 0.78, 0},
		{"result+ahead3", "result", 0.60, 0.5},
		{"result+posterior95", "result", 0.60, 0.5},
		{"consensus+decided", "consensus", 0.80, 0},
		{"consensus+ahead3", "consensus", 0.60, 0.5},
	}
	got := lines(t, pools, "result", "consensus", "result+decided", "result+ahead3", "result+posterior95",
		"consensus+decided", "consensus+ahead3")
	for _, test := range tests {
		var calls, wrong, n, large float64
		for _, p := range pools {
			if p.Samples < 8 {
				continue
			}
			l := got[p.Name+" "+test.voter]
			calls += 1 - l.Saved
			large++
			wrong += got[p.Name+" "+test.full].Right - l.Right
			n += float64(l.N)
		}
		loss := 100 * wrong / n
		t.Logf("%-20s %.1f %% of the calls, loses %.2f points", test.voter, 100*calls/large, loss)
		if calls/large > test.most || loss > test.loss {
			t.Errorf("%s takes %.3f of the calls (want %.2f at most) and loses %.2f points (want %.1f at most)", test.voter,
				calls/large, test.most, loss, test.loss)
		}
	}
}

func TestConfidenceTellsRightFromWrong(t *testing.T) {
	pools := reference(t)
	got := lines(t, pools, "consensus", "consensus+decided")
	for _, p := range pools {
		if l := got[p.Name+" consensus"]; l.AUROC != nil {
			t.Logf("%-42s AUROC %.3f [%.3f, %.3f]", p.Name, *l.AUROC, l.AUROCCI[0], l.AUROCCI[1])
		}
	}
	for _, voter := range []string{"consensus", "consensus+decided"} {
		l := got["all "+voter]
		boot := stats.Bootstrap{Rounds: 2000}
		// The surer half against all, sampled again together.
		gap, ok := stats.RiskReduction(boot, l.Outcomes, 0.5)
		t.Logf("%s: AUROC %.3f [%.3f, %.3f], risk %.3f, in the surer half lower by %.3f [%.3f, %.3f]", voter, *l.AUROC,
			l.AUROCCI[0], l.AUROCCI[1], 1-l.EX, gap.Value, gap.Low, gap.High)
		if *l.AUROC < 0.73 {
			t.Errorf("%s: AUROC is %.3f, want 0.73 at least", voter, *l.AUROC)
		}
		if !ok || gap.Low <= 0 {
			t.Errorf("%s: the surer half is not better: %v", voter, gap)
		}
	}
}

func TestFittedVotersNeverSeeWhatTheyVoteOn(t *testing.T) {
	pools := reference(t)[:1]
	for _, v := range fitted() {
		// A fold whose verdicts are turned round changes nothing for its own
		// questions: they were fitted on the others.
		before := testutil.Value(Measure(pools, []Voter{v}, Settings{}, stats.Bootstrap{Rounds: 1}, nil))(t)
		folds := stats.Folds(before[0].Outcomes, stats.ByTemplate, Settings{}.folds())
		turned := pools[0]
		turned.Questions = nil
		for i, q := range pools[0].Questions {
			one := *q
			if folds[i] == 0 {
				one.answers = nil
				for _, a := range q.answers {
					wrong := *a
					wrong.right = !a.right
					one.answers = append(one.answers, &wrong)
				}
			}
			turned.Questions = append(turned.Questions, &one)
		}
		after := testutil.Value(Measure([]Pool{turned}, []Voter{v}, Settings{}, stats.Bootstrap{Rounds: 1}, nil))(t)
		for i := range before[0].Outcomes {
			b, a := before[0].Outcomes[i], after[0].Outcomes[i]
			if folds[i] == 0 && (b.Confidence != a.Confidence || b.Score == a.Score) {
				t.Errorf("%s, question %s: another vote (%v, %v) after its own verdicts were turned round (%v, %v)", v.Name,
					b.Question, b.Score, b.Confidence, a.Score, a.Confidence)
			}
		}
	}
}

func TestLeftOutIsSaid(t *testing.T) {
	for _, p := range reference(t) {
		text := strings.Join(p.LeftOut, "; ")
		want := map[string]string{
			"classicmodels/base_k3": "questions whose gold does not run: 7",
			"bird_dev/all":          "questions without their database",
		}[p.Name]
		if !strings.Contains(text, want) {
			t.Errorf("%s: left out %q, want %q", p.Name, text, want)
		}
	}
}

func TestUnknownPool(t *testing.T) {
	f := folder(t)
	for _, name := range []string{"spider_dev/nobody", "nothing", "nothing/at-all"} {
		loaded, err := Loader{Folder: f}.Load(context.Background(), []string{name})
		if err != nil || len(loaded.Failed) != 1 || !strings.Contains(loaded.Failed[0].Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%s: %v, %v", name, loaded.Failed, err)
		}
	}
}
