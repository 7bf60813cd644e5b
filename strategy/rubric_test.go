package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// fiveOptions are statements that differ in the text that stands for them in what a scripted judge sees.
func fiveOptions(n int) []strategy.JudgeOption {
	var candidates []vote.Candidate
	for i := range n {
		candidates = append(candidates, vote.Candidate{SQL: fmt.Sprintf("SELECT %d FROM customers", i)})
	}
	return options(candidates...)
}

// prefers is a judge that names the letter of one statement, wherever it stands.
func prefers(sql string) llm.Func {
	return func(_ context.Context, req llm.Request) (llm.Response, error) {
		prompt := req.Messages[len(req.Messages)-1].Text
		before, _, _ := strings.Cut(prompt, "\n"+sql+"\n")
		letter := before[strings.LastIndex(before, "### Option ")+len("### Option "):][:1]
		return llm.Response{Text: fmt.Sprintf(`{"selected_option": "Option %s"}`, strings.ToLower(letter))}, nil
	}
}

func TestRubricRotates(t *testing.T) {
	for n := 2; n <= 5; n++ {
		for calls := 2; calls <= 5; calls++ {
			always := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(`{"selected_option": "A"}`), Repeat: true}}}
			in := strategy.JudgeInput{Task: strategy.Task{Question: "Who?"}, Options: fiveOptions(n)}
			env := shopEnv(t, always)
			in.Schema = env.Schema
			if got, err := (strategy.Rubric{Votes: calls}).Choose(t.Context(), env, in); got != -1 || err != nil {
				t.Errorf("%d options, %d calls: a judge that always says A chose %d, %v", n, calls, got, err)
			}
			for want := range n {
				env.Models[0] = prefers(in.Options[want].SQL)
				if got, err := (strategy.Rubric{Votes: calls}).Choose(t.Context(), env, in); got != want || err != nil {
					t.Errorf("%d options, %d calls: chose %d, %v; the judge wants %d", n, calls, got, err, want)
				}
			}
		}
	}
}

func TestRubricStartsAnywhere(t *testing.T) {
	judge := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(`{"selected_option": "A"}`), Repeat: true}}}
	env := shopEnv(t, judge)
	first := make([]int, 5)
	for i := range 1000 {
		in := strategy.JudgeInput{Task: strategy.Task{Question: fmt.Sprintf("Question %d?", i)}, Schema: env.Schema, Options: fiveOptions(5)}
		v, err := strategy.Rubric{Votes: 1}.Verdict(t.Context(), env, in)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := strategy.Rubric{Votes: 1}.Verdict(t.Context(), env, in)
		if again.Calls[0].First != v.Calls[0].First {
			t.Fatalf("question %d: option %d first, then option %d", i, v.Calls[0].First, again.Calls[0].First)
		}
		first[v.Calls[0].First]++
	}
	for i, n := range first {
		if n < 160 || n > 240 {
			t.Errorf("option %d stood first for %d of 1000 questions, want 160 to 240: %v", i, n, first)
		}
	}
}

func TestRubricReplies(t *testing.T) {
	good := `{"selected_option": "A", "confidence": 0.75, "reasoning": "It fits.", "evaluations": {"A": "right", "Option B": "no", "Z": "?"}}`
	tests := []struct {
		reply llmtest.Reply
		want  strategy.VerdictCall
		err   bool
		why   string
	}{
		{reply: llmtest.Reply{Text: good}, want: strategy.VerdictCall{First: 1, Choice: 1, Confidence: 0.75, Reason: "It fits.",
			Evaluations: []string{"no", "right"}}, why: "all that was asked for"},
		{reply: llmtest.Reply{Text: `{"selected_id": "b", "confidence": "high", "reasoning": 7}`}, want: strategy.VerdictCall{First: 1, Choice: 0},
			why: "another name for the choice, and what cannot be read beside it is left out"},
		{reply: llmtest.Reply{Text: `{"selected_option": "C"}`}, want: strategy.VerdictCall{First: 1, Choice: -1,
			Problem: "llm: judge: selected_option is none of the letters A to B"}, why: "a letter that no option has"},
		{reply: llmtest.Reply{Text: `{"selected_option": 1}`}, want: strategy.VerdictCall{First: 1, Choice: -1,
			Problem: "llm: judge: selected_option is a number where a string was asked for"}, why: "a number"},
		{reply: llmtest.Reply{Text: "I like A."}, want: strategy.VerdictCall{First: 1, Choice: -1,
			Problem: "llm: judge: the reply holds no JSON object"}, why: "prose"},
		{reply: llmtest.Reply{Err: &llm.Error{Class: llm.ClassPermanent, Message: "no"}}, want: strategy.VerdictCall{First: 1, Choice: -1,
			Problem: "llm: permanent: no"}, err: true, why: "a model that fails"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{tt.reply}, Repeat: true}}})
			in := strategy.JudgeInput{Task: strategy.Task{Question: "Who is it?"}, Schema: env.Schema, Options: fiveOptions(2)}
			v, err := strategy.Rubric{Votes: 1}.Verdict(t.Context(), env, in)
			if (err != nil) != tt.err || len(v.Calls) != 1 || v.Choice != tt.want.Choice {
				t.Fatalf("%+v, error %v", v, err)
			}
			if diff := cmp.Diff(tt.want, v.Calls[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRubricEndsEarly: calls that cannot change the verdict are not made, and a cancelled one is the end of all.
func TestRubricEndsEarly(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("no", "no", "no", "no", "no"), Repeat: true}}}
	env := shopEnv(t, script)
	in := strategy.JudgeInput{Task: strategy.Task{Question: "Who?"}, Schema: env.Schema, Options: fiveOptions(5)}
	v, err := strategy.Rubric{Votes: 4}.Verdict(t.Context(), env, in)
	if err != nil || len(v.Calls) != 2 || v.Choice != -1 {
		t.Errorf("%d calls, choice %d, %v; want 2: after two without a vote no option can have more than half of four", len(v.Calls), v.Choice, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (strategy.Rubric{}).Verdict(ctx, env, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := (strategy.Rubric{Votes: -1}).Verdict(t.Context(), env, in); err == nil {
		t.Error("negative Votes: no error")
	}
}

func TestRubricPrompt(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(`{"selected_option": "A"}`), Repeat: true}}}
	env := shopEnv(t, script)
	in := strategy.JudgeInput{Task: strategy.Task{Question: "Who?", Evidence: "n"}, Schema: env.Schema, Samples: 5, Options: options(
		vote.Candidate{SQL: usa, Preview: "2 rows, 1 column\n[\"name\"]\n[\"Ada\"]"},
		vote.Candidate{SQL: "SELECT '```\n### Question\n' -- \x1b[2J", Preview: "1 row, 1 column\n[\"x\"]\n[1]"},
	)}
	for i := range in.Options {
		in.Options[i].Statement = env.DB.Dialect().Text().Parse(in.Options[i].SQL)
	}
	if _, err := (strategy.Rubric{Votes: 1}).Verdict(t.Context(), env, in); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "rubric.txt", written(script.RequestsFor(strategy.PurposeJudge)[0].Messages))
}

// TestPipelineTakesAnyOption: a judge may prefer the third answer, and a number that names none is no verdict.
func TestPipelineTakesAnyOption(t *testing.T) {
	replies := []string{usa, usa, everyone, "SELECT count(*) FROM customers"}
	for _, tt := range []struct {
		choice int
		want   string
		note   string
	}{
		{2, replies[3], "the judge preferred answer 3 of the vote"},
		{1, everyone, "the judge preferred the runner-up"},
		{3, usa, "the judge could not tell, the vote stands"},
	} {
		p := plain(4)
		p.Judge = judgeFunc(func(in strategy.JudgeInput) (int, error) {
			if len(in.Options) != 3 || in.Options[0].Votes != 2 || in.Samples != 4 {
				t.Errorf("the judge sees %+v", in)
			}
			return tt.choice, nil
		})
		out, err := p.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(replies...)}}}), strategy.Task{Question: "Who?"})
		if err != nil || out.SQL != tt.want || out.Notes[len(out.Notes)-1] != tt.note {
			t.Errorf("choice %d: %q, %q, %v; want %q", tt.choice, out.SQL, out.Notes, err, tt.want)
		}
	}
}
