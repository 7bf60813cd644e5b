package strategy_test

import (
	"context"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

func options(candidates ...vote.Candidate) (list []strategy.JudgeOption) {
	for i, c := range candidates {
		list = append(list, strategy.JudgeOption{Candidate: c, Votes: len(candidates) - i})
	}
	return list
}

// TestJudgeGetsTheLeaders: the judge of a pipeline sees the representatives of
// the two leading clusters, the leader first.
func TestJudgeGetsTheLeaders(t *testing.T) {
	var seen []string
	p := plain(5)
	p.Voter = vote.Majority{MinShare: 0.9}
	p.Judge = judgeFunc(func(in strategy.JudgeInput) (int, error) {
		seen = append(seen, in.Options[0].SQL, in.Options[1].SQL)
		return 7, nil // no such choice
	})
	out, err := p.Generate(t.Context(),
		shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate("SELECT 1", everyone, usa, usa, everyone)}}),
		strategy.Task{Question: "q"})
	if err != nil || out.SQL != everyone {
		t.Errorf("a choice that names nothing changed the vote: %q, %v", out.SQL, err)
	}
	golden.Equal(t, []string{everyone, usa}, seen, "pair")
}

// told is the report of a judge.
type told struct{ Rounds int }

func (told) Method() string { return "told" }

// telling is a judge with a report.
type telling struct{}

func (telling) Choose(context.Context, *strategy.Env, strategy.JudgeInput) (strategy.Verdict, error) {
	return strategy.Verdict{Choice: -1, Report: told{3}}, nil
}

// TestJudgeReports: what a judge has to tell reaches the outcome, also if it chooses nothing.
func TestJudgeReports(t *testing.T) {
	p := plain(2)
	p.Voter, p.Judge = vote.Majority{MinShare: 0.9}, telling{}
	out, err := p.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, everyone)}}),
		strategy.Task{Question: "q"})
	if err != nil || out.SQL != usa || out.Report != strategy.Report(told{3}) {
		t.Errorf("%q, report %+v, %v", out.SQL, out.Report, err)
	}
}
