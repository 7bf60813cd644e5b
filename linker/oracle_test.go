package linker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// oracle answers PerTable as the gold of a question would: what it reads is relevant. With noise it errs: it flips each
// verdict and breaks each reply by that chance, and names tables that do not exist. The same request gets the same
// reply, whatever the order.
type oracle struct {
	tables, columns []string // that the gold reads: table, table.column
	noise           float64  // 0..1
	seed            string
	say             func(req llm.Request) (reply string, err error) // in place of the oracle where it says something; may be nil
	mu              sync.Mutex
	requests        []llm.Request
	relevant        []string // verdicts of phase 1, right or not
}

var shownTables = regexp.MustCompile(`(?m)^CREATE (?:VIRTUAL TABLE|TABLE|VIEW) (.*) \($`)

// shown are the tables that a request shows, unquoted.
func shown(req llm.Request) (names []string) {
	for _, found := range shownTables.FindAllStringSubmatch(req.Messages[1].Text, -1) {
		names = append(names, strings.Trim(found[1], `"`))
	}
	return names
}

func (o *oracle) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	hash := fnv.New64a()
	fmt.Fprint(hash, o.seed, req.Purpose, req.Messages)
	rng := rand.New(rand.NewPCG(hash.Sum64(), 7))
	errs := func() bool { return rng.Float64() < o.noise }
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, req)
	if o.say != nil {
		if text, err := o.say(req); text != "" || err != nil {
			return llm.Response{Text: text}, err
		}
	}
	if errs() {
		return llm.Response{Text: `{"is_relevant": tru`}, ctx.Err()
	}
	reply := map[string]any{"reasoning": "as the gold"}
	switch tables := shown(req); req.Purpose {
	case "table":
		yes := slices.Contains(o.tables, tables[0]) != errs()
		if yes {
			o.relevant = append(o.relevant, tables[0])
		}
		var columns []string
		for _, c := range o.columns {
			if of, name, _ := strings.Cut(c, "."); of == tables[0] {
				columns = append(columns, name)
			}
		}
		reply["is_relevant"], reply["confidence"], reply["relevant_columns"] = yes, 0.9, columns
	case "tables":
		kept := []string{}
		for _, name := range tables {
			if slices.Contains(o.tables, name) != errs() {
				kept = append(kept, name)
			}
		}
		if o.noise > 0 {
			kept = append(kept, "no_such_table")
		}
		reply["final_tables"] = kept
	case "synthesis":
		reply["columns"], reply["joins_needed"] = o.columns, len(tables) > 1
	}
	text, err := json.Marshal(reply)
	return llm.Response{Text: string(text)}, cmp.Or(ctx.Err(), err)
}

// of are the requests of a purpose.
func (o *oracle) of(purpose string) (requests []llm.Request) {
	for _, r := range o.requests {
		if r.Purpose == purpose {
			requests = append(requests, r)
		}
	}
	return requests
}

// precision counts tables: those of the gold, those kept, and those of the gold kept.
type precision struct{ gold, kept, both int }

func (p *precision) add(gold, kept []string) {
	p.gold, p.kept = p.gold+len(gold), p.kept+len(kept)
	for _, name := range kept {
		if slices.Contains(gold, name) {
			p.both++
		}
	}
}

func (p precision) recall() float64  { return share(p.both, p.gold) }
func (p precision) precise() float64 { return share(p.both, p.kept) }
func (p precision) String() string {
	return fmt.Sprintf("recall %.3f precision %.3f", p.recall(), p.precise())
}
