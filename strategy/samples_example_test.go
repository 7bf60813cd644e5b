package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/snapshot"
)

// The rows of prompts are read once for all questions. What changes in a table
// does not show, so that the same question has the same prompt; without a snapshot it
// does.
func ExampleEnv_Samples() {
	ctx := context.Background()
	pool, env := exampleShop(nil)
	defer pool.Close()
	for _, env.Snapshot = range []*snapshot.Snapshot{env.Snapshot, env.Snapshot, nil} {
		samples, err := env.Samples(ctx, env.Schema, exec.SampleOptions{Rows: 1})
		fmt.Println(samples[0].Table, samples[0].Rows, err)
		if _, err := pool.Exec("UPDATE customers SET name = 'Zoe' WHERE id = 1"); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// customers [[1 Ada USA]] <nil>
	// customers [[1 Ada USA]] <nil>
	// customers [[1 Zoe USA]] <nil>
}
