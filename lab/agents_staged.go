package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
)

// storedSteps are the replies that an agent of the ladder's last stage had to a question.
type storedSteps struct {
	Question string `json:"nlq"`
	Recorded int    `json:"ex"`
	Steps    []struct {
		Raw     []string `json:"raw"`
		Repairs []struct {
			Fix string `json:"raw_fix"`
		} `json:"repairs"`
	} `json:"steps"`
}

// errNotStored is the end of what is stored. There is no reply of a baseline either.
var errNotStored = errors.New("no reply to this request is stored")

// fixes are the replies to repairs, in their order.
func (s storedSteps) fixes() (list []string) {
	for _, step := range s.Steps {
		for _, r := range step.Repairs {
			if r.Fix != "" {
				list = append(list, r.Fix)
			}
		}
	}
	return list
}

// model gives each sample of a step of perStep samples a stored reply of that step, and each repair the next stored
// one.
func (s storedSteps) model(perStep int, calls *atomic.Int64) llm.Model {
	fixes, repairs := s.fixes(), 0
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text, step := "", req.Sample/perStep
		switch {
		case req.Purpose == "repair" && repairs < len(fixes): // one after the other
			text = fixes[repairs]
			repairs++
		case req.Purpose == "generate" && step < len(s.Steps) && req.Sample%perStep < len(s.Steps[step].Raw):
			text = s.Steps[step].Raw[req.Sample%perStep]
		default:
			return llm.Response{}, errNotStored
		}
		calls.Add(1)
		return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
	})
}

// any reports whether some form of some stored reply is right.
func (s storedSteps) any(p *program, lab *agentLab, env strategy.Env, q eval.Question) (bool, error) {
	all := s.fixes()
	for _, step := range s.Steps {
		all = append(all, step.Raw...)
	}
	env.Models = []llm.Model{llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: all[req.Sample], StopReason: llm.StopEnd}, nil
	})}
	out, err := agent.Staged{Stage: 2, Steps: 1, Candidates: len(all)}.Generate(p.ctx, &env,
		strategy.Task{Question: q.Text, Evidence: q.Evidence})
	if errors.Is(err, strategy.ErrNoCandidate) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	report, err := strategy.ReadReport[agent.StagedReport](out.Report)
	if err != nil {
		return false, err
	}
	for _, f := range report.Forms {
		v, err := lab.scorer.Score(p.ctx, q, f.SQL)
		if err != nil || v.Fault == "" && v.Scores[0] == 1 {
			return err == nil, err
		}
	}
	return false, nil
}

// replayLadder answers from the stored replies with one stage of the ladder.
func replayLadder(p *program, lab *agentLab, system string) ([]agentLine, error) {
	stored, err := files.Lines[storedSteps](lab.folder.Path("predictions", "classicmodels_stage3_candidates.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	s, err := lab.db.Schema(p.ctx)
	if err != nil {
		return nil, err
	}
	env := strategy.Env{DB: lab.db, Schema: s}
	line := agentLine{System: system, Run: "stage3", ByClamp: new(int), ByVote: new(int), ByRepair: new(int),
		Any: new(int)}
	stage, perStep := int(system[len(system)-1]-'0'), 1
	if stage >= 2 {
		perStep = 4
	}
	for _, steps := range stored {
		at := slices.IndexFunc(lab.dataset.Questions, func(q eval.Question) bool { return q.Text == steps.Question })
		if at < 0 {
			continue
		}
		q := lab.dataset.Questions[at]
		var calls atomic.Int64
		env.Models = []llm.Model{steps.model(perStep, &calls)}
		out, err := agent.Staged{Stage: stage}.Generate(p.ctx, &env, strategy.Task{Question: q.Text, Evidence: q.Evidence})
		if err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
			return nil, err
		}
		report, err := strategy.ReadReport[agent.StagedReport](out.Report)
		if err != nil {
			return nil, err
		}
		if err := lab.judge(p, q, out.SQL, &line); err != nil {
			return nil, err
		}
		some, err := steps.any(p, lab, env, q)
		if err != nil {
			return nil, err
		}
		line.Recorded, line.Calls = line.Recorded+steps.Recorded, line.Calls+int(calls.Load())
		for _, by := range []struct {
			is    bool
			count *int
		}{{report.Clamped, line.ByClamp}, {report.Voted, line.ByVote}, {report.Repaired, line.ByRepair}, {some, line.Any}} {
			if by.is {
				*by.count++
			}
		}
	}
	return []agentLine{line}, nil
}
