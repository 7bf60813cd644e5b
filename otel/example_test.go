package otel_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/otel"
)

func ExampleRecorder_Record() {
	recorder, err := otel.New(otel.Config{}) // the global providers
	if err != nil {
		panic(err)
	}
	ask := func(ctx context.Context, engine *texttosql.Engine, question string) (*texttosql.Result, error) {
		res, err := engine.Ask(ctx, question)
		recorder.Record(ctx, res, err)
		return res, err
	}
	fmt.Println(ask != nil)
	// Output: true
}
