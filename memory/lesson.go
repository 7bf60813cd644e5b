package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// The kinds of lessons; Lesson.Kind explains them.
const (
	tableLesson  = "table_mapping"
	columnLesson = "column_mapping"
	errorLesson  = "error_pattern"
	queryLesson  = "query_pattern"
	joinLesson   = "join_pattern"
	guideLesson  = "llm_guided"
	choiceLesson = "choice"
)

// The sources of a Lesson, the strongest one first.
const (
	sourceManual     = "manual"       // a person wrote it
	sourceCorrection = "correction"   // a correction that held
	sourceLearned    = "auto_learned" // an error that was recovered from
)

// The scopes of a guideLesson.
const (
	scopeAll    = "all"
	scopeTables = "table_identification"
	scopeSQL    = "sql_generation"
)

// Lesson is a fact that was learned from earlier questions, or that a person wrote. Names of tables and columns are
// unquoted, "table" or "schema.table" and "table.column", as schema.TableName and schema.ColumnName write them.
type Lesson struct {
	ID string `json:"id,omitempty"` // made from kind, database, owner, scope, subject and value; optional in a file
	// Kind determines the subject and the required fields:
	//   - "table_mapping": the table From has the name To. With Pattern instead of From it applies to every matching
	//     name.
	//   - "column_mapping": From means the column To ("table.column"). If Table is set, From is a column that Table
	//     does not have. Otherwise From is a user's word.
	//   - "error_pattern": if an error matches Pattern, Text is the advice.
	//   - "query_pattern": a statement like SQL answers the question in Text. Tables is required.
	//   - "join_pattern": the two Tables are joined by Text ("A.x = B.y").
	//   - "llm_guided": an instruction, Text, for the prompts of Scope.
	//   - "choice": Text is a user's choice among existing tables, columns or answers for the question From. SQL is
	//     the chosen answer, if an answer was chosen.
	Kind     string `json:"type"`
	Database string `json:"database,omitempty"` // the Lessons.Database that may use it; "": all
	Owner    string `json:"owner,omitempty"`    // the exec.Scope.Key of its question; "": no scope
	Table    string `json:"table,omitempty"`
	From     string `json:"from,omitempty"`
	// an RE2 expression; for a table it must match the whole name, ignoring case
	Pattern string   `json:"pattern,omitempty"`
	To      string   `json:"to,omitempty"`   // the table or column that is meant; with Pattern a template: "PROD_$0"
	Text    string   `json:"text,omitempty"` // shown as advice, in one line of at most 300 characters
	SQL     string   `json:"sql,omitempty"`  // {name} means a value; not used if it is over 300 bytes
	Tables  []string `json:"required_tables,omitempty"`
	// prompts that show a lesson "llm_guided": "all", "table_identification", "sql_generation"; "": all
	Scope    string `json:"scope,omitempty"`
	Priority int    `json:"priority,omitempty"` // for "llm_guided": the highest is shown first

	// 0..1; in a manual file 0 means the default of the kind, .85 to .95
	Confidence float64 `json:"confidence"`
	// "manual" (by a person), "correction" (by a user's correction) or "auto_learned" (from a repaired error)
	Source   string   `json:"source,omitempty"`
	Sessions []string `json:"learned_from_sessions,omitempty"` // the last 1,000
	// questions whose prompts showed it, or whose schema has its output
	Retrieved int `json:"times_retrieved,omitempty"`
	// questions with a statement that has its output, right or wrong
	Applied    int       `json:"times_applied,omitempty"`
	Successful int       `json:"times_successful,omitempty"` // questions whose answer reads its output
	Created    time.Time `json:"created_at,omitzero"`
	Used       time.Time `json:"last_used,omitzero"`
	Validated  time.Time `json:"last_validated,omitzero"` // the last success
}

// The bands.
const (
	bandAlways  = "always"  // over .90: applied
	bandMonitor = "monitor" // .70 to .90: applied, and to be looked at
	bandReview  = "review"  // below .70: not applied; see Lessons.Review
)

// Band returns what the lesson's confidence allows: "always" (over .90, applied), "monitor" (.70 to .90, applied, and
// to be looked at) or "review" (below .70, not applied; see Lessons.Review).
func (l Lesson) Band() string {
	switch {
	case l.Confidence > .9:
		return bandAlways
	case l.Confidence >= .7:
		return bandMonitor
	}
	return bandReview
}

// Promotable reports whether the lesson may go into a file of manual lessons. Its confidence must be over .90. It must
// have been applied more than 20 times, with success in more than 95 %.
func (l Lesson) Promotable() bool {
	return l.Source != sourceManual && l.Confidence > .9 && l.Applied > 20 &&
		float64(l.Successful) > .95*float64(l.Applied)
}

// How far one success and one failure move a confidence, and the confidences that lessons begin with.
const (
	success, failure = .02, .05

	fromError, fromPrefix, fromCorrection = .8, .7, .95
)

// move adds to the confidence, within 0..1 and without the noise of sums of floats.
func (l *Lesson) move(by float64) {
	l.Confidence = math.Round(min(max(l.Confidence+by, 0), 1)*1e6) / 1e6
}

// sides are what a lesson says something about, and what it says about it.
func (l *Lesson) sides() (left, right string) {
	switch l.Kind {
	case tableLesson, columnLesson:
		return words.Fold(l.From) + "\x00" + l.Pattern, schema.FoldCase(l.To)
	case choiceLesson:
		return words.Fold(l.From), l.Text + "\x00" + l.SQL
	}
	// Several of the others may hold for one thing: two ways to join, two hints about an error.
	return strings.Join([]string{l.Scope, l.Pattern, l.Text, l.SQL,
		schema.FoldCase(strings.Join(l.Tables, "\x00"))}, "\x00"), ""
}

// about is the same for lessons that contradict each other, unless their ids are the same too.
func (l *Lesson) about() string {
	left, _ := l.sides()
	return strings.Join([]string{l.Kind, l.Database, schema.FoldCase(l.Table), left}, "\x00\x00")
}

// seenBy reports whether questions of a scope may be shown a lesson. What a person wrote for no scope holds for all.
func (l *Lesson) seenBy(owner string) bool {
	return l.Owner == owner || l.Owner == "" && l.Source == sourceManual
}

// identify fills in the id.
func (l *Lesson) identify() {
	_, right := l.sides()
	about := l.about()
	if l.Owner != "" {
		about += "\x00\x00\x00" + l.Owner
	}
	sum := sha256.Sum256([]byte(about + "\x00\x00" + right))
	l.ID = hex.EncodeToString(sum[:8])
}

// valid reports what a lesson lacks.
func (l *Lesson) valid() error {
	lacks := func(missing bool, what string) error {
		if missing {
			return fmt.Errorf("a lesson of the type %s needs %s", l.Kind, what)
		}
		return nil
	}
	if !(l.Confidence >= 0 && l.Confidence <= 1) {
		return fmt.Errorf("the confidence is %v; want 0 to 1", l.Confidence)
	}
	switch l.Kind {
	case tableLesson:
		return lacks((l.From == "") == (l.Pattern == "") || l.To == "", `"to", and either "from" or "pattern"`)
	case columnLesson:
		return lacks(l.From == "" || !strings.Contains(l.To, "."), `"from", and "to" as "table.column"`)
	case errorLesson:
		return lacks(l.Pattern == "" || l.Text == "", `"pattern" and "text"`)
	case queryLesson:
		return lacks(l.SQL == "" || len(l.Tables) == 0, `"sql" and "required_tables"`)
	case joinLesson:
		return lacks(len(l.Tables) != 2 || l.Text == "", `two "required_tables" and "text"`)
	case choiceLesson:
		return lacks(l.From == "" || l.Text == "" && l.SQL == "", `"from", and "text" or "sql"`)
	case guideLesson:
		if l.Scope != "" && l.Scope != scopeAll && l.Scope != scopeTables && l.Scope != scopeSQL {
			return fmt.Errorf("the scope %q is not %s, %s or %s", l.Scope, scopeAll, scopeTables, scopeSQL)
		}
		return lacks(l.Text == "", `"text"`)
	}
	return fmt.Errorf("unknown type %q", l.Kind)
}

// manual makes a lesson one that a person wrote.
func (l *Lesson) manual() {
	l.Source = sourceManual
	if l.Confidence > 0 {
		return
	}
	switch l.Kind {
	case errorLesson, guideLesson:
		l.Confidence = .9
	case queryLesson:
		l.Confidence = .85
	default:
		l.Confidence = .95
	}
}

// better orders lessons: the higher confidence, then the stronger source, then the newer one, then the id.
func better(a, b Lesson) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(rank(b.Source), rank(a.Source)),
		b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID))
}

// rank is the place of a source among the sources; one that is not known comes last.
func rank(s string) int {
	return slices.Index([]string{sourceLearned, sourceCorrection, sourceManual}, s)
}
