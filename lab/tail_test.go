package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/lab/internal/evaldata"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestTailLatency replays questions of 12 samples in virtual time, with recorded latencies and recorded votes. With -v it
// writes the tables of docs/lab/latency.md:
//
//	TEXTTOSQL_DATA=DIR go test ./ -run TestTailLatency -v
func TestTailLatency(t *testing.T) {
	questions := recordedVotes(t)
	for name, latencies := range recordedLatencies(t) {
		sorted := slices.Sorted(slices.Values(latencies))
		after := sorted[len(sorted)*90/100]
		t.Logf("%s: %d calls, p50 %.1f s, p95 %.1f s, p99 %.1f s", name, len(sorted), seconds(sorted, 50), seconds(sorted, 95), seconds(sorted, 99))
		measured := map[string]tail{}
		for _, way := range []struct {
			name  string
			n     int
			stop  vote.Stop
			waits bool // for every sample, as before
			after time.Duration
		}{
			{"12 at once: waiting", 12, nil, true, 0},
			{"12 at once", 12, nil, false, 0},
			{"12 at once, hedge", 12, nil, false, after},
			{"decided of 12: waiting", 12, vote.Decided, true, 0},
			{"decided of 12", 12, vote.Decided, false, 0},
			{"decided of 12, hedge", 12, vote.Decided, false, after},
			{"ahead by 3: waiting", 12, vote.AheadBy(3), true, 0},
			{"ahead by 3", 12, vote.AheadBy(3), false, 0},
			{"ahead by 3, hedge", 12, vote.AheadBy(3), false, after},
			{"1 sample: waiting", 1, nil, true, 0},
			{"1 sample, hedge", 1, nil, false, after},
		} {
			rng := rand.New(rand.NewPCG(1, 12))
			var m tail
			for _, votes := range questions {
				votes = votes[:way.n]
				delays := make([]time.Duration, 2*len(votes)) // of the first requests, then of the second ones
				for i := range delays {
					delays[i] = latencies[rng.IntN(len(latencies))]
				}
				var took time.Duration
				var calls int
				var winner string
				if way.waits {
					took, calls, winner = waiting(votes, delays, way.stop)
				} else {
					synctest.Test(t, func(t *testing.T) { took, calls, winner = replayed(t.Context(), votes, delays, way.stop, way.after) })
				}
				m.took, m.calls, m.winners = append(m.took, took), m.calls+calls, append(m.winners, winner)
			}
			slices.Sort(m.took)
			measured[way.name] = m
			t.Logf("| %s | %s | %.1f | %.1f | %.1f | %.1f |", name, way.name, seconds(m.took, 50), seconds(m.took, 95), seconds(m.took, 99),
				float64(m.calls)/float64(len(questions)))
		}
		for _, how := range []string{"12 at once", "decided of 12", "ahead by 3", "1 sample"} {
			was, hedged := measured[how+": waiting"], measured[how+", hedge"]
			late, ok := measured[how]
			if !slices.Equal(hedged.winners, was.winners) || ok && !slices.Equal(late.winners, was.winners) {
				t.Errorf("%s, %s: other winners", name, how)
			}
			for _, percent := range []int{95, 99} {
				if now, before := seconds(hedged.took, percent), seconds(was.took, percent); now > before || ok && how != "ahead by 3" && now == before {
					t.Errorf("%s, %s: p%d %.1f s, before %.1f s", name, how, percent, now, before)
				}
			}
		}
		if was, late := seconds(measured["12 at once: waiting"].took, 95), seconds(measured["12 at once"].took, 95); late > 0.8*was {
			t.Errorf("%s: p95 %.1f s, before %.1f s", name, late, was)
		}
	}
}

// tail is what the questions took.
type tail struct {
	took    []time.Duration
	calls   int
	winners []string
}

func seconds(sorted []time.Duration, percent int) float64 {
	return sorted[len(sorted)*percent/100].Seconds()
}

// recordedLatencies are those of each model.
func recordedLatencies(t *testing.T) map[string][]time.Duration {
	type line struct {
		Run     string   `json:"run"`
		Latency *float64 `json:"latency_s"`
	}
	all := map[string][]time.Duration{}
	for l := range evaldata.Lines[line](t, evaldata.Path(t, "predictions", "spider_dev_latency_tokens.jsonl.gz")) {
		if l.Latency != nil {
			all[l.Run] = append(all[l.Run], time.Duration(*l.Latency*float64(time.Second)))
		}
	}
	return all
}

// recordedVotes are those of the first 12 samples of each question: right answers vote together, others by their text,
// and what does not run has no vote.
func recordedVotes(t *testing.T) (questions [][]string) {
	type line struct {
		Run    string `json:"run"`
		QID    int    `json:"qid"`
		Sample int    `json:"sample"`
		SQL    string `json:"sql"`
		Exec   struct {
			Status string `json:"status"`
			Match  bool   `json:"set_match"`
		} `json:"exec"`
	}
	last := -1
	for l := range evaldata.Lines[line](t, evaldata.Path(t, "samples", "samples_spider_dev.exec.jsonl.gz")) {
		if l.Run != "spider_samples_k16" || l.Sample >= 12 {
			continue
		}
		if l.QID != last {
			questions, last = append(questions, nil), l.QID
		}
		v := l.SQL
		switch {
		case l.Exec.Status != "ok":
			v = ""
		case l.Exec.Match:
			v = "right"
		}
		questions[len(questions)-1] = append(questions[len(questions)-1], v)
	}
	return questions
}

// replayed asks for the samples of one question.
func replayed(ctx context.Context, votes []string, delays []time.Duration, stop vote.Stop, after time.Duration) (time.Duration, int, string) {
	calls, mu := make([]int, len(votes)), make(chan struct{}, 1)
	model := llm.Chain(llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		mu <- struct{}{}
		delay := delays[req.Sample+calls[req.Sample]*len(votes)]
		calls[req.Sample]++
		<-mu
		select {
		case <-time.After(delay):
			return llm.Response{Text: fmt.Sprintf("%q", votes[req.Sample])}, nil
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		}
	}), llm.Hedge{After: after}.Middleware())
	start := time.Now()
	sampled, err := strategy.Election[string]{
		N: len(votes), Stop: stop, Tally: tallied,
		Sample: func(ctx context.Context, i int) (string, error) {
			_, err := model.Complete(ctx, llm.Request{Sample: i})
			return votes[i], err
		},
		Key: func(v string) (string, bool) { return v, v != "" },
	}.Run(ctx)
	if err != nil && sampled.Votes() > 0 {
		panic(err)
	}
	sum := 0
	for _, n := range calls {
		sum += n
	}
	return time.Since(start), sum, sampled.Tally.Leader().Key
}

// tallied is how votes stand.
func tallied(values []string, planned int) vote.Tally {
	t := vote.Tally{Remaining: planned}
	for _, v := range values {
		if v == "" {
			t.Abstain()
		} else {
			t.Vote(v, 1, 0)
		}
	}
	return t
}

// waiting is an election that waits for every sample that it sent, as elections did before they knew late ones.
func waiting(votes []string, delays []time.Duration, stop vote.Stop) (took time.Duration, calls int, winner string) {
	t := tallied(nil, len(votes))
	for calls < len(votes) {
		slowest := time.Duration(0)
		end := calls + max(t.Wave(stop, 0), 1)
		for ; calls < end; calls++ {
			slowest = max(slowest, delays[calls])
		}
		took += slowest
		if t = tallied(votes[:calls], len(votes)); stop != nil && stop(t) {
			break
		}
	}
	return took, calls, t.Leader().Key
}
