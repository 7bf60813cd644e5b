package snapshot_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

// columns counts the columns of a schema. A scope has the same as another.
var columns = &snapshot.Derived[struct{}, int]{Reach: snapshot.OfPolicy}

func Example() {
	var store snapshot.Store
	shop := &schema.Schema{Tables: []schema.Table{{Name: "orders",
		Columns: []schema.Column{{Name: "id"}, {Name: "total"}}}}}

	for _, scope := range []string{"north", "south"} {
		s := store.At(snapshot.Key{Database: "shop", Scope: scope, Version: "1"}, shop)
		n, err := columns.Of(context.Background(), s, struct{}{}, func(context.Context) (n int, err error) {
			fmt.Println("counting for", scope)
			for _, t := range s.Schema.Tables {
				n += len(t.Columns)
			}
			return n, nil
		})
		fmt.Println(scope, n, err)
	}
	// Output:
	// counting for north
	// north 2 <nil>
	// south 2 <nil>
}
