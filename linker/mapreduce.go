package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Purposes of the requests of MapReduce.
const (
	purposeDecompose = "decompose" // splits the question into components
	purposeScore     = "score"     // scores one table
)

// noVerdict is the code of the warning that a model could not say whether a question needs a table.
const noVerdict = "no-verdict"

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

// MapReduceResult is what a MapReduce found out about a question.
type MapReduceResult struct {
	Components []Component  `json:"components,omitempty"` // the parts of the question; none with LexicalOnly
	Tables     []TableScore `json:"tables"`               // the scores in the schema's order, without the tables that no prompt may show or that were not asked about
	NotAsked   int          `json:"not_asked,omitempty"`  // tables that the model was not asked about
	Links      schema.Links `json:"links"`                // the linked tables, best first, then by name
}

// Component is a part of a question, as a model cut it.
type Component struct {
	Text string `json:"text"` // one line of at most 200 characters
	Type string `json:"type"` // "entity", "filter", "aggregation" or "projection"
}

// TableScore is what MapReduce found out about one table.
type TableScore struct {
	Table   schema.TableName `json:"table"`
	Score   float64          `json:"score"`             // what decides, 0..1
	Lexical float64          `json:"lexical"`           // the score of the words and values alone, 0..1
	Model   *float64         `json:"model,omitempty"`   // the model's, 0..1; nil: not asked, or it failed
	Reason  string           `json:"reason,omitempty"`  // the model's, in one line of at most 200 characters
	Matched []string         `json:"matched,omitempty"` // components that the model says the table is for
	Columns []string         `json:"columns,omitempty"` // columns that the model says the question needs
	Problem string           `json:"problem,omitempty"` // why the model's score is missing, though it was asked
	Kept    bool             `json:"kept"`              // the table is linked
}

// Validate reports a field that is out of range or no number.
func (m MapReduce) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value float64
	}{{"Threshold", m.Threshold}, {"SkipLLMAt", m.SkipLLMAt}} {
		if !(f.value >= 0 && f.value <= 1) { // NaN too
			errs = append(errs, fmt.Errorf("linker: MapReduce.%s is %v; want 0 (the default) to 1", f.name, f.value))
		}
	}
	if m.Workers < 0 {
		errs = append(errs, fmt.Errorf("linker: MapReduce.Workers is %d; want 0 (the default) or more", m.Workers))
	}
	if m.Tables < 0 {
		errs = append(errs, fmt.Errorf("linker: MapReduce.Tables is %d; want 0 (the default) or more", m.Tables))
	}
	return errors.Join(errs...)
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
	reduced := MapReduceResult{Tables: []TableScore{}}
	if all, _ := in.Schema.Presentable(); len(all.Tables) == 0 {
		reduced.Links.Whole = true
		return reduced, nil
	}
	if !m.LexicalOnly {
		components, err := m.decompose(ctx, in)
		if cerr := ctx.Err(); cerr != nil || errors.Is(err, llm.ErrBudget) {
			return MapReduceResult{}, cmp.Or(cerr, err)
		}
		if reduced.Components = components; err != nil {
			reduced.Links.Notes = append(reduced.Links.Notes, "the question could not be decomposed, it is one component: "+llm.Scrub(err.Error()))
		}
	}
	found, err := storedValues(ctx, in)
	if err != nil {
		return MapReduceResult{}, err
	}
	reduced.Links.Notes = append(reduced.Links.Notes, found.Notes...)
	waves := in.wavesOf(m.Tables)
	var all []scored
	_, _, err = waves.judge(func(part *schema.Schema) (bool, error) {
		wave, err := m.score(ctx, in, part, &reduced, len(all), found)
		all = append(all, wave...)
		return slices.ContainsFunc(wave, func(s scored) bool { return s.Score >= m.threshold() }), err
	})
	if err != nil {
		return MapReduceResult{}, err
	}
	reduced.NotAsked = waves.end(ctx, &reduced.Links)
	m.reduce(in.Schema, all, &reduced)
	return reduced, nil
}

func (m MapReduce) threshold() float64 { return cmp.Or(m.Threshold, 0.5) }

// scored is a table with what words and the model say of it.
type scored struct {
	TableScore
	hit   lexicalHit
	table *schema.Table
}

// score scores the tables of a wave, behind so many others.
func (m MapReduce) score(
	ctx context.Context, in Input, wave *schema.Schema, reduced *MapReduceResult, behind int, found schema.Links,
) ([]scored, error) {
	list := make([]scored, len(wave.Tables))
	for i, hit := range lexicalHits(in, wave, reduced.Components, found) {
		list[i] = scored{TableScore{Table: wave.Tables[i].TableName(), Lexical: hit.score}, hit, &wave.Tables[i]}
	}
	if err := m.scoreTables(ctx, in, list, reduced, behind); err != nil {
		return nil, err
	}
	for i := range list {
		s := &list[i]
		if s.Score = s.Lexical; s.Model != nil {
			s.Score = max(*s.Model, s.hit.rare)
		}
	}
	return list, nil
}

// reduce chooses the tables, best first.
func (m MapReduce) reduce(s *schema.Schema, list []scored, reduced *MapReduceResult) {
	place := map[schema.TableName]int{}
	for i := range s.Tables {
		place[s.Tables[i].TableName()] = i
	}
	slices.SortStableFunc(list, func(a, b scored) int { return place[a.Table] - place[b.Table] })
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
		reduced.Tables = append(reduced.Tables, list[i].TableScore)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &reduced.Tables[i], &reduced.Tables[j]
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Table.Name, b.Table.Name), cmp.Compare(a.Table.Schema, b.Table.Schema))
	})
	links := &reduced.Links
	below := func(i int) bool { return reduced.Tables[i].Score < m.threshold() }
	switch kept := slices.IndexFunc(order, below); {
	case kept > 0:
		order = order[:kept]
	case kept == 0 && len(s.Tables) <= maxWhole:
		links.Whole = true
		links.Notes = append(links.Notes, "no table scores enough: the whole schema is kept")
	case kept == 0:
		order = order[:min(len(order), fewTables)]
		links.Notes = append(links.Notes, fmt.Sprintf("no table scores enough: the best %d are kept", fewTables))
	}
	for _, i := range order {
		t := &reduced.Tables[i]
		if t.Kept = true; !links.Whole || t.Score > 0 {
			links.Tables = append(links.Tables, schema.TableLink{
				Schema: t.Table.Schema, Table: t.Table.Name, Score: t.Score, Values: list[i].hit.values,
				Columns: linkedColumns(list[i].table, t.Columns, list[i].hit.columns),
			})
		}
	}
}

// linkedColumns returns the relevant columns, the hits and the keys in the order of the table, or nil for all columns if
// no column is relevant.
func linkedColumns(t *schema.Table, relevant, hits []string) (linked []string) {
	if len(relevant) == 0 {
		return nil
	}
	wanted := slices.Concat(relevant, hits, t.PrimaryKey)
	for _, k := range t.ForeignKeys {
		wanted = append(wanted, k.Columns...)
	}
	for _, name := range wanted {
		if c, ok := t.Column(name); ok {
			linked = append(linked, c.Name)
		}
	}
	return inOrder(t, linked)
}

// inOrder returns those columns of t that names has, as t writes them.
func inOrder(t *schema.Table, names []string) (ordered []string) {
	for _, c := range t.Columns {
		if slices.Contains(names, c.Name) {
			ordered = append(ordered, c.Name)
		}
	}
	return ordered
}

// warn tells that the model's verdict on a table is missing.
func (t *TableScore) warn(ctx context.Context, err error) (note string) {
	t.Problem = llm.Scrub(err.Error())
	note = fmt.Sprintf("the model did not score the table %s, its words do: %s", t.Table, t.Problem)
	trace.From(ctx).Warn(noVerdict, note)
	return note
}
