package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
)

// A run is recorded, and repeated without the model.
func Example() {
	ctx := context.Background()
	question := llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How many singers?"}},
		Purpose:  "generate",
	}

	var file bytes.Buffer // or replay.Append("run.jsonl")
	rec := replay.NewRecorder(&file)
	live := llm.Named("m", &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT count(*) FROM singer")}}})
	if _, err := llm.Chain(live, rec.Record).Complete(ctx, question); err != nil {
		fmt.Println(err)
	}
	fmt.Print(strings.ReplaceAll(file.String(), `,"reply"`, ",\n \"reply\"")) // one line in the file

	player, err := replay.NewPlayer(&file) // or replay.Open("run.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := player.Complete(ctx, question)
	fmt.Println(llm.NameOf(player), resp.Text, err)

	question.Sample = 1
	_, err = player.Complete(ctx, question)
	fmt.Println(err)
	// Output:
	// {"v":1,"hash":"324cb292f8265d82575ef093cb22b22e","model":"m","purpose":"generate","draw":0,"about":"How many singers?",
	//  "reply":{"text":"SELECT count(*) FROM singer","stop":"stop","usage":{"calls":1,"prompt_tokens":5,"completion_tokens":7,"known":false}},"sum":"28845166"}
	// m SELECT count(*) FROM singer <nil>
	// llm: permanent: replay: no recorded reply to "generate" of model "m", sample 1, request 324cb292f8265d82 (1 of its samples recorded): How many singers?
}

// A run that was broken off goes on where it stopped.
func ExamplePlayer_Or() {
	ctx := context.Background()
	ask := func(m llm.Model, samples int) {
		for sample := range samples {
			resp, err := m.Complete(ctx, llm.Request{Purpose: "generate", Sample: sample})
			fmt.Println(sample, resp.Text, err)
		}
	}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 0", "SELECT 1", "SELECT 2")}}}

	var file bytes.Buffer
	rec := replay.NewRecorder(&file)
	ask(llm.Chain(model, rec.Record), 2)

	player, err := replay.NewPlayer(bytes.NewReader(file.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	ask(llm.Chain(model, player.Or, rec.Record), 3)
	fmt.Println(len(model.Requests()), "calls of the model")
	// Output:
	// 0 SELECT 0 <nil>
	// 1 SELECT 1 <nil>
	// 0 SELECT 0 <nil>
	// 1 SELECT 1 <nil>
	// 2 SELECT 2 <nil>
	// 3 calls of the model
}
