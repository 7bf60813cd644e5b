package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// Purposes of the requests of MapReduce.
const (
	purposeDecompose = "decompose" // splits the question into components
	purposeScore     = "score"     // scores one table
)

// Tables that MapReduce keeps if none reaches the threshold: all of a schema with at most maxWhole tables, otherwise
// the fewTables best.
const (
	maxWhole  = 20
	fewTables = 5
)

// MapReduce asks a model to split the question into components. Then it asks about each table whether the question
// needs it, and links the tables that score enough. Tables are judged in waves (see Tables). If no table of the last
// wave scores enough, MapReduce keeps a schema of up to 20 tables whole, and the best 5 of a larger one.
//
// The score of a table comes from the model, in 0..1. Its word score is used instead if it is higher, at least 0.7,
// and due to a word or value that at most 3 tables have. Words score by the rules of Lexical. A word of the table's
// name, its beginning or its inflection scores 1, a stored value ([Values]) 0.7, and a column's name 0.6. A title or
// description scores 0.4, and so does id, name, code, number or value alone. If the model failed on a table, its word
// score counts, with the warning "no-verdict". The linked columns are those that the model names, those that words or
// values match, and all keys; all columns if the model names none.
//
// The method is QA-SQL's map-reduce agent (Chansokheang/Map-Reduce-Schema-Agent-Text-to-SQL); the rules above are
// ours. Link costs 1 + T + r calls. T is the number of judged tables, where a table of over 80 columns counts once for
// each 80. r is the number of replies that are not JSON. With over 40 tables each call is about several tables
// (PerCall), which share 4000 tokens. No prompt shows stored values. Safe for concurrent use.
type MapReduce struct {
	Model     llm.Model // the model to call; required unless LexicalOnly
	Threshold float64   // lowest score that links a table, 0..1; 0 means 0.5
	Workers   int       // calls at once; 0 means 4
	// Tables limits the judged tables, in all waves together; 0: no limit. A wave has the tables of 40 calls, those
	// that the Index ranks first. The next wave starts if no table so far scores enough and no budget is spent. Of a
	// family of similar tables only the tables that the question means are judged. The warning "tables-not-asked" has
	// the number of tables that were not judged.
	Tables  int
	PerCall int            // tables per call; 0: see PerTable; 1: one table per call, and all tables in one wave
	Seed    func(int) *int // returns the seed of sample 0 for the requests; nil: no seed

	SkipLLMAt   float64 // 0..1; at this word score or more the words decide, without a call; 0: never
	LexicalOnly bool    // use only words and values, without a call
}

// MapReduceResult is the result of MapReduce for a question. Its links are best first, then by name.
type MapReduceResult struct {
	// Components are the parts of the question, each a Text with its Type: "entity", "filter", "aggregation" or
	// "projection". With LexicalOnly the list is empty.
	Components []component `json:"components,omitempty"`
	verdicts
}

// component is a part of a question, as a model cut it.
type component struct {
	Text string `json:"text"` // one line of at most 200 characters
	Type string `json:"type"` // "entity", "filter", "aggregation" or "projection"
}

// Validate reports a field that is out of range or NaN, and a missing Model.
func (m MapReduce) Validate() error {
	var err error
	if m.Model == nil && !m.LexicalOnly {
		err = errors.New("linker: MapReduce needs Model or LexicalOnly")
	}
	return errors.Join(err,
		fields.Check("linker: MapReduce.Threshold", m.Threshold, 1), fields.Check("linker: MapReduce.SkipLLMAt",
			m.SkipLLMAt, 1),
		fields.Check("linker: MapReduce.Workers", m.Workers, 0), fields.Check("linker: MapReduce.Tables", m.Tables, 0),
		fields.Check("linker: MapReduce.PerCall", m.PerCall, 0),
	)
}

// Link is the Links of Run.
func (m MapReduce) Link(ctx context.Context, in Input) (schema.Links, error) {
	reduced, err := m.Run(ctx, in)
	return reduced.Links, err
}

// Run scores the tables and links them, and returns both. It fails if ctx has ended, a budget is spent, a
// field is out of range, or the model failed on more than half of the tables of a wave. The same replies give
// the same MapReduceResult.
func (m MapReduce) Run(ctx context.Context, in Input) (MapReduceResult, error) {
	if err := cmp.Or(m.Validate(), in.needs("MapReduce"), ctx.Err()); err != nil {
		return MapReduceResult{}, err
	}
	reduced := MapReduceResult{verdicts: verdicts{Tables: []tableVerdict{}}}
	if all, _ := in.Schema.Presentable(); len(all.Tables) == 0 {
		reduced.Links.Whole = true
		return reduced, nil
	}
	j := judge[scoreReply]{
		Input: in, model: m.Model, workers: cmp.Or(m.Workers, 4), most: m.Tables, perCall: m.PerCall,
		limit: defaultCallTokens, overruled: true, texts: in.inParts,
	}
	j.part = func(ctx context.Context, t *judged, beside int) (string, error) {
		return in.fit(ctx, t, j.limit, beside)
	}
	if !m.LexicalOnly {
		components, err := m.decompose(ctx, in)
		if cerr := ctx.Err(); cerr != nil || errors.Is(err, llm.ErrBudget) {
			return MapReduceResult{}, cmp.Or(cerr, err)
		}
		if reduced.Components = components; err != nil {
			j.Links.Notes = append(j.Links.Notes, "the question could not be decomposed, it is one component: "+
				redact.Line(err.Error()))
		}
	}
	head := in.section(allCorrections...) + "Components:\n"
	for _, c := range reduced.Components {
		head += "- " + c.Type + ": " + c.Text + "\n"
		j.components += c.Text + "\n"
	}
	j.request = func(about callRules, text string) llm.Request {
		rules := scoreRules
		if about == aboutMany {
			rules = scoresRules
		}
		return greedy(m.Seed, purposeScore, rules, head+"\n"+text)
	}
	j.skips = func(t *judged) bool { return m.LexicalOnly || m.SkipLLMAt > 0 && t.Lexical >= m.SkipLLMAt }
	_, err := j.run(ctx, func() bool { return slices.ContainsFunc(j.tables, m.isEnough) })
	if j.tell(ctx); err != nil {
		return MapReduceResult{}, err
	}
	m.reduce(&j)
	reduced.verdicts = j.verdicts
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
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Table.Name, b.Table.Name),
			cmp.Compare(a.Table.Schema, b.Table.Schema))
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
			j.verdicts.Tables = append(j.verdicts.Tables, t.tableVerdict)
		}
	}
}
