package schema_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/schema"
)

func Example() {
	s := &schema.Schema{Dialect: "sqlite", Tables: []schema.Table{
		{Name: "orders", Kind: "table", PrimaryKey: []string{"id"}, Columns: []schema.Column{
			{Name: "id", Type: "INTEGER"}, {Name: "status", Type: "TEXT"},
		}},
		{Name: "shelves", Kind: "table", Columns: []schema.Column{{Name: "room", Type: "TEXT"}}},
	}}
	links := schema.Links{Tables: []schema.TableLink{{Table: "orders"}}} // what a linker chose

	s, unknown := s.Describe(schema.Descriptions{"orders.status": {Text: "S shipped, D disputed"}})
	s, missing := s.Restrict(links) // linked tables, and what joins them
	r, err := schema.Renderer{Form: schema.MSchema, MaxTokens: 4000}.Render(context.Background(), s)
	fmt.Println(unknown, missing, r.Reduced, r.LeftOut, err) // what the text does not say
	fmt.Print(r.Text)
	// Output:
	// [] [] [] [] <nil>
	// 【Schema】
	// # Table: orders
	// [
	// (id:INTEGER, Primary Key),
	// (status:TEXT, S shipped, D disputed)
	// ]
}
