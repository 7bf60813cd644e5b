package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// LessonKind says what a Lesson is about. The comment of each kind names the fields of Lesson that it needs.
type LessonKind string

// The kinds of lessons.
const (
	// TableLesson: the table From is called To. With Pattern in place of From it holds for every name that matches.
	TableLesson LessonKind = "table_mapping"
	// ColumnLesson: From is the column To ("table.column"). With Table, From is a column that Table does not have;
	// without, a word of users.
	ColumnLesson LessonKind = "column_mapping"
	// ErrorLesson: where an error matches Pattern, do what Text says.
	ErrorLesson LessonKind = "error_pattern"
	// QueryLesson: a statement like SQL answers what Text says. Needs Tables.
	QueryLesson LessonKind = "query_pattern"
	// JoinLesson: the two Tables are joined by Text ("A.x = B.y").
	JoinLesson LessonKind = "join_pattern"
	// GuideLesson: an instruction, Text, for the prompts of Scope.
	GuideLesson LessonKind = "llm_guided"
	// ChoiceLesson: Text is what a user decided about the question From, between things that all exist. SQL is the
	// answer that the user chose, where it was one.
	ChoiceLesson LessonKind = "choice"
)

// The sources of a Lesson, the strongest one first.
const (
	sourceManual     = "manual"       // a person wrote it
	sourceCorrection = "correction"   // a correction that held
	sourceLearned    = "auto_learned" // an error that was recovered from
)

// The scopes of a GuideLesson.
const (
	scopeAll    = "all"
	scopeTables = "table_identification"
	scopeSQL    = "sql_generation"
)

// Lesson is what was learned from earlier questions, or what a person wrote down. Names of tables and columns are
// unquoted, "table" or "schema.table" and "table.column", as schema.TableName and schema.ColumnName write them.
type Lesson struct {
	ID       string     `json:"id,omitempty"` // made of kind, database, owner, scope, left side and right side; a file need not give it
	Kind     LessonKind `json:"type"`
	Database string     `json:"database,omitempty"` // Lessons.Database of those that may see it; "": all
	Owner    string     `json:"owner,omitempty"`    // exec.Scope.Key of the question that taught it; "": it belongs to no scope
	Table    string     `json:"table,omitempty"`
	From     string     `json:"from,omitempty"`
	Pattern  string     `json:"pattern,omitempty"` // an RE2 expression; of a table it must match the whole name, without case
	To       string     `json:"to,omitempty"`      // the table or column that is meant; with Pattern a template: "PROD_$0"
	Text     string     `json:"text,omitempty"`    // shown as advice, in one line of at most 300 characters
	SQL      string     `json:"sql,omitempty"`     // {name} stands for a value; not used if it is over 300 bytes
	Tables   []string   `json:"required_tables,omitempty"`
	Scope    string     `json:"scope,omitempty"`    // prompts that show a GuideLesson: "all", "table_identification", "sql_generation"; "": all
	Priority int        `json:"priority,omitempty"` // the priority of a GuideLesson: the higher one is shown first

	Confidence float64   `json:"confidence"`                      // 0..1; in a file of a person 0 means the default of its kind, .85 to .95
	Source     string    `json:"source,omitempty"`                // "manual" (a person wrote it), "correction" (one that held) or "auto_learned" (an error that was recovered from)
	Sessions   []string  `json:"learned_from_sessions,omitempty"` // the last 1000
	Retrieved  int       `json:"times_retrieved,omitempty"`       // questions whose prompts showed it, or whose schema has its output
	Applied    int       `json:"times_applied,omitempty"`         // those with a statement that has its output, right or wrong
	Successful int       `json:"times_successful,omitempty"`      // those whose answer reads its output
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

// Promotable reports whether the lesson may go into a file of manual lessons: its confidence is over .90, it was applied
// more than 20 times, and more than 95 % of these were successes.
func (l Lesson) Promotable() bool {
	return l.Source != sourceManual && l.Confidence > .9 && l.Applied > 20 && float64(l.Successful) > .95*float64(l.Applied)
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
	case TableLesson, ColumnLesson:
		return words.Fold(l.From) + "\x00" + l.Pattern, schema.Fold(l.To)
	case ChoiceLesson:
		return words.Fold(l.From), l.Text + "\x00" + l.SQL
	}
	// Several of the others may hold for one thing: two ways to join, two hints about an error.
	return strings.Join([]string{string(l.Scope), l.Pattern, l.Text, l.SQL, schema.Fold(strings.Join(l.Tables, "\x00"))}, "\x00"), ""
}

// about is the same for lessons that contradict each other, unless their ids are the same too.
func (l *Lesson) about() string {
	left, _ := l.sides()
	return strings.Join([]string{string(l.Kind), l.Database, schema.Fold(l.Table), left}, "\x00\x00")
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
	case TableLesson:
		return lacks((l.From == "") == (l.Pattern == "") || l.To == "", `"to", and either "from" or "pattern"`)
	case ColumnLesson:
		return lacks(l.From == "" || !strings.Contains(l.To, "."), `"from", and "to" as "table.column"`)
	case ErrorLesson:
		return lacks(l.Pattern == "" || l.Text == "", `"pattern" and "text"`)
	case QueryLesson:
		return lacks(l.SQL == "" || len(l.Tables) == 0, `"sql" and "required_tables"`)
	case JoinLesson:
		return lacks(len(l.Tables) != 2 || l.Text == "", `two "required_tables" and "text"`)
	case ChoiceLesson:
		return lacks(l.From == "" || l.Text == "" && l.SQL == "", `"from", and "text" or "sql"`)
	case GuideLesson:
		if l.Scope != "" && l.Scope != scopeAll && l.Scope != scopeTables && l.Scope != scopeSQL {
			return fmt.Errorf("the scope %q is none of %s, %s and %s", l.Scope, scopeAll, scopeTables, scopeSQL)
		}
		return lacks(l.Text == "", `"text"`)
	}
	return errors.New("unknown type " + fmt.Sprintf("%q", l.Kind))
}

// manual makes a lesson one that a person wrote.
func (l *Lesson) manual() {
	l.Source = sourceManual
	if l.Confidence > 0 {
		return
	}
	switch l.Kind {
	case ErrorLesson, GuideLesson:
		l.Confidence = .9
	case QueryLesson:
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
