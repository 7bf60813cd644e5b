package exec_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
)

// Rows of a checked statement arrive one after the other, so a result of any length takes little memory.
func ExampleRunner_Stream() {
	db := openShop(exec.Config{})
	rows, err := result.NewStream(context.Background(), func(ctx context.Context, to *result.RowWriter) error {
		runner, err := db.Runner(exec.Bounds{})
		if err != nil {
			return err
		}
		return errors.Join(runner.Stream(ctx, "SELECT name FROM customers ORDER BY name", to), runner.Close())
	})
	if err != nil {
		log.Fatal(err)
	}

	for row, err := range rows.Rows() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row[0])
	}
	// Output:
	// Ann
	// Bo
	// Cy
}
