package qasql_test

import (
	"context"
	"os"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// BenchmarkQASQL is the time of a question about superheroes besides its model, which answers at once: 11 calls of the
// linker, five contexts with two answers among them, and two calls of the judge. Schema texts, sample rows and the profile are
// there, as after the first questions of an engine.
func BenchmarkQASQL(b *testing.B) {
	env := strategytest.Superhero(b)
	d, err := eval.ReadBIRD(os.DirFS(evaldata.Path(b, "db", "bird", "superhero_description")))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range d {
		text.Described = text.Text
		d[name] = text
	}
	env.Schema, _ = env.Schema.Describe(d)
	if env.Schema, err = strategytest.ProfileOf(env)(b.Context()); err != nil {
		b.Fatal(err)
	}
	env.Texts, env.Rows = &strategy.TextCache{}, &exec.SampleCache{}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		reply := map[string]string{
			"decompose":              `{"entity": "superhero", "filter": ["blue eyes"], "aggregation": "how many"}`,
			"score":                  `{"score": 0.6, "relevant_columns": ["id"]}`,
			strategy.PurposeGenerate: "SELECT count(*) FROM superhero AS s JOIN colour AS c ON s.eye_colour_id = c.id WHERE c.colour = 'Blue'",
			strategy.PurposeJudge:    `{"selected_option": "A"}`,
		}[req.Purpose]
		if req.Purpose == strategy.PurposeGenerate && req.Sample == 3 {
			reply = "SELECT count(*) FROM superhero"
		}
		return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
	})
	env = strategytest.Asking(env, model)
	task := strategy.Task{Question: "How many superheroes have blue eyes?", Evidence: "blue eyes refers to eye_colour_id where colour.colour = 'Blue'"}
	ask := func() {
		if _, err := (qasql.Strategy{}).Generate(b.Context(), env, task); err != nil {
			b.Fatal(err)
		}
	}
	ask()
	b.ReportAllocs()
	for b.Loop() {
		ask()
	}
}
