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

// ErrNoJoin reports that some tables cannot be joined: no key, name or model reply joins them. Test
// for it with errors.Is.
var ErrNoJoin = errors.New("linker: no way to join the tables")

// The origins of a ScoredJoin.
const (
	joinOfUser  = "user"     // a correction
	joinOfKey   = "declared" // a foreign key
	joinOfNames = "names"    // names and types of the columns
	joinOfModel = "model"
)

// Joins chooses how tables are joined. It uses the user's corrections first, then declared foreign keys, then
// names, and last a model.
//
// Joins from the user are final. Foreign keys join the remaining tables, with at most two further tables between two
// parts. Several keys between one pair (the colours of eyes, hair and skin) are alternatives. All keys that the
// question names are used; otherwise the model chooses. Parts that are still separate are joined by names
// (Candidates). The model is called for one pair of tables after the other, the likeliest first. It is called in
// three cases: the best name scores below MinConfidence, no name matches, or the user's correction has more than
// tables and joins. The joins are a maximum spanning tree; ties go by name.
//
// The method is the three-phase agent's (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md). Keys first, the tree and the
// bridges are our additions. The purpose of its requests is "join". Safe for concurrent use.
type Joins struct {
	Model         llm.Model // called if keys and names do not decide; nil: no model
	MinConfidence float64   // 0..1; 0 means 0.75
	// Close true uses the rule of the published code: ask the user if several candidates score above 0.7 and
	// within 0.1 of the best. False uses the documented rule: ask if there are several candidates and the best
	// scores below MinConfidence.
	Close      bool
	CallTokens int            // maximum tokens of a prompt, estimated; 0 means 4000
	Seed       func(int) *int // returns the seed of sample 0 for the requests; nil: no seed
}

// ScoredJoin is one way to join two tables.
type ScoredJoin struct {
	schema.Join
	Confidence   float64       `json:"confidence"`             // 0..1; 1 for user joins and for keys without a rival
	Origin       string        `json:"origin"`                 // "user", "declared", "names" or "model"
	Reason       string        `json:"reason,omitempty"`       // the model's reason, in one line of at most 200 characters
	Alternatives []schema.Join `json:"alternatives,omitempty"` // other ways to join the same tables, best first
}

// JoinPlan has the joins between tables.
type JoinPlan struct {
	Joins   []ScoredJoin       `json:"joins"`             // ordered by name; a key of several columns is several joins
	Bridges []schema.TableName `json:"bridges,omitempty"` // tables that Connect added, in schema order
}

// Validate reports a field that is out of range or NaN.
func (j Joins) Validate() error {
	return errors.Join(fields.Check("linker: Joins.MinConfidence", j.MinConfidence, 1),
		fields.Check("linker: Joins.CallTokens", j.CallTokens, 0))
}

// Connect joins the tables, which must be in Input.Schema. Fewer than two tables need no join.
//
// If it cannot choose, the error is a *session.QuestionError of kind join about one pair. The returned plan then has
// the best option of each undecided pair. It never asks about a pair that the user decided (a correction with a
// Join). A single candidate below MinConfidence is used, with the warning "join-guessed". The error matches ErrNoJoin
// if some tables cannot be joined. If the model fails, Connect adds a warning and uses names only. Otherwise the
// error comes from ctx or a spent budget.
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

// Extend returns links with the bridges of the plan and the columns of its joins, for schema.Schema.Restrict.
func (p JoinPlan) Extend(links schema.Links) schema.Links {
	var joined schema.Links
	for _, j := range p.Joins {
		for _, c := range []schema.ColumnName{j.Left, j.Right} {
			joined = merge(joined, schema.Links{Tables: []schema.TableLink{c.Table.Link(c.Column)}})
		}
	}
	return merge(links, joined)
}
