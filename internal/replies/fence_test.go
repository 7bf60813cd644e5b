package replies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/replies"
)

func TestCompleteBlocks(t *testing.T) {
	tests := []struct{ reply, want, why string }{
		{"```sql\nSELECT 1\n```\n\nOutput:\n1\n1\n1", "```sql\nSELECT 1\n```", "what goes on behind it was cut"},
		{"So:\n```\nSELECT 1\n```\nor\n```\nSELECT 2\n```\nor\n```\nSELECT",
			"So:\n```\nSELECT 1\n```\nor\n```\nSELECT 2\n```", "the last one that is closed"},
		{"```sql\nSELECT name FROM customers WHERE", "", "no block is closed"},
		{"SELECT name FROM customers WHERE", "", "no block"},
		{"``````", "", "an empty block holds nothing"},
		{"", "", "nothing"},
		{strings.Repeat("x", 32768) + "\n```\nSELECT 1\n```", "", "a reply that is too long is not looked at"},
	}
	for _, tt := range tests {
		if got := replies.CompleteBlocks(tt.reply); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// A reply that the provider cut in its explanation still holds a statement.
func ExampleCompleteBlocks() {
	reply := "```sql\nSELECT count(*) FROM customers\n```\nThis counts the rows of the table cust"
	found, err := replies.Extractor{}.Extract(replies.CompleteBlocks(reply))
	fmt.Println(found.SQL(), err)
	// Output: SELECT count(*) FROM customers <nil>
}
