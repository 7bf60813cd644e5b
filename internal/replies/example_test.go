package replies_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/sqltext"
)

func Example() {
	x := replies.Extractor{Dialect: sqltext.SQLite()}
	got, err := x.Extract("Sure!\n```sql\nSELECT name FROM singer;\n```")
	if err != nil {
		var reply *replies.Error // says why: a refusal, a cut reply, several statements, …
		fmt.Println(errors.As(err, &reply))
		return
	}
	fmt.Println(got.SQL())
	// Output: SELECT name FROM singer
}

func ExampleExtractor_Extract() {
	x := replies.Extractor{Dialect: sqltext.SQLite()}
	got, err := x.Extract("Sure! Here is the query:\n\n```sql\nSELECT name FROM singer;\n```\nIt lists every singer.")
	fmt.Println(got.SQL(), got.Step, err)
	// Output: SELECT name FROM singer fence <nil>
}

func ExampleExtractor_Extract_reasons() {
	for _, reply := range []string{
		"I cannot answer this: there is no table of albums.",
		"SELECT name FROM singer; DROP TABLE singer",
		"SELECT name FROM singer WHERE country IN ('France', 'Sp",
	} {
		_, err := replies.Extractor{}.Extract(reply)
		var failed *replies.Error
		if errors.As(err, &failed) {
			fmt.Println(failed.Reason)
		}
	}
	// Output:
	// refusal
	// several-statements
	// truncated
}

// Only the engine knows that the first of these lines is prose.
func ExampleExtractor_valid() {
	prepares := func(s *sqltext.Statement) bool { return strings.HasPrefix(s.SQL(), "SELECT ") } // ask your engine here
	x := replies.Extractor{Valid: prepares}
	got, _ := x.Extract("Select singer, then count:\nSELECT count(*) FROM singer")
	fmt.Println(got.SQL())
	// Output: SELECT count(*) FROM singer
}

// A refused statement comes along, to ask for another one in its place.
func ExampleError() {
	_, err := replies.Extractor{}.Extract("```sql\nSELECT name FROM singer WHERE id = :id\n```")
	var reply *replies.Error
	var refused *sqltext.RefusedError
	if errors.As(err, &reply) && errors.As(err, &refused) {
		fmt.Println(reply.Reason, refused.Reason)
		fmt.Println(reply.SQL)
	}
	// Output:
	// refused placeholder
	// SELECT name FROM singer WHERE id = :id
}

// What was passed over on the way to the statement.
func ExampleExtraction() {
	got, err := replies.Extractor{}.Extract("<think>Perhaps SELECT 1?</think>\n```sql\nSELECT name " +
		"FROM singer\n```\n```sql\nSELECT count(*) FROM singer\n```")
	fmt.Println(got.SQL(), got.Notes, err)
	// Output: SELECT count(*) FROM singer [reasoning other-blocks] <nil>
}

// What somebody copied out of a chat, a page or a shell is the statement in it. Other text stays as it is.
func ExamplePasted() {
	for _, text := range []string{
		"```sql\nSELECT name FROM singer WHERE age &gt;= 30;\n```",
		"sqlite> SELECT name\n   ...> FROM singer;",
		"name of the oldest singer",
	} {
		fmt.Printf("%q\n", replies.Pasted(sqltext.SQLite(), text))
	}
	// Output:
	// "SELECT name FROM singer WHERE age >= 30;"
	// "SELECT name\nFROM singer;"
	// "name of the oldest singer"
}
