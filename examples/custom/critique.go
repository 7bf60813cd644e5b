package main

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Critique retrieves solved questions that are like the new one, and drafts a statement. It asks the model what is
// wrong with the statement, and has it revised. It makes at most 3 calls a question. Its confidence says nothing,
// because it has no second opinion.
type Critique struct{}

// Generate answers one question.
func (Critique) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := env.Validate(t); err != nil {
		return nil, err
	}
	messages, err := strategy.Prompt{Shots: 3}.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: env.Schema})
	if err != nil {
		return nil, err
	}
	model, name := env.Model(0)
	examiner := strategy.NewChecker(ctx, env, t, nil, nil)
	defer examiner.Close()
	out := &strategy.Outcome{}
	try := func(purpose string) (*vote.Candidate, error) { // one call for a statement, which is checked
		i := len(out.Candidates)
		reply, err := model.Complete(ctx, strategy.Sampler{Purpose: purpose}.Request(env, i, messages))
		if err != nil {
			return nil, err
		}
		candidate, err := examiner.Examine(ctx, i, name, reply)
		out.Candidates = append(out.Candidates, candidate)
		out.Steps = append(out.Steps, examiner.Step(candidate, i, purpose))
		return &candidate, err
	}
	draft, err := try("generate")
	if err != nil {
		return out, err
	}
	problem := draft.Rejected
	if problem == "" {
		tables, _ := env.SchemaSection(ctx, schema.Renderer{}, env.Schema, 0) // where ctx ended the call fails too
		reply, err := model.Complete(ctx, strategy.Sampler{Purpose: "critique"}.Request(env, 0, []llm.Message{
			{Role: llm.System,
				Text: env.System("Does the statement answer the question? Reply OK, or say in one line what is wrong.\n")},
			{Role: llm.User, Text: tables + t.Section() + "### Statement\n" + strategy.CodeBlock(draft.SQL)},
		}))
		if err != nil {
			return out, err
		}
		problem = env.ErrorLine(reply.Answer())
	}
	if !strings.HasPrefix(strings.ToUpper(problem), "OK") {
		messages = append(messages, llm.Message{Role: llm.Assistant, Text: strategy.CodeBlock(draft.SQL)},
			llm.Message{Role: llm.User, Text: "### Problem\n" + env.ErrorLine(problem) +
				"\nWrite a better statement in one ```sql block.\n"})
		if revised, err := try("revise"); err == nil && revised.Rejected == "" {
			out.Note("the draft was revised: %s", problem)
			out.Candidates[0].Rejected = problem
		} // otherwise the draft stands
	}
	out.Ballot, _ = vote.Majority{Key: env.Key()}.Count(out.Candidates)
	winner, err := out.Ballot.Winner()
	if err != nil {
		return out, &strategy.NoCandidateError{Rejected: out.Candidates}
	}
	out.SQL, out.Confidence = winner.SQL, out.Ballot.Confidence
	return out, nil
}
