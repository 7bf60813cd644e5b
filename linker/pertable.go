package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// Purposes of the requests of PerTable.
const (
	purposeTable     = "table"     // is one table relevant
	purposeTables    = "tables"    // which of the relevant tables stay, seen together
	purposeSynthesis = "synthesis" // what the question asks of the tables that stay
)

// PerTable asks a model about each table alone, then about the relevant ones together, then what the question asks of
// those that stay: for schemas too large for one prompt.
//
// Tables are asked about in waves (see Tables).
// Link costs T + 2 calls for T tables asked about, one less if at most one is relevant, one more for each further group of relevant
// tables, and r more for r replies that cannot be used. What the user said about tables is applied to the verdicts, so
// that no prompt about one table changes with it; the others state it. Tables of a mandatory join or of a mapped column
// stay too, which changes no prompt. The other corrections stand in every prompt, lessons in those about one table. No
// prompt shows stored values; those that the question names ([Values]) are in the links.
//
// The method is that of the three-phase agent (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md). Its calls are made in parallel,
// no table depends on the order, and one that the model failed on is judged by its words, by the rules of MapReduce: it stays at a
// score of 0.5 or more. A warning tells it.
// Purposes: "table", "tables", "synthesis". Safe for concurrent use.
type PerTable struct {
	Model   llm.Model // the model asked; required
	Workers int       // calls at once; 0 means 4
	// Tables is how many tables are asked about at most, in all waves together; 0: all. A wave is the next 40 that the Index puts
	// first, and is asked about where no table of the waves before is relevant, until a budget ends. Of a family of tables alike
	// those count that the question means. The warning "tables-not-asked" says how many were not asked about.
	Tables      int
	Sequential  bool           // the tables one after the other, each request with those selected so far: the method as published
	TableTokens int            // most tokens of a prompt about one table, as schema.EstimateTokens counts; 0 means 4000
	CallTokens  int            // the same of the other prompts; tables that do not fit together are judged in groups; 0 means 4000
	Seed        func(int) *int // returns the seed of sample 0, which is sent; nil: none
}

// PerTableResult is what PerTable found out about a question.
type PerTableResult struct {
	Verdicts                         // with the columns needed and all keys of Final in Links
	Candidates   []schema.TableName  `json:"candidates"`             // relevant tables, corrections applied, in the order of the schema
	Final        []schema.TableName  `json:"final"`                  // those that stay, in the order of the schema
	Columns      []schema.ColumnName `json:"columns,omitempty"`      // the columns of Final that the model says the question needs
	JoinsNeeded  bool                `json:"joins_needed"`           // the tables of Final are to be joined
	Combine      string              `json:"combine,omitempty"`      // how they are combined: "join", "union", "subquery" or "none"; "": the model did not say
	Filters      string              `json:"filters,omitempty"`      // conditions, as a line; "": none
	Aggregations string              `json:"aggregations,omitempty"` // the same of counts, sums and the like
	Ordering     string              `json:"ordering,omitempty"`     // the same of orders and limits
	Reasoning    string              `json:"reasoning,omitempty"`    // the reasoning of all steps, a line each
}

// Validate reports a field that is out of range.
func (p PerTable) Validate() error {
	return errors.Join(
		fields.Check("linker: PerTable.Workers", p.Workers, 0), fields.Check("linker: PerTable.Tables", p.Tables, 0),
		fields.Check("linker: PerTable.TableTokens", p.TableTokens, 0), fields.Check("linker: PerTable.CallTokens", p.CallTokens, 0),
	)
}

// Link is the Links of Run.
func (p PerTable) Link(ctx context.Context, in Input) (schema.Links, error) {
	reduced, err := p.Run(ctx, in)
	return reduced.Links, err
}

// Run judges the tables, and tells how. It fails with a *NoTablesError if none is relevant, and if ctx has ended, a budget
// is spent, a field is out of range, or the model failed on more than half of the tables of a wave; what is known by then
// stands beside the error. A failure of a later step is a warning: the relevant tables stay, and several of them are to be
// joined. The same replies give the same PerTableResult.
func (p PerTable) Run(ctx context.Context, in Input) (id PerTableResult, err error) {
	if err := cmp.Or(p.Validate(), in.needs("PerTable"), ctx.Err()); err != nil {
		return id, err
	}
	if p.Model == nil {
		return id, errors.New("linker: PerTable needs Model")
	}
	run := perTableRun{PerTable: p, ctx: ctx, in: in, id: &id}
	err = run.steps()
	id.Verdicts = run.judge.Verdicts
	for _, t := range run.judge.tables {
		if t.isAsked || slices.Contains(id.Final, t.Table) {
			id.Verdicts.Tables = append(id.Verdicts.Tables, t.TableVerdict)
		}
	}
	return id, err
}

// Ambiguity is the question to the user that an PerTableResult raises: several tables stay though they are not to be
// joined or combined, and the user named none of them in a correction. Its options are the tables, the most confident
// first, ties by name. Otherwise it is nil.
func (i PerTableResult) Ambiguity(in Input) *session.QuestionError {
	if len(i.Final) < 2 || i.JoinsNeeded || i.Combine == "union" || i.Combine == "subquery" {
		return nil
	}
	for _, c := range in.Corrections {
		if c.Kind == session.CorrectTable || slices.ContainsFunc(namedBy(c), func(t schema.TableName) bool { return slices.Contains(i.Final, t) }) {
			return nil
		}
	}
	q := &session.QuestionError{Kind: session.KindTable, Message: "Which table is meant?"}
	for _, v := range i.Tables {
		if slices.Contains(i.Final, v.Table) {
			label := v.Table.String()
			if v.Reason != "" {
				label += ": " + v.Reason
			}
			q.Options = append(q.Options, session.Option{Label: label, Table: &v.Table, Confidence: v.Score})
		}
	}
	slices.SortStableFunc(q.Options, func(a, b session.Option) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Table.String(), b.Table.String()))
	})
	var similar []string
	for k := range q.Options {
		q.Options[k].ID = fmt.Sprintf("t%d", k+1)
		if k > 0 {
			similar = append(similar, q.Options[k].Table.String())
		}
	}
	q.Context = map[string]string{
		"type": "table_selection", "user_query": in.Question,
		"selected_table": q.Options[0].Table.String(), "similar_tables": strings.Join(similar, ", "),
	}
	return q
}

// namedBy returns the tables of the columns that a correction is about.
func namedBy(c session.Correction) (tables []schema.TableName) {
	if c.Kind == session.CorrectJoin && c.Join != nil {
		tables = append(tables, c.Join.Left.Table, c.Join.Right.Table)
	}
	if c.Kind == session.CorrectColumn && c.Column != nil {
		tables = append(tables, c.Column.Table)
	}
	return tables
}
