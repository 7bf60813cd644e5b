package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/dialogue"
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

// PerTable serves schemas that are too large for one prompt. It asks a model about each table alone, then about the
// relevant tables together, and then about the use of the remaining tables in the answer.
//
// Tables are judged in waves (see Tables), several by one call if there are many (see PerCall). Link costs C + 2
// calls for C calls about tables, less one if at most one table is relevant. Each further group of relevant tables
// and each unusable reply costs one more. An unusable reply about several tables costs one more for each of these.
//
// The user's corrections about tables change the verdicts, not the prompts about one table. Tables of a mandatory
// join or of a mapped column stay too. Every prompt has the other corrections; prompts about one table have the
// lessons. No prompt shows stored values; the links have those that the question names ([Values]).
//
// The method is the three-phase agent's (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md). Its calls run in parallel, and
// their order does not matter. If the model failed on a table, its words decide as in MapReduce, with a warning: it
// needs a score of at least 0.5. Purposes: "table", "tables", "synthesis". Safe for concurrent use.
type PerTable struct {
	Model   llm.Model // the model asked; required
	Workers int       // calls at once; 0 means 4
	// Tables limits the judged tables, in all waves together; 0: no limit. A wave has the tables of 40 calls, those
	// that the Index ranks first. The next wave starts if no table so far is relevant, or if the synthesis reports a
	// missing table, and no budget is spent. Of a family of similar tables only the tables that the question means
	// are judged. The warning "tables-not-asked" has the number of tables that were not judged.
	Tables int
	// PerCall is the number of tables per call. 0 means one; with more than 40 tables it means as many, up to 8, as
	// 40 calls need to cover all of them. The tables of a call share TableTokens. 1 is the loop as published:
	// one table per call, and all tables in one wave.
	PerCall     int
	Sequential  bool           // one table after the other, each request with the tables selected so far; PerCall is 1
	TableTokens int            // maximum tokens of a prompt about one table, estimated; 0 means 4000
	CallTokens  int            // the same for the other prompts; more tables are judged in groups; 0 means 4000
	Seed        func(int) *int // returns the seed of sample 0 for the requests; nil: no seed
}

// PerTableResult is the result of PerTable for a question.
type PerTableResult struct {
	verdicts // Links has the needed columns and all keys of Final
	// relevant tables, corrections applied, in the order of the schema
	Candidates  []schema.TableName  `json:"candidates"`
	Final       []schema.TableName  `json:"final"`             // the tables that are needed, in schema order
	Columns     []schema.ColumnName `json:"columns,omitempty"` // the columns of Final that the model names
	JoinsNeeded bool                `json:"joins_needed"`      // the tables of Final must be joined
	// how they are combined: "join", "union", "subquery" or "none"; "": the model did not say
	Combine      string `json:"combine,omitempty"`
	Filters      string `json:"filters,omitempty"`      // conditions, in one line; "": none
	Aggregations string `json:"aggregations,omitempty"` // counts, sums and the like, in one line
	Ordering     string `json:"ordering,omitempty"`     // orders and limits, in one line
	Reasoning    string `json:"reasoning,omitempty"`    // the reasoning of all steps, a line each
}

// Validate reports a field that is out of range, and a missing Model.
func (p PerTable) Validate() error {
	var err error
	if p.Model == nil {
		err = errors.New("linker: PerTable needs Model")
	}
	return errors.Join(err,
		fields.Check("linker: PerTable.Workers", p.Workers, 0), fields.Check("linker: PerTable.Tables", p.Tables, 0),
		fields.Check("linker: PerTable.PerCall", p.PerCall, 0),
		fields.Check("linker: PerTable.TableTokens", p.TableTokens, 0), fields.Check("linker: PerTable.CallTokens",
			p.CallTokens, 0),
	)
}

// perCall is PerCall as it is meant.
func (p PerTable) perCall() int {
	if p.Sequential {
		return 1
	}
	return p.PerCall
}

// Link is the Links of Run.
func (p PerTable) Link(ctx context.Context, in Input) (schema.Links, error) {
	reduced, err := p.Run(ctx, in)
	return reduced.Links, err
}

// Run judges the tables and returns the verdicts. It fails if no table is relevant, if ctx has ended, a budget is
// spent, or a field is out of range. It fails if the model failed on more than half of the tables of a wave. Results
// known by then are returned with the error.
//
// A failure of a later step is a warning: the relevant tables stay, and several of them are to be joined. A
// failure in the waves after the synthesis is also a warning, and the earlier results stay. The same replies give
// the same PerTableResult.
func (p PerTable) Run(ctx context.Context, in Input) (id PerTableResult, err error) {
	if err := cmp.Or(p.Validate(), in.needs("PerTable"), ctx.Err()); err != nil {
		return id, err
	}
	run := perTableRun{PerTable: p, ctx: ctx, in: in, id: &id}
	err = run.steps()
	run.judge.tell(ctx)
	id.verdicts = run.judge.verdicts
	for _, t := range run.judge.tables {
		if t.isAsked || slices.Contains(id.Final, t.Table) {
			id.verdicts.Tables = append(id.verdicts.Tables, t.tableVerdict)
		}
	}
	return id, err
}

// Ambiguity returns the question to the user if several tables stay that are not to be joined or combined, and
// no correction names one of them. Its options are the tables, the most confident first, ties by name.
// Otherwise it returns nil.
func (i PerTableResult) Ambiguity(in Input) *session.QuestionError {
	if len(i.Final) < 2 || i.JoinsNeeded || i.Combine == "union" || i.Combine == "subquery" {
		return nil
	}
	for _, c := range in.Corrections {
		if c.Kind == dialogue.CorrectTable || slices.ContainsFunc(namedBy(c), func(n schema.ColumnName) bool {
			return slices.Contains(i.Final, n.Table)
		}) {
			return nil
		}
	}
	q := &session.QuestionError{Kind: dialogue.KindTable, Message: "Which table is meant?"}
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

// namedBy returns the columns that a correction is about.
func namedBy(c session.Correction) (columns []schema.ColumnName) {
	if c.Kind == dialogue.CorrectJoin && c.Join != nil {
		columns = append(columns, c.Join.Left, c.Join.Right)
	}
	if c.Kind == dialogue.CorrectColumn && c.Column != nil {
		columns = append(columns, *c.Column)
	}
	return columns
}
