package trace_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/tracepage"
	"github.com/texttosql/texttosql/trace"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 3, 4, 10, 30, 0, 0, time.UTC)}
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// at sets the clock to d after the start of every fixture.
func (c *clock) at(d time.Duration) { c.add(newClock().now.Add(d).Sub(c.read())) }

const ms = time.Millisecond

const shopSQL = `SELECT c.name, c.city
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.id
WHERE c.country = 'USA' AND o.id IS NULL
ORDER BY c.name`

// rows, prompt and reply make the private values that only a test or package llm makes.
func rows(text string) trace.Secret   { return trace.PrivateRows.Secret(text) }
func prompt(text string) trace.Secret { return trace.PrivatePrompts.Secret(text) }
func reply(text string) trace.Secret  { return trace.PrivateReplies.Secret(text) }

// shop is the trace of a question as the engine would record it: one stage
// after the other, samples in parallel, one of them refused, one repaired, and
// one given up when the vote was decided.
func shop(keep trace.Sensitivity) *trace.Span {
	c := newClock()
	root := trace.Tracer{Now: c.read, Keep: keep}.New("ask",
		trace.Attr{Key: "strategy", Value: "consensus"}, trace.Attr{Key: "samples", Value: 12})
	ctx := trace.NewContext(context.Background(), root)

	inspect(ctx, c)
	generate(ctx, c)

	c.at(2712 * ms)
	_, vote := trace.Start(ctx, "vote", trace.Attr{Key: "rule", Value: "by result"})
	vote.Set("winner", 0)
	vote.Set("share", 0.75)
	vote.Set("reason", "the leader cannot be overtaken")
	c.at(2713 * ms)
	vote.End()
	c.at(2750 * ms)
	root.End()
	return root
}

func inspect(ctx context.Context, c *clock) {
	_, s := trace.Start(ctx, "schema", trace.Attr{Key: "tables", Value: 11}, trace.Attr{Key: "cached", Value: false})
	c.at(38 * ms)
	s.End()
	lctx, s := trace.Start(ctx, "link", trace.Attr{Key: "linker", Value: "lexical"})
	s.Set("tables", []string{"customers", "orders"})
	s.Set("value", rows("customers.country = 'USA'"))
	for i, word := range []string{"USA", "never"} {
		_, probe := trace.FromContext(lctx).StartAt(lctx, i, "probe", trace.Attr{Key: "found", Value: i == 0})
		probe.Set("word", rows(word))
		c.at(time.Duration(45+7*i) * ms)
		probe.End()
	}
	s.Warn("schema-linked", "The schema is over the budget of 6,000 tokens: 2 of 11 tables were chosen by their names.")
	s.End()
}

func generate(ctx context.Context, c *clock) {
	gctx, stage := trace.Start(ctx, "generate", trace.Attr{Key: "waves", Value: 1})
	type sample struct {
		begin, model, end time.Duration
		sql               string
	}
	samples := []sample{
		{60 * ms, 1210 * ms, 1216 * ms, shopSQL},
		{61 * ms, 1740 * ms, 1747 * ms, shopSQL},
		{61 * ms, 980 * ms, 981 * ms, "DELETE FROM customers WHERE country = 'USA'"},
		{62 * ms, 1420 * ms, 2690 * ms, "SELECT nme FROM customers"},
		{62 * ms, 2700 * ms, 2710 * ms, ""},
	}
	// Started in the wrong order, as goroutines may be: the slots put it right.
	for i := len(samples) - 1; i >= 0; i-- {
		d := samples[i]
		c.at(d.begin)
		dctx, span := trace.FromContext(gctx).StartAt(gctx, i, "sample", trace.Attr{Key: "sample", Value: i},
			trace.Attr{Key: "form", Value: []string{"ddl", "m-schema", "code"}[i%3]})
		_, call := trace.Start(dctx, "llm", trace.Attr{Key: "purpose", Value: "generate"},
			trace.Attr{Key: "model", Value: "gpt-4.1-mini"})
		call.Set("prompt",
			prompt("You write SQLite.\n\nCREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, country TEXT);"))
		if i == 1 {
			c.at(400 * ms)
			call.Event("retry", trace.Attr{Key: "class", Value: "rate-limit"}, trace.Attr{Key: "after", Value: 250 * ms})
		}
		c.at(d.model)
		if d.sql == "" {
			call.AddUsage(trace.Usage{Calls: 1, PromptTokens: 1830, Partial: true})
			call.Fail(context.Canceled)
			call.End()
			span.Cancelled()
			c.at(d.end)
			span.End()
			continue
		}
		call.Set("reply", reply("```sql\n"+d.sql+"\n```"))
		call.AddUsage(trace.Usage{Calls: 1, PromptTokens: 1830, CompletionTokens: 61 + i, Money: 0.0008, Known: true})
		call.End()
		check(dctx, c, i, d.sql)
		c.at(d.end)
		span.End()
	}
	c.at(2711 * ms)
	stage.Set("finished", 4)
	stage.End()
}

func check(ctx context.Context, c *clock, sample int, sql string) {
	_, s := trace.Start(ctx, "check", trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(sql)})
	switch sample {
	case 2:
		s.Fail(errors.New("exec: checking statement: not read-only: first word DELETE"))
	case 3:
		s.Fail(errors.New("exec: preparing statement: no such column: nme"))
		s.End()
		rctx, repair := trace.Start(ctx, "repair", trace.Attr{Key: "round", Value: 1},
			trace.Attr{Key: "reason", Value: "could change the outcome"})
		_, call := trace.Start(rctx, "llm", trace.Attr{Key: "purpose", Value: "repair"},
			trace.Attr{Key: "model", Value: "gpt-4.1-mini"})
		call.AddUsage(trace.Usage{Calls: 1, PromptTokens: 1964, CompletionTokens: 63, Money: 0.0009, Known: true})
		c.at(2680 * ms)
		call.End()
		_, again := trace.Start(rctx, "check", trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(shopSQL)})
		c.add(4 * ms)
		again.Set("rows", 13)
		again.End()
		repair.End()
		return
	default:
		c.add(5 * ms)
		s.Set("plan", "SEARCH o USING INDEX orders_customer (customer_id=?)")
		s.Set("rows", 13)
	}
	s.End()
}

// shownPage is a page with its trace and what it shows of it.
type shownPage struct {
	tracepage.Page
	root *trace.Span
	show trace.Sensitivity
}

func shopPage(root *trace.Span) shownPage {
	return shownPage{root: root, Page: tracepage.Page{
		Question: "Which customers in the USA never ordered?",
		SQL:      shopSQL,
		Facts:    []tracepage.Fact{{Name: "Confidence", Value: "0.75", Share: 0.75}, {Name: "Rows", Value: "13"}},
		Sections: []tracepage.Section{
			{Title: "Ballot", Note: "4 samples, 3 of which voted; by result.", Bars: []tracepage.Fact{
				{Name: "Result A", Share: 0.75, Value: "3 of 4", Detail: shopSQL, Lead: true},
				{Name: "Not counted", Share: 0.25, Value: "1 of 4", Detail: "DELETE FROM customers WHERE country = 'USA'"},
			}},
			{Title: "Result", Note: "13 rows, of which 3 are shown.", Columns: []string{"name", "city", "orders"},
				Rows: [][]string{
					{"Ada Byron", "Portland", "0"}, {"Bo Li", "Austin", "0"}, {"Çelik & Sons", "", "1250.5"},
				}},
		},
	}}
}

// hostilePage is a page with everything that a model, a database or a person
// may send to break it.
func hostilePage() shownPage {
	const markup = `</style></title><script>alert(1)</script><img src=x onerror="alert(2)">`
	const bidi = "user \u202E\u2066'nimda' = elor\u2069 \u0000\u001b[31m \u200B"
	c := newClock()
	root := trace.Tracer{Now: c.read, Keep: trace.PrivateRows}.New("ask " + markup)
	root.Warn("name-left-out", "A column name holds control characters: "+bidi)
	root.Warn("markup", markup)
	ctx := trace.NewContext(context.Background(), root)
	for i := range 60 {
		sctx, s := trace.Start(ctx, fmt.Sprintf("stage %d %s", i, strings.Repeat("x", i)),
			trace.Attr{Key: "text", Value: markup}, trace.Attr{Key: "bidi", Value: bidi},
			trace.Attr{Key: "javascript:alert(3)", Value: "javascript:alert(4)"})
		s.Set("rows", rows(strings.Repeat("very long value without a break", 20)+"\n"+markup))
		s.Set("object", map[string]any{"b": []int{1, 2}, "a": markup})
		s.Set("wide", []string{strings.Repeat("w", 200), "\xff\xfe"})
		s.Event(markup, trace.Attr{Key: "took", Value: 1234567 * time.Microsecond})
		if i%7 == 0 {
			s.Fail(fmt.Errorf("%s: %s", strings.Repeat("no such column ", 12), markup))
		}
		deep := sctx
		for range i % 12 {
			var d *trace.Span
			deep, d = trace.Start(deep, "deep")
			c.add(ms)
			defer d.End()
		}
		c.add(time.Duration(i*i) * 100 * time.Microsecond)
		if i != 59 {
			s.End()
		}
	}
	var rows [][]string
	for i := range 4 {
		rows = append(rows, []string{strings.Repeat("long cell ", 40), markup, fmt.Sprint(i * 1000), bidi, "من هو العميل؟",
			"x"})
	}
	var columns []string
	for i := range 24 {
		columns = append(columns, fmt.Sprintf("column %d", i))
	}
	columns[1] = markup
	return shownPage{root: root, Page: tracepage.Page{
		Title:    markup,
		Question: "من هم العملاء في الولايات المتحدة؟ " + bidi + markup + strings.Repeat(" and who else", 30),
		SQL:      "SELECT " + strings.Repeat("a_very_long_name, ", 300) + bidi + markup + strings.Repeat("z", 500),
		Problem:  "No candidate: " + markup,
		Facts: []tracepage.Fact{{Name: markup, Value: bidi, Share: 7}, {Name: strings.Repeat("n", 100), Value: "0.5",
			Share: -1}},
		Sections: []tracepage.Section{
			{Title: markup, Note: bidi, Bars: []tracepage.Fact{
				{Name: strings.Repeat("label ", 30), Share: 2, Value: strings.Repeat("1 of 2 ", 6), Lead: true, Detail: markup},
				{Name: markup, Share: -1, Value: "none"},
			}},
			{Title: "Wide", Columns: columns, Rows: rows},
			{Title: "Nothing"},
		},
	}}
}
