package linker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// purposeJoin is the purpose of a request about how two tables are joined.
const purposeJoin = "join"

// ErrNoJoin says that some tables cannot be joined: no key, no name and no model knows how. Test for it with errors.Is.
var ErrNoJoin = errors.New("linker: no way to join the tables")

// The origins of a ScoredJoin.
const (
	joinOfUser  = "user"     // a correction
	joinOfKey   = "declared" // a foreign key
	joinOfNames = "names"    // names and types of the columns
	joinOfModel = "model"
)

// Joins finds out how tables are joined: by what the user said, by declared foreign keys, by names, and only then by a
// model.
//
// User joins count as they are. Foreign keys join the rest, over at most two further tables between two parts. Several
// keys between one pair (the colours of eyes, hair and skin) are alternatives: those named in the question are all
// taken; if none is, the model is asked. Parts that are still apart are joined by names (JoinCandidates); where the
// best name is below MinConfidence, or there is none, or the user said more than tables and joins, the model is asked,
// one pair of tables after the other, the likeliest first. The joins are a maximum spanning tree; ties go by name.
//
// The method is that of the three-phase agent (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md); keys first, the tree and the
// bridges are ours. The purpose of its requests is "join". Safe for concurrent use.
type Joins struct {
	Model         llm.Model // asked where keys and names do not decide; nil: no model
	MinConfidence float64   // 0..1; 0 means 0.75
	// Close asks the user where several candidates are above 0.7 and within 0.1 of the best: the rule of the published
	// code. false: where there are several, and the best is below MinConfidence: the rule as documented.
	Close      bool
	CallTokens int            // most tokens of a prompt, as schema.EstimateTokens counts; 0 means 4000
	Seed       func(int) *int // returns the seed of sample 0, which is sent; nil: none
}

// ScoredJoin is one way to join two tables.
type ScoredJoin struct {
	schema.Join
	Confidence   float64       `json:"confidence"`             // 0..1; 1 for those of the user and of keys that nothing competes with
	Origin       string        `json:"origin"`                 // "user", "declared", "names" or "model"
	Reason       string        `json:"reason,omitempty"`       // the model's reason, in one line of at most 200 characters
	Alternatives []schema.Join `json:"alternatives,omitempty"` // other ways to join the same tables, best first
}

// JoinPlan is how tables are joined.
type JoinPlan struct {
	Joins   []ScoredJoin       `json:"joins"`             // the joins in the order of their names; a key of several columns is several joins
	Bridges []schema.TableName `json:"bridges,omitempty"` // tables beside those asked for, in the order of the schema
}

// Validate reports a field that is out of range or no number.
func (j Joins) Validate() error {
	return errors.Join(fields.Check("linker: Joins.MinConfidence", j.MinConfidence, 1), fields.Check("linker: Joins.CallTokens", j.CallTokens, 0))
}

// Connect joins the tables, which Input.Schema has. Fewer than two need no join.
//
// Where it cannot choose, the error is a *session.QuestionError of kind join about one pair, and the plan beside it is the
// one that takes the best option of each such pair. A pair that the user decided (a correction with a Join) is never
// asked about. A single candidate below MinConfidence is taken, with the warning "join-guessed". The error matches
// ErrNoJoin if some tables stay apart. A model that fails is a warning, and names alone decide; the error is that of ctx or
// of a spent budget otherwise.
func (j Joins) Connect(ctx context.Context, in Input, tables []schema.TableName) (JoinPlan, error) {
	if err := cmp.Or(j.Validate(), in.needs("Joins"), ctx.Err()); err != nil {
		return JoinPlan{}, err
	}
	run := joinRun{Joins: j, ctx: ctx, in: in}
	run.schema, _ = in.Schema.Presentable()
	run.part = slices.Repeat([]int{-1}, len(run.schema.Tables))
	for _, name := range tables {
		if _, err := run.add(name); err != nil {
			return JoinPlan{}, err
		}
	}
	asked := slices.Clone(run.part)
	err := run.connect()
	plan := JoinPlan{Joins: run.joins}
	slices.SortFunc(plan.Joins, func(a, b ScoredJoin) int { return strings.Compare(a.String(), b.String()) })
	for i := range run.part {
		if run.part[i] >= 0 && asked[i] < 0 {
			plan.Bridges = append(plan.Bridges, run.schema.Tables[i].TableName())
		}
	}
	if err == nil && run.question != nil {
		err = run.question
	}
	return plan, err
}

// Extend returns links with the bridges of the plan and the columns that it compares, for schema.Schema.Restrict.
func (p JoinPlan) Extend(links schema.Links) schema.Links {
	var joined schema.Links
	for _, j := range p.Joins {
		for _, c := range []schema.ColumnName{j.Left, j.Right} {
			joined = merge(joined, schema.Links{Tables: []schema.TableLink{c.Table.Link(c.Column)}})
		}
	}
	return merge(links, joined)
}
