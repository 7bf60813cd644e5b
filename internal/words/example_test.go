package words_test

import (
	"fmt"

	"github.com/texttosql/texttosql/internal/words"
)

func ExampleOfName() {
	fmt.Println(words.OfName("customerName"), words.OfName("ORDER_LINE2"))
	// Output: [customer name] [order line 2]
}

func ExampleOf() {
	fmt.Printf("%q\n", words.Of("Which singers don't live in “Paris”?"))
	// Output: ["which" "singers" "don't" "live" "in" "paris"]
}

func ExampleStem() {
	fmt.Println(words.Stem("Countries"), words.Stem("country"))
	// Output: country country
}

func ExampleClean() {
	fmt.Printf("%q\n", words.Clean("name\u200b of the\x00 singer"))
	// Output: "name of the singer"
}

// What a person quotes is mostly a value.
func ExampleQuotations() {
	question := `Which of O'Brien's songs is called "Hey Jude" or «Yesterday»?`
	for _, q := range words.Quotations(question) {
		fmt.Println(question[q.From:q.To])
	}
	// Output:
	// Hey Jude
	// Yesterday
}
