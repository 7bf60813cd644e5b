package enginetest_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// TestNamedValuesInPrompts: the first prompt about the question shows the stored value that it names in small letters,
// in every preset that shows values. A published prompt is as its source has it, and WithoutValues shows nothing.
func TestNamedValuesInPrompts(t *testing.T) {
	const (
		people = "CREATE TABLE people (id INTEGER PRIMARY KEY, city TEXT, mail TEXT);" +
			"INSERT INTO people VALUES (1, 'Bergen', 'ada@example.com'), (2, 'Oslo', 'bo@example.com');" +
			"CREATE TABLE rivers (id INTEGER PRIMARY KEY, mouth TEXT); INSERT INTO rivers VALUES (1, 'Oslo');"
		section = "### Stored values that the question may name\n"
		value   = `people.city has "Oslo", "Bergen"` // of the few texts of a column all
	)
	replies := map[string]string{
		"maker.scope": "Tables: people", "maker.filter": "people.city = 'Oslo'",
		"agent.step": "Thought: count\nAction: query[SELECT count(*) FROM people]",
	}
	all := presets()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			prompts := func(options ...texttosql.Option) string {
				var mu sync.Mutex
				var sent strings.Builder
				model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					for _, m := range req.Messages {
						sent.WriteString(m.Text + "\n")
					}
					reply, known := replies[req.Purpose]
					if !known {
						reply = "SELECT count(*) FROM people"
					}
					return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
				})
				options = append(options, texttosql.WithStrategy(all[name]), texttosql.WithSeed(1))
				e := testutil.Value(texttosql.New(open(t, people), model, options...))(t)
				_, _ = e.Ask(t.Context(), "How many people live in oslo?") // whatever comes of it
				return sent.String()
			}
			text := prompts()
			if want := !strings.Contains(name, "published"); want != strings.Contains(text, section) || want &&
				!strings.Contains(text, value) {
				t.Errorf("the value is to be shown: %v\n%s", want, text)
			}
			if strings.Contains(text, "@example.com") && !strings.Contains(name, "published") {
				t.Errorf("an address is shown:\n%s", text)
			}
			if text := prompts(texttosql.WithoutValues()); strings.Contains(text, section) {
				t.Errorf("WithoutValues shows values:\n%s", text)
			}
		})
	}
}
