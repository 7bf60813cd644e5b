package memory

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// FinishedQuestion is one question of a session that came to its end, answered or not.
type FinishedQuestion struct {
	Session   string          // id of the session
	Owner     string          // exec.Scope.Key of the question: what is learned belongs to it
	Question  string          // the question as it was asked
	FollowUp  bool            // it does not stand alone: no choice is kept with it
	Live      *schema.Schema  // the schema as the database has it
	Declared  *schema.Schema  // the schema as it was given to the engine, before Recall.Map; nil: Live
	Dialect   sqltext.Dialect // reads the statements
	Recall    *Recall         // what the question was shown; nil: nothing
	Attempts  []Attempt       // statements that the engine rejected, in order
	Completed bool            // there is an answer
	SQL       string          // the statement of the answer
	// Tables and Columns are what the answer reads, as the engine tells it.
	Tables  []schema.TableName
	Columns []schema.ColumnName
	// Corrections held for the answer. Choosing a table or a join is one.
	Corrections []session.Correction
	Chosen      *session.Option // the answer that the user chose among several; nil: none
	Before      LearnResult     // what Learn returned at an earlier end of the question; zero: this is the first
	At          time.Time       // when it ended; zero: now
}

// Attempt is a statement that the engine rejected.
type Attempt struct {
	SQL     string
	Missing string // the table or column that does not exist, as the engine names it; "": something else was wrong
}

// LearnResult is what the end of a question changed. A session keeps it beside its Recall, so that nothing is counted twice
// where a correction goes on with a question that had its end. All fields are ids of lessons, sorted.
type LearnResult struct {
	New       []string `json:"new,omitempty"` // learned, or learned again
	Retrieved []string `json:"retrieved,omitempty"`
	Applied   []string `json:"applied,omitempty"`
	Succeeded []string `json:"succeeded,omitempty"`
	Failed    []string `json:"failed,omitempty"`
}

// Learn counts what the lessons of a question did, and learns from the errors that it recovered from and from the
// corrections that held. From a question without an answer it learns nothing, and counts all the same. It returns
// FinishedQuestion.Before with what it changed. A nil Lessons learns nothing.
//
//   - An error teaches (.80) if the database lacks a table or column of a rejected statement, and the answer reads
//     exactly one that the statement does not name and whose name has the missing one in it, or is like it by .8.
//   - A correction teaches (.95) if the answer reads what it names: what a word of the user means, and what a table is
//     called that the database does not have. Where all that it names exists, it is a choice, kept with its question.
//   - "Use the PROD_ prefix" teaches (.70) the names of all tables that it makes resolvable, if the answer reads one.
//
// A lesson that is learned again has one success more. A lesson that says something else of the same name has one
// failure more.
func (l *Lessons) Learn(e FinishedQuestion) (LearnResult, error) {
	r := e.Before
	if l == nil || e.Live == nil {
		return r, nil
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.At = e.At.UTC().Truncate(time.Second)
	s := student{FinishedQuestion: e, live: namesOf(e.Live), reads: map[string]bool{}}
	if e.Completed {
		s.teach()
	}
	err := l.update(func(b *ledger) bool {
		b.outcome, b.at = e.Before, e.At
		s.count(b)
		for _, k := range s.lessons {
			k.Database, k.Owner, k.Created, k.Validated = b.database, e.Owner, e.At, e.At
			k.identify()
			if k.valid() == nil {
				b.keep(k, e.Session)
			}
		}
		r = b.outcome
		return b.changed
	})
	if err != nil {
		return e.Before, err
	}
	return r, nil
}

// Undo takes the successes of r back, because the user corrects an answer, and counts a failure for each lesson of
// r that c contradicts. It returns r without these successes, for FinishedQuestion.Before.
func (l *Lessons) Undo(r LearnResult, c session.Correction) (LearnResult, error) {
	if l == nil {
		return r, nil
	}
	after := r
	err := l.update(func(b *ledger) bool {
		b.outcome = r
		for _, id := range r.Succeeded {
			if k := b.find(id); k != nil {
				k.Successful = max(k.Successful-1, 0)
				k.move(-success)
				b.changed = true
			}
		}
		b.outcome.Succeeded = nil
		for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Retrieved, r.Applied, r.New)))) {
			if k := b.find(id); k != nil && k.contradicts(c) {
				b.fail(k)
			}
		}
		after = b.outcome
		return b.changed
	})
	if err != nil {
		return r, err
	}
	return after, nil
}

// contradicts reports whether a correction says something else than the lesson does.
func (l *Lesson) contradicts(c session.Correction) bool {
	table := l.To
	switch {
	case l.Kind == ColumnLesson && c.Kind == session.CorrectColumn && c.Column != nil:
		return words.Fold(l.From) == words.Fold(c.Term) && !schema.EqualFold(l.To, c.Column.String())
	case c.Kind == session.CorrectJoin && c.Join != nil:
		a, b := c.Join.Left.Table.String(), c.Join.Right.Table.String()
		same := len(l.Tables) == 2 && (schema.EqualFold(l.Tables[0], a) && schema.EqualFold(l.Tables[1], b) ||
			schema.EqualFold(l.Tables[0], b) && schema.EqualFold(l.Tables[1], a))
		return (l.Kind == JoinLesson || l.Kind == ChoiceLesson) && same && !schema.EqualFold(l.Text, c.Join.Ordered().String())
	case l.Kind == ColumnLesson:
		table = tableOf(l.To)
	}
	return slices.ContainsFunc(c.Rejected, func(t schema.TableName) bool {
		return table != "" && schema.EqualFold(t.String(), table) || slices.ContainsFunc(l.Tables, func(name string) bool { return schema.EqualFold(t.String(), name) })
	})
}

// inserted is ids, which are sorted, with id among them, and whether it is new there. It leaves ids as they are.
func inserted(ids []string, id string) (all []string, isNew bool) {
	at, found := slices.BinarySearch(ids, id)
	if found {
		return ids, false
	}
	return slices.Insert(slices.Clip(ids), at, id), true
}

// once reports whether id is new to a list of the outcome, and adds it.
func (b *ledger) once(ids *[]string, id string) (isNew bool) {
	*ids, isNew = inserted(*ids, id)
	b.changed = b.changed || isNew
	return isNew
}

func (b *ledger) succeed(k *Lesson) {
	if b.once(&b.outcome.Applied, k.ID) {
		k.Applied++
	}
	if b.once(&b.outcome.Succeeded, k.ID) {
		k.Successful++
		k.Validated = b.at
		k.move(success)
	}
}

func (b *ledger) fail(k *Lesson) {
	if b.once(&b.outcome.Applied, k.ID) {
		k.Applied++
	}
	if b.once(&b.outcome.Failed, k.ID) {
		k.move(-failure)
	}
}

// keep adds a lesson that was learned, or merges it with the one that is there, and weakens those that it contradicts.
func (b *ledger) keep(k Lesson, session string) {
	about := k.about()
	var others []string
	for _, list := range [][]Lesson{b.list, slices.SortedFunc(maps.Values(b.manual), better)} {
		for _, o := range list {
			if o.ID != k.ID && o.Owner == k.Owner && o.about() == about && !slices.Contains(others, o.ID) {
				others = append(others, o.ID)
			}
		}
	}
	old := b.find(k.ID)
	b.once(&b.outcome.New, k.ID)
	b.changed = true
	if old == nil {
		k.Sessions = slices.DeleteFunc([]string{session}, func(id string) bool { return id == "" })
		b.list = append(b.list, k)
	} else {
		if !slices.Contains(old.Sessions, session) {
			const most = 1000
			old.Sessions = slices.Concat(old.Sessions[max(len(old.Sessions)+1-most, 0):], []string{session})
			b.succeed(old)
		}
		if old.Source != sourceManual && k.Confidence > old.Confidence {
			old.Confidence = k.Confidence
		}
		if old.Source == sourceLearned {
			old.Source = k.Source
		}
	}
	for _, id := range others {
		b.fail(b.find(id))
	}
}

// student looks at an episode.
type student struct {
	FinishedQuestion
	live    names
	reads   map[string]bool // tables and columns that the answer reads, full names, folded
	lessons []Lesson        // what is to be learned
}

// count counts what the lessons of the episode did.
func (s *student) count(b *ledger) {
	if s.Recall == nil {
		return
	}
	for _, id := range s.Recall.Shown {
		k := b.find(id)
		if k == nil {
			continue
		}
		if b.once(&b.outcome.Retrieved, id) {
			k.Retrieved++
			k.Used = b.at
		}
		var outputs []string
		switch {
		case k.Kind == TableLesson && k.Pattern == "", k.Kind == ColumnLesson:
			outputs = []string{k.To}
		case k.Kind == JoinLesson:
			outputs = k.Tables
		}
		if len(outputs) == 0 {
			continue
		}
		read := !slices.ContainsFunc(outputs, func(name string) bool { return !s.reads[schema.Fold(name)] })
		failed, tried := false, false
		for _, a := range s.Attempts {
			last := outputs[0][max(strings.LastIndexByte(outputs[0], '.')+1, 0):]
			failed = failed || a.Missing != "" && k.Kind != JoinLesson && schema.EqualFold(bare(a.Missing), last)
			tried = tried || slices.ContainsFunc(s.statement(a.SQL).names, func(name string) bool { return schema.EqualFold(name, last) })
		}
		switch {
		case failed:
			b.fail(k)
		case read:
			b.succeed(k)
		case tried && b.once(&b.outcome.Applied, id):
			k.Applied++
		}
	}
}

// teach finds what an episode with an answer teaches.
func (s *student) teach() {
	for _, t := range s.Tables {
		s.reads[schema.Fold(t.String())] = true
	}
	for _, c := range s.Columns {
		s.reads[schema.Fold(c.String())] = true
	}
	for _, a := range s.Attempts {
		s.recovered(a)
	}
	for _, c := range s.Corrections {
		s.corrected(c)
	}
	if s.Chosen != nil && s.SQL != "" {
		s.choice(Lesson{SQL: s.SQL}, s.Tables)
	}
}

// mentioned is what the text of a statement names.
type mentioned struct {
	tables  []sqltext.TableRef
	columns []sqltext.ColumnRef
	names   []string // of both
}

func (s *student) statement(sql string) mentioned {
	st := s.Dialect.Parse(sql)
	m := mentioned{tables: slices.DeleteFunc(slices.Clone(st.Tables()), func(t sqltext.TableRef) bool { return !t.Base() }), columns: st.Columns()}
	for _, t := range m.tables {
		m.names = append(m.names, t.Name)
	}
	for _, c := range m.columns {
		m.names = append(m.names, c.Column)
	}
	return m
}

func (m mentioned) table(name string) bool {
	return slices.ContainsFunc(m.tables, func(t sqltext.TableRef) bool { return schema.EqualFold(t.Name, name) })
}

func (m mentioned) column(name string) bool {
	return slices.ContainsFunc(m.columns, func(c sqltext.ColumnRef) bool { return schema.EqualFold(c.Column, name) })
}

// bare is the last part of a name that an engine gave.
func bare(name string) string {
	return strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[]'")
}

// like reports whether a name may be what another one is called now.
func like(missing, name string) bool {
	const shortest, longest = 3, 128 // characters
	if n := utf8.RuneCountInString(missing); n < shortest || n > longest || utf8.RuneCountInString(name) > longest {
		return false
	}
	return strings.Contains(words.Squeeze(name), words.Squeeze(missing)) && words.Squeeze(missing) != "" || words.Similarity(missing, name) >= .8
}

// recovered learns from a statement that names what does not exist.
func (s *student) recovered(a Attempt) {
	missing := bare(a.Missing)
	if missing == "" {
		return
	}
	failed := s.statement(a.SQL)
	if _, ok := s.Live.Lookup("", missing); !ok && failed.table(missing) {
		if to, ok := s.renamed(missing, failed); ok {
			s.lessons = append(s.lessons, Lesson{Kind: TableLesson, From: missing, To: to.String(), Confidence: fromError, Source: sourceLearned})
		}
		return
	}
	var found []schema.ColumnName
	for _, c := range s.Columns {
		t, ok := s.live.table(c.Table.String())
		if !ok || !failed.table(c.Table.Name) || failed.column(c.Column) || !like(missing, c.Column) {
			continue
		}
		if _, exists := t.Column(missing); !exists && !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	if len(found) == 1 && failed.column(missing) {
		s.lessons = append(s.lessons, Lesson{Kind: ColumnLesson, Table: found[0].Table.String(), From: missing, To: found[0].String(),
			Confidence: fromError, Source: sourceLearned})
	}
}

// renamed finds the only table that the answer reads, that a failed statement does not name, and that may be what a
// missing one is called.
func (s *student) renamed(missing string, failed mentioned) (to schema.TableName, ok bool) {
	answer := s.statement(s.SQL)
	n := 0
	for _, t := range s.Tables {
		if answer.table(t.Name) && !failed.table(t.Name) && like(missing, t.Name) {
			to, n = t, n+1
		}
	}
	return to, n == 1
}

// corrected learns from a correction that held.
func (s *student) corrected(c session.Correction) {
	has := func(name string) bool { return s.reads[schema.Fold(name)] }
	switch {
	case c.Kind == session.CorrectColumn && c.Column != nil && has(c.Column.String()):
		s.lessons = append(s.lessons, Lesson{Kind: ColumnLesson, From: c.Term, To: c.Column.String(), Confidence: fromCorrection, Source: sourceCorrection})
	case c.Kind == session.CorrectJoin && c.Join != nil && has(c.Join.Left.Table.String()) && has(c.Join.Right.Table.String()):
		s.choice(Lesson{Text: c.Join.Ordered().String()}, []schema.TableName{c.Join.Left.Table, c.Join.Right.Table})
	case c.Kind == session.CorrectTable && !slices.ContainsFunc(c.Tables, func(t schema.TableName) bool { return !has(t.String()) }):
		s.chosenTable(c)
	case c.Kind == session.CorrectText || c.Kind == session.CorrectLogic:
		s.prefixed(c.Text)
	}
}

// chosenTable learns from a correction of tables: what a name is called that the database does not have, or else a
// choice.
func (s *student) chosenTable(c session.Correction) {
	var old []string // names that the database does not have
	exists := true   // all that it rejects
	for _, t := range c.Rejected {
		if _, ok := s.Live.Lookup(t.Schema, t.Name); !ok {
			old, exists = append(old, t.String()), false
		}
	}
	if len(c.Tables) == 1 {
		to := c.Tables[0]
		for _, a := range s.Attempts {
			missing := bare(a.Missing)
			if _, ok := s.Live.Lookup("", missing); !ok && s.statement(a.SQL).table(missing) && like(missing, to.Name) {
				old = append(old, missing)
			}
		}
		for _, from := range old {
			s.lessons = append(s.lessons, Lesson{Kind: TableLesson, From: from, To: to.String(), Confidence: fromCorrection, Source: sourceCorrection})
		}
	}
	if exists && len(old) == 0 {
		_, text, _ := strings.Cut(c.Constraint(), ": ")
		s.choice(Lesson{Text: text}, c.Tables)
	}
}

// choice keeps what the user chose with the question.
func (s *student) choice(k Lesson, tables []schema.TableName) {
	if s.FollowUp {
		return
	}
	for _, t := range tables {
		k.Tables = append(k.Tables, t.String())
	}
	k.Kind, k.From, k.Confidence, k.Source = ChoiceLesson, s.Question, fromCorrection, sourceCorrection
	s.lessons = append(s.lessons, k)
}

var (
	aPrefix  = regexp.MustCompile(`[\p{L}\p{N}_]+_`)
	isPrefix = regexp.MustCompile(`(?i)\bprefix`)
	negated  = regexp.MustCompile(`(?i)\b(?:not?|never|without|don't|don’t|remove|drop|wrong)\b`)
)

// prefixed learns from "use the PROD_ prefix", if the answer reads a table that the prefix makes resolvable.
func (s *student) prefixed(text string) {
	if !isPrefix.MatchString(text) || negated.MatchString(text) {
		return
	}
	var found []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("_-", r) && !isWord(r) }) {
		if aPrefix.FindString(w) == w && !slices.Contains(found, w) {
			found = append(found, w)
		}
	}
	if len(found) != 1 {
		return
	}
	var old []string
	if s.Declared != nil {
		for i := range s.Declared.Tables {
			old = append(old, s.Declared.Tables[i].Name)
		}
	}
	for _, a := range s.Attempts {
		if missing := bare(a.Missing); s.statement(a.SQL).table(missing) {
			old = append(old, missing)
		}
	}
	var lessons []Lesson
	read := false
	for _, from := range slices.Compact(slices.Sorted(slices.Values(old))) {
		_, exists := s.Live.Lookup("", from)
		to, ok := s.Live.Lookup("", found[0]+from)
		if exists || !ok {
			continue
		}
		name := to.TableName().String()
		read = read || s.reads[schema.Fold(name)]
		lessons = append(lessons, Lesson{Kind: TableLesson, From: from, To: name, Confidence: fromPrefix, Source: sourceCorrection})
	}
	if read {
		s.lessons = append(s.lessons, lessons...)
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
