package linker

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// PurposeJoin is the purpose of a request about how two tables are joined.
const PurposeJoin = "join"

// ErrNoJoin says that some tables cannot be joined: no key, no name and no model knows how. Test for it with errors.Is.
var ErrNoJoin = errors.New("linker: no way to join the tables")

// JoinAmbiguity says which candidates for the join of two tables are too close to choose from.
type JoinAmbiguity uint8

// The rules.
const (
	BelowConfidence JoinAmbiguity = iota // several, and the best below Joins.MinConfidence: the rule as documented
	CloseCandidates                      // several above 0.7, within 0.1 of the best: the rule of the published code
)

// The origins of a ScoredJoin.
const (
	JoinOfUser  = "user"     // a correction
	JoinOfKey   = "declared" // a foreign key
	JoinOfNames = "names"    // names and types of the columns
	JoinOfModel = "model"
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
// bridges are ours. Safe for concurrent use.
type Joins struct {
	Model         llm.Model     // asked where keys and names do not decide; nil: no model
	MinConfidence float64       // 0..1; 0 means 0.75
	Ambiguity     JoinAmbiguity // zero: BelowConfidence
	CallTokens    int           // most tokens of a prompt, as schema.EstimateTokens counts; 0 means 4000
	Seed          func(int) int // returns the seed of sample 0, which is sent; nil: none
}

// ScoredJoin is one way to join two tables.
type ScoredJoin struct {
	schema.Join
	Confidence   float64       `json:"confidence"`             // 0..1; 1 for those of the user and of keys that nothing competes with
	Origin       string        `json:"origin"`                 // JoinOfUser, JoinOfKey, JoinOfNames or JoinOfModel
	Reason       string        `json:"reason,omitempty"`       // of the model, in one line of at most 200 characters
	Alternatives []schema.Join `json:"alternatives,omitempty"` // other ways to join the same tables, best first
}

// JoinPlan is how tables are joined.
type JoinPlan struct {
	Joins   []ScoredJoin       `json:"joins"`             // in the order of their names; a key of several columns is several joins
	Bridges []schema.TableName `json:"bridges,omitempty"` // tables beside those asked for, in the order of the schema
}

// Validate reports a field that is out of range or no number.
func (j Joins) Validate() error { return nil }

// Connect joins the tables, which Input.Schema has. Fewer than two need no join.
//
// Where it cannot choose, the error is a *session.Question of kind join about one pair, and the plan beside it is the
// one that takes the best option of each such pair. A pair that the user decided (a correction with a Join) is never
// asked about. The error matches ErrNoJoin if some tables stay apart. A model that fails is a warning, and names alone
// decide; the error is that of ctx or of a spent budget otherwise.
func (j Joins) Connect(ctx context.Context, in Input, tables []schema.TableName) (JoinPlan, error) {
	return JoinPlan{}, errors.New("linker: Joins is not there yet")
}

// JoinCandidates returns the ways to join two tables that the names and types of their columns suggest, best first, ties
// by name: those that score above 0.5. Declared foreign keys are not looked at.
//
// A pair of columns of like types scores 0.40 × the likeness of their names + 0.25 × that of their titles + 0.20 if one
// is a primary key + 0.15 if the name of one says that it refers to the other table; divided by 0.75 if not both have
// titles. Likeness is that of Ratcliff and Obershelp.
func JoinCandidates(a, b *schema.Table) []ScoredJoin { return nil }
