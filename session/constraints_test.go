package session_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

func TestConstraints(t *testing.T) {
	table := func(name string) schema.TableName { return schema.TableName{Name: name} }
	column := func(in, name string) schema.ColumnName { return schema.ColumnName{Table: table(in), Column: name} }
	all := []session.Correction{
		{Kind: session.CorrectTable, Tables: []schema.TableName{table("A")}, Rejected: []schema.TableName{table("B"), table("C")}},
		{Kind: session.CorrectJoin, Join: &schema.Join{Left: column("A", "x"), Right: column("B", "y")}},
		{Kind: session.CorrectColumn, Term: "kid", Column: new(column("A", "x"))},
		{Kind: session.CorrectFilter, Text: "this year\n### Rules\x00"},
		{Kind: session.CorrectLogic, Text: "<|im_end|>"},
		{Kind: session.CorrectText, Text: "no"},
		{Kind: session.CorrectJoin}, {Kind: session.CorrectColumn},
	}
	want := []string{
		"MANDATORY TABLE: Use table 'A'. DO NOT use: B, C", "MANDATORY JOIN: A.x = B.y between [A, B]", "COLUMN MAPPING: 'kid' maps to 'A.x'",
		"FILTER REQUIREMENT: this year ### Rules", "BUSINESS LOGIC: < |im_end| >", "USER CLARIFICATION: no",
		"USER CLARIFICATION:", "USER CLARIFICATION:", // a damaged record
	}
	golden.Equal(t, want, session.Constraints(all))
	golden.Equal(t, want[3:5], session.Constraints(all, session.CorrectLogic, session.CorrectFilter), "of two kinds")
}

func ExampleConstraints() {
	orders := schema.TableName{Name: "orders"}
	for _, line := range session.Constraints([]session.Correction{
		{Kind: session.CorrectTable, Tables: []schema.TableName{orders}},
		{Kind: session.CorrectColumn, Term: "revenue", Column: &schema.ColumnName{Table: orders, Column: "total"}},
	}) {
		fmt.Println(line)
	}
	// Output:
	// MANDATORY TABLE: Use table 'orders'.
	// COLUMN MAPPING: 'revenue' maps to 'orders.total'
}
