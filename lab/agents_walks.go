package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
)

// Stored walks are in predictions/DATASET_react_traces.jsonl.gz of a folder of evaluation data.
const storedWalks = "_react_traces.jsonl.gz"

// trajectories is the source of a spec: the walks of a run, or of the runs of all its seeds.
func trajectories(folder *pools.Folder, spec, name string) (*source, error) {
	files, err := filepath.Glob(folder.Path("predictions", "*"+storedWalks))
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, path := range files {
		list, err := models.ReadTrajectories(path)
		if err != nil {
			return nil, err
		}
		s := &source{kind: models.KindRecorded, spec: spec}
		walked := map[string]bool{}
		for _, t := range list {
			if !slices.Contains(runs, t.Run) {
				runs = append(runs, t.Run)
			}
			if t.Run == name || strings.HasPrefix(t.Run, name+"_seed") {
				s.walks = append(s.walks, t)
				walked[t.Question.String()] = true
			}
		}
		if s.walks == nil {
			continue
		}
		if s.dataset, err = folder.Dataset(strings.TrimSuffix(filepath.Base(path), storedWalks)); err != nil {
			return nil, err
		}
		known := map[string]bool{}
		for _, q := range s.dataset.Questions {
			known[q.Key()] = walked[q.ID]
		}
		s.known = append(s.known, known)
		return s, nil
	}
	return nil, fmt.Errorf("model %q: no stored walk has such a run; there are %s", spec, strings.Join(runs, ", "))
}

// replayWalks sends the stored walks, run by run, through the loop.
func replayWalks(p *program, lab *agentLab, system string) ([]agentLine, error) {
	list, err := models.ReadTrajectories(lab.folder.Path("predictions", lab.dataset.Name+storedWalks))
	if err != nil {
		return nil, err
	}
	var lines []agentLine
	for len(list) > 0 {
		run := list[0].Run
		of := func(t models.Trajectory) bool { return t.Run == run }
		end := slices.IndexFunc(list, func(t models.Trajectory) bool { return !of(t) })
		if end < 0 {
			end = len(list)
		}
		line, err := replayRun(p, lab, system, list[:end])
		if err != nil {
			return nil, err
		}
		lines, list = append(lines, line), list[end:]
	}
	return lines, nil
}

func replayRun(p *program, lab *agentLab, system string, walks []models.Trajectory) (agentLine, error) {
	line := agentLine{System: system, Run: walks[0].Run}
	loop := agent.ReAct{}
	if system == "react-document" {
		loop = loop.Published()
	}
	model, err := walker(line.Run, walks, lab.dataset)
	if err != nil {
		return line, err
	}
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		resp, err := model.Complete(ctx, req)
		if err == nil {
			line.Calls++ // of one walk, one after the other
		}
		return resp, err
	})
	s, err := lab.db.Schema(p.ctx)
	if err != nil {
		return line, err
	}
	env := strategy.Env{DB: lab.db, Schema: s, Models: []llm.Model{counted}}
	for _, walk := range walks {
		at := slices.IndexFunc(lab.dataset.Questions, func(q eval.Question) bool { return q.ID == walk.Question.String() })
		if at < 0 {
			continue
		}
		q := lab.dataset.Questions[at]
		out, err := loop.Generate(p.ctx, &env, strategy.Task{Question: q.Text, Evidence: q.Evidence})
		if err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
			return line, err
		}
		var ran []bool
		for _, step := range out.Steps {
			if step.Action == "query" {
				ran = append(ran, step.Status == "ok")
			}
		}
		line.Recorded += walk.Label
		answer := out.SQL
		if answer == "" && len(out.Candidates) > 0 {
			answer = out.Candidates[0].SQL // the last one written, which does not run
		}
		switch {
		case walk.Diverged(ran) >= 0:
			line.Diverged++
			p.note("%s: %s diverged at question %s: %s", system, walk.Run, q.ID, out.Steps[len(out.Steps)-1].Observation)
		case strings.TrimRight(answer, "; ") == strings.TrimRight(walk.SQL, "; "):
			line.Same++
		}
		if err := lab.judge(p, q, out.SQL, &line); err != nil {
			return line, err
		}
	}
	return line, nil
}

// walker is a model of stored walks about the questions of a dataset.
func walker(name string, walks []models.Trajectory, dataset *eval.Dataset) (*models.Trajectories, error) {
	var questions []models.Question
	for _, q := range dataset.Questions {
		questions = append(questions, models.Question{ID: q.ID, Text: q.Text})
	}
	return models.NewTrajectories(name, walks, questions)
}
