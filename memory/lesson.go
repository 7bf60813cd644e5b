package memory

import "time"

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

// Source says where a Lesson comes from.
type Source string

// The sources, the strongest one first.
const (
	SourceManual     Source = "manual"       // a person wrote it
	SourceCorrection Source = "correction"   // a correction that held
	SourceLearned    Source = "auto_learned" // an error that was recovered from
)

// Scope says which prompts show a GuideLesson.
type Scope string

// The scopes.
const (
	ScopeAll    Scope = "all"
	ScopeTables Scope = "table_identification"
	ScopeSQL    Scope = "sql_generation"
)

// Lesson is what was learned from earlier questions, or what a person wrote down. Names of tables and columns are
// unquoted, "table" or "schema.table" and "table.column", as schema.TableName and schema.ColumnName write them.
type Lesson struct {
	ID       string     `json:"id,omitempty"` // made of kind, database, scope, left side and right side; a file need not give it
	Kind     LessonKind `json:"type"`
	Database string     `json:"database,omitempty"` // Lessons.Database of those that may see it; "": all
	Table    string     `json:"table,omitempty"`
	From     string     `json:"from,omitempty"`
	Pattern  string     `json:"pattern,omitempty"` // an RE2 expression; of a table it must match the whole name, without case
	To       string     `json:"to,omitempty"`      // with Pattern a template: "PROD_$0"
	Text     string     `json:"text,omitempty"`    // shown as advice, in one line of at most 300 characters
	SQL      string     `json:"sql,omitempty"`     // {name} stands for a value; at most 300 characters are shown
	Tables   []string   `json:"required_tables,omitempty"`
	Scope    Scope      `json:"scope,omitempty"`    // "": all
	Priority int        `json:"priority,omitempty"` // of a GuideLesson: the higher one is shown first

	Confidence float64   `json:"confidence"` // 0..1; in a file of a person 0 means the default of its kind, .85 to .95
	Source     Source    `json:"source,omitempty"`
	Sessions   []string  `json:"learned_from_sessions,omitempty"` // the last 1000
	Retrieved  int       `json:"times_retrieved,omitempty"`       // questions whose prompts showed it, or whose schema it changed
	Applied    int       `json:"times_applied,omitempty"`         // those with a statement that has its output, right or wrong
	Successful int       `json:"times_successful,omitempty"`      // those whose answer reads its output
	Created    time.Time `json:"created_at,omitzero"`
	Used       time.Time `json:"last_used,omitzero"`
	Validated  time.Time `json:"last_validated,omitzero"` // the last success
}

// Band says what a confidence allows.
type Band string

// The bands.
const (
	BandAlways  Band = "always"  // over .90: applied
	BandMonitor Band = "monitor" // .70 to .90: applied, and to be looked at
	BandReview  Band = "review"  // below .70: not applied; see Lessons.Review
)

// Band returns the band of the lesson's confidence.
func (l Lesson) Band() Band {
	switch {
	case l.Confidence > .9:
		return BandAlways
	case l.Confidence >= .7:
		return BandMonitor
	}
	return BandReview
}

// Promotable reports whether the lesson may go into a file of manual lessons: its confidence is over .90, it was applied
// more than 20 times, and more than 95 % of these were successes.
func (l Lesson) Promotable() bool {
	return l.Source != SourceManual && l.Confidence > .9 && l.Applied > 20 && float64(l.Successful) > .95*float64(l.Applied)
}
