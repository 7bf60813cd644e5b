package linker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// TestSharedIndex keeps one Index a snapshot, whoever asks first, and none that knows too much.
func TestSharedIndex(t *testing.T) {
	plain := tables([]string{"customers", "country"}, []string{"orders", "status"})
	profiled := tables([]string{"customers", "country"}, []string{"orders", "status"})
	profiled.Tables[0].Columns[0].Profile = &schema.Profile{Examples: []any{"Norway"}}
	other := tables([]string{"customers", "country"}, []string{"orders", "state"})
	kept := new(snapshot.Store).At(snapshot.Key{}, plain)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			in := linker.Input{Question: "norway", Schema: plain, Snapshot: kept}
			_, _ = linker.Lexical{}.Link(t.Context(), in)
		})
	}
	group.Wait()
	for _, tt := range []struct {
		why      string
		schema   *schema.Schema
		question string
		want     string
	}{
		{"no values are known yet", plain, "norway", "whole"},
		{"the profile is known, the names are read already", profiled, "norway", "customers(*)"},
		{"the first one stays as it was", plain, "norway", "whole"},
		{"another column is another version", other, "state", "orders(*)"},
		{"of which the first one knows nothing", plain, "state", "whole"},
	} {
		got := testutil.Value(linker.Lexical{}.Link(t.Context(), linker.Input{Question: tt.question, Schema: tt.schema,
			Snapshot: kept}))(t)
		if linked(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, linked(got), tt.want)
		}
	}
	restricted, _ := plain.Restrict(schema.Links{Tables: []schema.TableLink{{Table: "orders"}}})
	in := linker.Input{Question: "customers", Schema: restricted, Index: linker.Lexical{}.Index(plain)}
	if got, _ := (linker.Lexical{}).Link(t.Context(), in); linked(got) != "whole" {
		t.Errorf("an Index of another schema was used: %s", linked(got))
	}
}

// TestHistory says which tables answer which words, and which go together.
func TestHistory(t *testing.T) {
	s := tables([]string{"orders", "id"}, []string{"clients", "id"}, []string{"payments", "id"}, []string{"offices", "id"})
	history := []memory.Exemplar{
		{Question: "best buyers", SQL: "SELECT * FROM clients JOIN orders USING (id)"},
		{Question: "buyers of May", SQL: "SELECT * FROM Clients, (SELECT id FROM orders) o"},
		{Question: "cash", SQL: "WITH offices AS (SELECT 1) SELECT * FROM payments, offices"},
		{SQL: "SELECT * FROM payments WHERE kind = 'refund'"},
		{Question: "nonsense", SQL: "SELEC ' FROM \x00 offices_of_nobody"},
	}
	x := linker.Lexical{}.Index(s)
	for _, tt := range []struct {
		why, question, want string
		index               *linker.Index
	}{
		{"no word of the schema", "who are the buyers?", "whole", x},
		{"both tables of what buyers meant", "who are the buyers?", "orders(*) clients(*)", x.WithHistory(history)},
		{"a name of WITH is no table", "how much cash", "payments(*) orders(*) clients(*)", x.WithHistory(history)},
		{"a statement without a question is known by its own words", "refunds", "payments(*) orders(*) clients(*)",
			x.WithHistory(history)},
		{"words of the schema go first", "payments of buyers", "payments(*) orders(*) clients(*)", x.WithHistory(history)},
		{"in two parts it says the same", "payments of buyers", "payments(*) orders(*) clients(*)",
			x.WithHistory(history[:1]).WithHistory(history[1:])},
		{"the first part counts", "who are the buyers?", "orders(*) clients(*)",
			x.WithHistory(history[:2]).WithHistory(history[2:])},
		{"no history is no opinion", "who are the buyers?", "whole", x.WithHistory(nil)},
		{"names that do not exist say nothing", "nonsense", "whole", x.WithHistory(history[4:])},
	} {
		got := testutil.Value(linker.Lexical{Tables: 2}.Link(t.Context(), linker.Input{Question: tt.question, Schema: s,
			Index: tt.index}))(t)
		if linked(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, linked(got), tt.want)
		}
		again, _ := linker.Lexical{Tables: 2}.Link(t.Context(), linker.Input{Question: tt.question, Schema: s,
			Index: tt.index})
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%s: the same question gave other links:\n%s", tt.why, diff)
		}
	}
	again := *s // as with other profiles
	kept := new(snapshot.Store).At(snapshot.Key{}, s)
	for _, s := range []*schema.Schema{s, &again, s} {
		got, err := linker.Lexical{Tables: 2}.Link(t.Context(), linker.Input{Question: "who are the buyers?", Schema: s,
			Snapshot: kept, Past: history})
		if err != nil || linked(got) != "orders(*) clients(*)" {
			t.Errorf("with the index that is kept: %s, %v", linked(got), err)
		}
	}
}

// wide makes n tables of 20 columns.
func wide(n int) *schema.Schema {
	s := tables()
	for i := range n {
		names := []string{fmt.Sprintf("%s_%s_%c", [...]string{"sales", "stock", "order", "client", "invoice"}[i%5],
			[...]string{"report", "history", "detail", "summary"}[i/5%4], 'b'+rune(i/20%24)) + fmt.Sprint("x", i/480)}
		for j := range 20 {
			names = append(names, fmt.Sprintf("%s_%d_%d", [...]string{"amount", "city", "day", "price", "status"}[j%5], i%97, j))
		}
		s.Tables = append(s.Tables, tables(names).Tables...)
	}
	return s
}

// BenchmarkIndex reads schemas of 20 columns a table, and links to them.
func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		s := wide(n)
		b.Run(fmt.Sprintf("new/%d", n), func(b *testing.B) {
			for b.Loop() {
				linker.Lexical{}.Index(s)
			}
		})
		in := linker.Input{Question: "Which city has the largest amount of stock in the summary of May?", Schema: s,
			Index: linker.Lexical{}.Index(s)}
		b.Run(fmt.Sprintf("link/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := (linker.Lexical{}).Link(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTablesAskedAbout: what asks about each table asks about the first of the index, however many there are.
func TestTablesAskedAbout(t *testing.T) {
	s := wide(2000)
	s.Tables = append(s.Tables, tables([]string{"penguins", "weight"}).Tables...)
	for _, tt := range []struct {
		why    string
		linker func(m llm.Model) linker.Linker
		most   int
	}{
		{"the default", func(m llm.Model) linker.Linker { return linker.MapReduce{Model: m} }, 40},
		{"fewer", func(m llm.Model) linker.Linker { return linker.MapReduce{Model: m, Tables: 7} }, 7},
		{"the default", func(m llm.Model) linker.Linker { return linker.PerTable{Model: m} }, 40},
		{"fewer", func(m llm.Model) linker.Linker { return linker.PerTable{Model: m, Tables: 7} }, 7},
	} {
		var asked atomic.Int64
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			text := req.Messages[len(req.Messages)-1].Text
			if req.Purpose == "score" || req.Purpose == "table" {
				asked.Add(1)
			}
			yes := strings.Contains(text, "CREATE TABLE penguins")
			if at := slices.Index(shown(req), "penguins"); len(shown(req)) > 1 {
				list := map[bool]string{true: fmt.Sprintf(`{"table": %d}`, at+1)}[at >= 0]
				return llm.Response{Text: `{"tables": [` + list + `], "final_tables": ["penguins"]}`}, nil
			}
			return llm.Response{Text: fmt.Sprintf(`{"relevant": %v, "score": %d, "is_relevant": %[1]v}`, yes,
				map[bool]int{true: 1}[yes])}, nil
		})
		l := tt.linker(model)
		got := testutil.Value(l.Link(t.Context(), linker.Input{Question: "How heavy are the penguins in stock?",
			Schema: s}))(t)
		if len(got.Tables) != 1 || got.Tables[0].Table != "penguins" || int(asked.Load()) > tt.most ||
			asked.Load() < int64(tt.most)/2 {
			t.Errorf("%T, %s: linked %s, asked about %d tables, want at most %d", l, tt.why, linked(got), asked.Load(), tt.most)
		}
	}
}

// BenchmarkEvidence links a question whose evidence is a document, as the knowledge of Spider2 is: up to 55 KB of
// Markdown.
func BenchmarkEvidence(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "| `event_%d.itemRevenue%d` | FLOAT64 | The %s of item no. %d of the customer's order, in USD |\n",
			i%97, i, [...]string{"revenue", "city", "prices"}[i%3], i)
	}
	for _, n := range []int{100, 1000} {
		s := wide(n)
		for _, size := range []int{5_000, 55_000} {
			in := linker.Input{Question: "Which city has the largest amount of stock?", Evidence: text.String()[:size],
				Schema: s, Index: linker.Lexical{}.Index(s)}
			b.Run(fmt.Sprintf("%d/%d", n, size), func(b *testing.B) {
				for b.Loop() {
					if _, err := (linker.Lexical{}).Link(context.Background(), in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// concepts embeds texts by what they are about: money, people, places.
type concepts struct {
	err   error
	calls *int
}

func (c concepts) EmbedDocuments(_ context.Context, texts []string) (vectors [][]float32, err error) {
	*c.calls++
	for _, text := range texts {
		v := make([]float32, 3)
		for i, about := range []string{"amount payment turnover деньги", "client buyer покупатели", "city office where"} {
			for _, w := range strings.Fields(about) {
				v[i] += float32(strings.Count(strings.ToLower(text), w))
			}
		}
		vectors = append(vectors, v)
	}
	return vectors, c.err
}

func (c concepts) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := c.EmbedDocuments(ctx, []string{text})
	return v[0], err
}

// TestEmbedder: meaning finds what words do not, and words what is left without it.
func TestEmbedder(t *testing.T) {
	s := tables([]string{"clients", "id"}, []string{"payments", "amount"}, []string{"offices", "city"},
		[]string{"log", "line"})
	for _, tt := range []struct {
		why, question, want string
		err                 error
		warns               bool
	}{
		{"a synonym", "How many buyers do we have?", "clients(*)", nil, false},
		{"another script", "Сколько покупатели?", "clients(*)", nil, false},
		{"words before meaning", "turnover by the log", "log(*) payments(*)", nil, false},
		{"no meaning is near", "nothing at all", "whole", nil, false},
		{"it fails, no word is known", "How many buyers do we have?", "whole", errors.New("no network"), true},
		{"it fails, words link", "lines of the log", "log(*)", errors.New("no network"), true},
	} {
		calls := 0
		l := linker.Lexical{Embedder: concepts{tt.err, &calls}}
		in := linker.Input{Question: tt.question, Schema: s, Snapshot: new(snapshot.Store).At(snapshot.Key{}, s)}
		for range 2 {
			ctx, root := trace.Tracer{}.Start(t.Context(), "test")
			got, err := l.Link(ctx, in)
			root.End()
			if err != nil {
				t.Fatal(err)
			}
			if linked(got) != tt.want || (len(root.Warnings()) > 0) != tt.warns {
				t.Errorf("%s: %s, want %s; warnings %v", tt.why, linked(got), tt.want, root.Warnings())
			}
		}
		if tt.err == nil && calls != 3 {
			t.Errorf("%s: %d calls of the embedder, want one for the tables and one a question", tt.why, calls)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (linker.Lexical{Embedder: concepts{nil, new(int)}}).Link(ctx,
		linker.Input{Question: "x", Schema: s}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// slowly embeds a text in .45 seconds.
type slowly struct{ concepts }

func (s slowly) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(len(texts)) * 450 * time.Millisecond):
		return s.concepts.EmbedDocuments(ctx, texts)
	}
}

// TestEmbedderSlow: no question waits for an embedder longer than it has time. Words answer it, and the next questions
// go on from there until all tables have vectors.
func TestEmbedderSlow(t *testing.T) {
	for why, left := range map[string]time.Duration{"without an end": time.Hour,
		"of a question that has 8 s": 8 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := tables([]string{"clients", "id"}, []string{"payments", "amount"}, []string{"log", "line"})
			for i := range 27 {
				s.Tables = append(s.Tables, tables([]string{fmt.Sprintf("t_%c", 'a'+i), "x"}).Tables...)
			}
			in := linker.Input{Question: "buyers in the log", Schema: s, Snapshot: new(snapshot.Store).At(snapshot.Key{}, s)}
			l := linker.Lexical{Embedder: slowly{concepts{nil, new(int)}}}
			var got []string
			for range 5 {
				ctx, cancel := context.WithTimeout(t.Context(), left)
				ctx, root := trace.Tracer{}.Start(ctx, "question")
				begin := time.Now()
				links, err := l.Link(ctx, in)
				cancel()
				root.End()
				if took := time.Since(begin); err != nil || took > min(5*time.Second, left/2) {
					t.Errorf("%s: %v after %v", why, err, took)
				}
				text := linked(links)
				for _, w := range root.Warnings() {
					text += ", " + w.Code + w.Message[strings.LastIndex(w.Message, "memory"):]
				}
				got = append(got, text)
			}
			want := []string{
				"log(*), link-lexicalmemory: 8 of 30 texts have vectors: context deadline exceeded",
				"log(*), link-lexicalmemory: 16 of 30 texts have vectors: context deadline exceeded",
				"log(*), link-lexicalmemory: 24 of 30 texts have vectors: context deadline exceeded",
				"log(*) clients(*)", "log(*) clients(*)",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", why, diff)
			}
		})
	}
}

func ExampleLexical_embedder() {
	s := tables([]string{"clients", "id"}, []string{"payments", "amount"})
	// a program has openai.Embedder("text-embedding-3-small"), for example
	l := linker.Lexical{Embedder: concepts{nil, new(int)}}
	links, err := l.Link(context.Background(), linker.Input{Question: "How many buyers are there?", Schema: s})
	if err != nil {
		panic(err)
	}
	fmt.Println(links.Tables[0].Table)
	// Output: clients
}
