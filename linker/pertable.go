package linker

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// Purposes of the requests of PerTable.
const (
	PurposeTable     = "table"     // is one table relevant
	PurposeTables    = "tables"    // which of the relevant tables stay, seen together
	PurposeSynthesis = "synthesis" // what the question asks of the tables that stay
)

// ErrNoTables says that no table is relevant to a question. Test for it with errors.Is.
var ErrNoTables = errors.New("linker: no table is relevant to the question; name what it is about as the tables do")

// OnTableError says what becomes of a table that the model failed on.
type OnTableError uint8

// What PerTable does with such a table.
const (
	KeepByWords  OnTableError = iota // it stays if its words score 0.5 or more, marked Unverified; a warning either way
	FailQuestion                     // Study fails with its error
)

// PerTable asks a model about each table alone, then about the relevant ones together, then what the question asks of
// those that stay: for schemas too large for one prompt.
//
// Link costs T + 2 calls for T tables, one less if at most one is relevant, and r more for r replies that cannot be used.
// What the user said about tables is applied to the verdicts, so that no prompt about one table changes with it; the
// other two state it. Tables of a mandatory join or of a mapped column stay too, which changes no prompt. The other
// corrections stand in every prompt. No prompt shows stored values.
//
// The method is that of the three-phase agent (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md). Its calls are made in parallel,
// no table depends on the order, and one that the model failed on is judged by its words, by the rules of MapReduce.
// Safe for concurrent use.
type PerTable struct {
	Model        llm.Model     // the model asked; required
	Workers      int           // calls at once; 0 means 4
	Sequential   bool          // the tables one after the other, each request with those selected so far: the method as published
	TableTokens  int           // most tokens of a prompt about one table, as schema.EstimateTokens counts; 0 means 4000
	CallTokens   int           // the same of the other prompts; tables that do not fit together are judged in groups; 0 means 4000
	OnTableError OnTableError  // of a table that the model failed on; zero: KeepByWords
	Seed         func(int) int // returns the seed of sample 0, which is sent; nil: none
}

// Identification is what PerTable found out about a question.
type Identification struct {
	Verdicts     []TableVerdict      `json:"verdicts"`               // of the model, in the order of the schema, without tables that no prompt may show
	Candidates   []schema.TableName  `json:"candidates"`             // relevant tables, corrections applied, in the order of the schema
	Final        []schema.TableName  `json:"final"`                  // those that stay, in the order of the schema
	Columns      []schema.ColumnName `json:"columns,omitempty"`      // of Final, that the model says the question needs
	JoinsNeeded  bool                `json:"joins_needed"`           // the tables of Final are to be joined
	Combine      string              `json:"combine,omitempty"`      // how they are combined: "join", "union", "subquery" or "none"; "": the model did not say
	Filters      string              `json:"filters,omitempty"`      // conditions, as a line; "": none
	Aggregations string              `json:"aggregations,omitempty"` // the same of counts, sums and the like
	Ordering     string              `json:"ordering,omitempty"`     // the same of orders and limits
	Reasoning    string              `json:"reasoning,omitempty"`    // of all steps, a line each
	Links        schema.Links        `json:"links"`                  // Final, with the columns needed and all keys
}

// TableVerdict is what the model said about one table.
type TableVerdict struct {
	Table      schema.TableName `json:"table"`
	Relevant   bool             `json:"relevant"`
	Confidence float64          `json:"confidence"`           // 0..1
	Columns    []string         `json:"columns,omitempty"`    // that the question needs; only those that exist
	Reason     string           `json:"reason,omitempty"`     // in one line of at most 200 characters
	Omitted    int              `json:"omitted,omitempty"`    // columns that the prompt had no room for
	Unverified bool             `json:"unverified,omitempty"` // the model failed, and the words of the table decided
	Problem    string           `json:"problem,omitempty"`    // what it failed with
}

// Validate reports a field that is out of range.
func (p PerTable) Validate() error { return nil }

// Link is the Links of Study.
func (p PerTable) Link(ctx context.Context, in Input) (schema.Links, error) {
	study, err := p.Study(ctx, in)
	return study.Links, err
}

// Study judges the tables, and tells how. It fails with ErrNoTables if none is relevant, and if ctx has ended, a budget
// is spent, a field is out of range, or the model failed on more than half of the tables. A failure of a later step is a
// warning: the relevant tables stay, and several of them are to be joined. The same replies give the same
// Identification.
func (p PerTable) Study(ctx context.Context, in Input) (Identification, error) {
	return Identification{}, errors.New("linker: PerTable is not there yet")
}

// Ambiguity is the question to the user that an Identification raises: several tables stay though they are not to be
// joined or combined, and the user said nothing about tables yet. Its options are the tables, the most confident first,
// ties by name. Otherwise it is nil.
func (i Identification) Ambiguity(in Input) *session.Question { return nil }
