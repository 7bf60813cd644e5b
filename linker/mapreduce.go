package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// Purposes of the requests of MapReduce.
const (
	purposeDecompose = "decompose" // splits the question into components
	purposeScore     = "score"     // scores one table
)

// What MapReduce keeps if no table reaches the threshold: a schema of up to so many tables as a whole, or else the best.
const (
	maxWhole  = 20
	fewTables = 5
)

// MapReduce asks a model to split the question into components, then about each table whether the question needs it,
// and links the tables that score enough.
//
// The score of a table is the model's, in 0..1, or the one of its words if that is higher, at least 0.7, and made by a word
// or value that at most 3 tables have. Words score by the rules of Lexical: 1 for a word of the table's name, its beginning or its inflection, 0.7 for a stored value
// ([Values]), 0.6 for a column's name, 0.4 for a title or description, or for id, name, code, number or value alone. A
// table that the model failed on has the score of its words, with the warning "no-verdict". Linked columns are those that
// the model names, those that words or values hit, and all keys; all columns if it names none.
//
// Tables are asked about in waves (see Tables). If no table of the last wave scores enough, a schema of up to 20 tables is kept
// whole, and of a larger one the best 5.
//
// The method is the map-reduce schema agent of QA-SQL (Chansokheang/Map-Reduce-Schema-Agent-Text-to-SQL); the rules above
// are ours. Link costs 1 + T + r calls: T tables asked about, one of over 80 columns counted for each 80, and r replies that are no
// JSON. No prompt shows stored values. Safe for concurrent use.
type MapReduce struct {
	Model     llm.Model // the model asked; required unless LexicalOnly
	Threshold float64   // lowest score that links a table, 0..1; 0 means 0.5
	Workers   int       // calls at once; 0 means 4
	// Tables is how many tables are asked about at most, in all waves together; 0: all. A wave is the next 40 that the Index puts
	// first, and is asked about where no table of the waves before scores enough, until a budget ends. Of a family of tables alike
	// those count that the question means. The warning "tables-not-asked" says how many were not asked about.
	Tables int
	Seed   func(int) *int // returns the seed of sample 0, which is sent; nil: none

	SkipLLMAt   float64 // a table whose words score as much is not asked about, they decide, 0..1; 0: each table is asked about
	LexicalOnly bool    // words and values alone, no call
}

// MapReduceResult is what a MapReduce found out about a question. Its links are best first, then by name.
type MapReduceResult struct {
	Components []Component `json:"components,omitempty"` // the parts of the question; none with LexicalOnly
	Verdicts
}

// Component is a part of a question, as a model cut it.
type Component struct {
	Text string `json:"text"` // one line of at most 200 characters
	Type string `json:"type"` // "entity", "filter", "aggregation" or "projection"
}

// Validate reports a field that is out of range or no number.
func (m MapReduce) Validate() error {
	return errors.Join(
		fields.Check("linker: MapReduce.Threshold", m.Threshold, 1), fields.Check("linker: MapReduce.SkipLLMAt", m.SkipLLMAt, 1),
		fields.Check("linker: MapReduce.Workers", m.Workers, 0), fields.Check("linker: MapReduce.Tables", m.Tables, 0),
	)
}

// Link is the Links of Run.
func (m MapReduce) Link(ctx context.Context, in Input) (schema.Links, error) {
	reduced, err := m.Run(ctx, in)
	return reduced.Links, err
}

// Run scores and links, and tells how. It fails if ctx has ended, a budget is spent, a field is out of range, or the
// model failed on more than half of the tables of a wave. The same replies give the same MapReduceResult.
func (m MapReduce) Run(ctx context.Context, in Input) (MapReduceResult, error) {
	if err := cmp.Or(m.Validate(), in.needs("MapReduce"), ctx.Err()); err != nil {
		return MapReduceResult{}, err
	}
	if m.Model == nil && !m.LexicalOnly {
		return MapReduceResult{}, errors.New("linker: MapReduce needs Model or LexicalOnly")
	}
	reduced := MapReduceResult{Verdicts: Verdicts{Tables: []TableVerdict{}}}
	if all, _ := in.Schema.Presentable(); len(all.Tables) == 0 {
		reduced.Links.Whole = true
		return reduced, nil
	}
	j := judge[scoreReply]{Input: in, model: m.Model, workers: cmp.Or(m.Workers, 4), most: m.Tables, overruled: true, texts: in.inParts}
	if !m.LexicalOnly {
		components, err := m.decompose(ctx, in)
		if cerr := ctx.Err(); cerr != nil || errors.Is(err, llm.ErrBudget) {
			return MapReduceResult{}, cmp.Or(cerr, err)
		}
		if reduced.Components = components; err != nil {
			j.Links.Notes = append(j.Links.Notes, "the question could not be decomposed, it is one component: "+llm.Scrub(err.Error()))
		}
	}
	head := in.section(allCorrections...) + "Components:\n"
	for _, c := range reduced.Components {
		head += "- " + c.Type + ": " + c.Text + "\n"
		j.components += c.Text + "\n"
	}
	j.request = func(table string) llm.Request { return greedy(m.Seed, purposeScore, scoreRules, head+"\n"+table) }
	j.skips = func(t *judged) bool { return m.LexicalOnly || m.SkipLLMAt > 0 && t.Lexical >= m.SkipLLMAt }
	if _, err := j.run(ctx, func() bool { return slices.ContainsFunc(j.tables, m.isEnough) }); err != nil {
		return MapReduceResult{}, err
	}
	m.reduce(&j)
	reduced.Verdicts = j.Verdicts
	return reduced, nil
}

func (m MapReduce) isEnough(t judged) bool { return t.isAsked && t.Score >= cmp.Or(m.Threshold, 0.5) }

// reduce chooses the tables, best first.
func (m MapReduce) reduce(j *judge[scoreReply]) {
	var order []*judged
	for i := range j.tables {
		if j.tables[i].isAsked {
			order = append(order, &j.tables[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *judged) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Table.Name, b.Table.Name), cmp.Compare(a.Table.Schema, b.Table.Schema))
	})
	links := &j.Links
	switch kept := slices.IndexFunc(order, func(t *judged) bool { return !m.isEnough(*t) }); {
	case kept > 0:
		order = order[:kept]
	case kept == 0 && len(j.tables) <= maxWhole:
		links.Whole = true
		links.Notes = append(links.Notes, "no table scores enough: the whole schema is kept")
	case kept == 0:
		order = order[:min(len(order), fewTables)]
		links.Notes = append(links.Notes, fmt.Sprintf("no table scores enough: the best %d are kept", fewTables))
	}
	for _, t := range order {
		t.stays = true
		if !links.Whole || t.Score > 0 {
			links.Tables = append(links.Tables, t.link(t.Columns))
		}
	}
	for _, t := range j.tables {
		if t.Relevant = t.stays; t.isAsked {
			j.Verdicts.Tables = append(j.Verdicts.Tables, t.TableVerdict)
		}
	}
}
