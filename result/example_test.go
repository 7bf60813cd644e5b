package result_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/texttosql/texttosql/result"
)

func Example() {
	t := &result.Table{Columns: []string{"name", "n"}, Rows: [][]any{{"Ann", int64(1)}}}
	u := &result.Table{Columns: []string{"who", "count"}, Rows: [][]any{{"Ann", 1.0}}}
	fmt.Println(result.Equality{}.Equal(t, u))
	if err := t.WriteTable(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// true
	// name | n
	// -----+--
	// Ann  | 1
	// (1 row)
}

func ExampleEquality() {
	a := &result.Table{Columns: []string{"country", "n"}, Rows: [][]any{{"France", int64(3)}, {"Italy", int64(5)}}}
	b := &result.Table{Columns: []string{"c", "count(*)"}, Rows: [][]any{{"Italy", 5.0}, {"France", 3.0}}}
	fmt.Println(result.Equality{}.Equal(a, b))
	fmt.Println(result.Equality{Ordered: true}.Equal(a, b))
	// Output:
	// true
	// false
}

func ExampleEquality_digits() {
	a := &result.Table{Columns: []string{"avg"}, Rows: [][]any{{0.30000000000000004}}}
	b := &result.Table{Columns: []string{"avg"}, Rows: [][]any{{0.3}}}
	fmt.Println(result.Equality{}.Equal(a, b))
	fmt.Println(result.Equality{Digits: 9}.Equal(a, b))
	// Output:
	// false
	// true
}

func ExampleEquality_Fingerprint() {
	t := &result.Table{Columns: []string{"n"}, Rows: [][]any{{int64(42)}}}
	fp, ok := result.Equality{}.Fingerprint(t)
	fmt.Println(len(fp), ok)

	t.Truncated = true // there were more rows than were read
	fp, ok = result.Equality{}.Fingerprint(t)
	fmt.Printf("%q %v\n", fp, ok)
	// Output:
	// 32 true
	// "" false
}

func ExampleTable_WriteTable() {
	t := &result.Table{
		Columns: []string{"name", "orders"},
		Rows:    [][]any{{"Ann", int64(12)}, {"名前", nil}, {"two\nlines", 0.5}},
	}
	t.WriteTable(os.Stdout)
	// Output:
	// name       | orders
	// -----------+-------
	// Ann        |  12.00
	// 名前       | NULL
	// two\nlines |   0.50
	// (3 rows)
}

func ExampleTable_WriteTableWithin() {
	t := &result.Table{Columns: []string{"name", "email"}, Rows: [][]any{{"Ann", "ann.of.the.long.name@example.org"}}}
	t.WriteTableWithin(os.Stdout, 24)
	// Output:
	// name | email
	// -----+------------------
	// Ann  | ann.of.the.long.…
	// (1 row)
}

func ExampleType_Format() {
	fmt.Println(result.Type{}.Format(nil), result.Type{}.Format("NULL"), result.Type{}.Format(0.1+0.2),
		result.Type{}.Format("two\nlines"))
	// Output: NULL "NULL" 0.3 two\nlines
}

func ExampleTable_WriteCSV() {
	t := &result.Table{Columns: []string{"name", "note"}, Rows: [][]any{{"Ann", nil}, {"Bo", ""}, {"Cy", `"so, so"`}}}
	t.WriteCSV(os.Stdout)
	// Output:
	// name,note
	// Ann,
	// Bo,""
	// Cy,"""so, so"""
}

func ExampleTable_MarshalJSON() {
	t := &result.Table{Columns: []string{"id", "price"}, Rows: [][]any{{int64(9007199254740993), 2.0},
		{nil, []byte("hi")}}}
	json.NewEncoder(os.Stdout).Encode(t)
	// Output:
	// {"columns":["id","price"],"rows":[[9007199254740993,2.0],[null,{"blob":"aGk="}]]}
}

func ExampleTable_Preview() {
	t := &result.Table{
		Columns: []string{"name", "bio"},
		Rows:    [][]any{{"Ann", "writes ```sql``` all day long"}, {"Bo", nil}, {"Cy", ""}},
	}
	fmt.Println(t.Preview(2, 12))
	// Output:
	// 3 rows, 2 columns
	// ["name","bio"]
	// ["Ann","writes \u0060\u0060\u0060sq…"]
	// ["Bo",null]
	// …
}

// A table tells the type of each column, keeps the digits of decimals, and gives the values by which it is compared.
func ExampleTable_Plain() {
	t := &result.Table{
		Columns: []string{"price", "paid"},
		Types: []result.Type{{Name: "numeric(10,2)", Kind: result.KindDecimal, Scale: 2},
			{Name: "bool", Kind: result.KindBool}},
		Rows: [][]any{{result.Decimal("1.10"), true}, {result.Decimal("100.00"), false}},
	}
	t.WriteCSV(os.Stdout)
	text, _ := json.Marshal(t)
	fmt.Println(string(text))
	fmt.Println(t.Plain().Rows)
	// Output:
	// price,paid
	// 1.10,true
	// 100.00,false
	// {"columns":["price","paid"],"types":[{"name":"numeric(10,2)","kind":"decimal","scale":2},{"name":"bool","kind":"bool"}],"rows":[[1.10,true],[100.00,false]]}
	// [[1.1 1] [100 0]]
}

// Numbers that a reader would turn into floats can be texts.
func ExampleTable_JSON() {
	t := &result.Table{Columns: []string{"id", "price"}, Rows: [][]any{{int64(9007199254740993), result.Decimal("1.10")}}}
	fmt.Println(string(t.JSON(result.JSONOptions{DecimalText: true, BigIntText: true})))
	// Output: {"columns":["id","price"],"rows":[["9007199254740993","1.10"]]}
}

// A stream gives rows one after the other; a loop that ends early ends what makes them.
func ExampleNewStream() {
	s, err := result.NewStream(context.Background(), func(_ context.Context, to *result.RowWriter) error {
		if err := to.Head([]string{"n"}, nil); err != nil {
			return err
		}
		for n := int64(1); ; n++ {
			if err := to.Row([]any{n}); err != nil {
				return err
			}
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	sum := int64(0)
	for row, err := range s.Rows() {
		if err != nil {
			log.Fatal(err)
		}
		if sum += row[0].(int64); sum > 1000 {
			break
		}
	}
	fmt.Println(s.Columns, sum)
	// Output: [n] 1035
}
