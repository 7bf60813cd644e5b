package memory

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// Episode is one question of a session. Lessons.Recall reads its Question, Owner, Declared and Live. Learn reads all
// fields when the question has ended, with an answer or without one.
type Episode struct {
	Session  string            // id of the session
	Owner    string            // exec.Scope.Key of the question, which owns its lessons
	Question string            // the question as it was asked
	FollowUp bool              // it is incomplete without earlier questions: no choice is stored with it
	Live     *schema.Schema    // the database's own schema; nil: Recall uses Declared
	Declared *schema.Schema    // the schema that the engine received, before RetrievedLessons.Map; nil: Learn uses Live
	Dialect  sqltext.Dialect   // reads the statements
	Recall   *RetrievedLessons // the lessons that its prompts could show; nil: none
	// Attempts are the statements that the engine rejected, in order. Missing is the table or column that does not exist,
	// as the engine names it; "": another fault.
	Attempts  []struct{ SQL, Missing string }
	Completed bool   // there is an answer
	SQL       string // the statement of the answer
	// Tables and Columns are the tables and columns that the answer reads, as the engine reports them.
	Tables  []schema.TableName
	Columns []schema.ColumnName
	// Corrections are the corrections in force for the answer, including choices of a table or a join.
	Corrections []session.Correction
	Chosen      *session.Option // the answer that the user chose among several; nil: none
	Before      LearnResult     // the result of Learn at an earlier end of the question; zero: the first
	At          time.Time       // when it ended; zero: now
}

// attempt is a statement that the engine rejected.
type attempt = struct{ SQL, Missing string }

// LearnResult lists the lessons that the end of a question changed. A session stores it with its RetrievedLessons. So
// nothing is counted twice if a correction reopens the question. All fields are sorted ids of lessons.
type LearnResult struct {
	New       []string `json:"new,omitempty"` // learned, or learned again
	Retrieved []string `json:"retrieved,omitempty"`
	Applied   []string `json:"applied,omitempty"`
	Succeeded []string `json:"succeeded,omitempty"`
	Failed    []string `json:"failed,omitempty"`
}

// Learn counts the uses and successes of a question's lessons. It also learns from errors that were repaired and from
// corrections in force. From a question without an answer it learns nothing, but it still counts. It returns
// Episode.Before with its changes added. A nil Lessons does nothing.
//
//   - An error gives a lesson (confidence .80) if the database lacks a table or column of a rejected statement. The
//     answer must read exactly one table or column that the statement does not name. Its name must contain the
//     missing name, or have a similarity of .8 to it.
//   - A correction gives a lesson (.95) if the answer reads what it names: the meaning of a user's word, or the right
//     name for a table that the database does not have. If everything that it names exists, it is a choice, stored
//     with its question.
//   - "Use the PROD_ prefix" gives a lesson (.70) for all table names that it resolves, if the answer reads one of
//     these tables.
//
// A lesson that is learned again gets one more success. A lesson with another meaning for the same name gets one more
// failure.
func (l *Lessons) Learn(e Episode) (LearnResult, error) {
	r := e.Before
	if l == nil || e.Live == nil {
		return r, nil
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.At = e.At.UTC().Truncate(time.Second)
	s := student{Episode: e, live: namesOf(e.Live), reads: map[string]bool{}}
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

// Undo removes the successes in r when the user corrects an answer. It counts a failure for each lesson of r that c
// contradicts. It returns r without these successes, for Episode.Before.
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
	case l.Kind == columnLesson && c.Kind == dialogue.CorrectColumn && c.Column != nil:
		return words.Fold(l.From) == words.Fold(c.Term) && !schema.EqualFold(l.To, c.Column.String())
	case c.Kind == dialogue.CorrectJoin && c.Join != nil:
		a, b := c.Join.Left.Table.String(), c.Join.Right.Table.String()
		same := len(l.Tables) == 2 && (schema.EqualFold(l.Tables[0], a) && schema.EqualFold(l.Tables[1], b) ||
			schema.EqualFold(l.Tables[0], b) && schema.EqualFold(l.Tables[1], a))
		return (l.Kind == joinLesson || l.Kind == choiceLesson) && same &&
			!schema.EqualFold(l.Text, c.Join.Ordered().String())
	case l.Kind == columnLesson:
		table = tableOf(l.To)
	}
	return slices.ContainsFunc(c.Rejected, func(t schema.TableName) bool {
		return table != "" && schema.EqualFold(t.String(), table) || slices.ContainsFunc(l.Tables, func(name string) bool {
			return schema.EqualFold(t.String(), name)
		})
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
	Episode
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
		case k.Kind == tableLesson && k.Pattern == "", k.Kind == columnLesson:
			outputs = []string{k.To}
		case k.Kind == joinLesson:
			outputs = k.Tables
		}
		if len(outputs) == 0 {
			continue
		}
		read := !slices.ContainsFunc(outputs, func(name string) bool { return !s.reads[schema.FoldCase(name)] })
		failed, tried := false, false
		for _, a := range s.Attempts {
			last := outputs[0][max(strings.LastIndexByte(outputs[0], '.')+1, 0):]
			failed = failed || a.Missing != "" && k.Kind != joinLesson && schema.EqualFold(bare(a.Missing), last)
			tried = tried || slices.ContainsFunc(s.statement(a.SQL).names, func(name string) bool {
				return schema.EqualFold(name, last)
			})
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
		s.reads[schema.FoldCase(t.String())] = true
	}
	for _, c := range s.Columns {
		s.reads[schema.FoldCase(c.String())] = true
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
	tables  []sqlshape.TableRef
	columns []sqlshape.ColumnRef
	names   []string // of both
}

func (s *student) statement(sql string) mentioned {
	st := s.Dialect.Parse(sql)
	m := mentioned{tables: slices.DeleteFunc(slices.Clone(st.Tables()), func(t sqlshape.TableRef) bool {
		return !t.Base()
	}), columns: st.Columns()}
	for _, t := range m.tables {
		m.names = append(m.names, t.Name)
	}
	for _, c := range m.columns {
		m.names = append(m.names, c.Column)
	}
	return m
}

func (m mentioned) table(name string) bool {
	return slices.ContainsFunc(m.tables, func(t sqlshape.TableRef) bool { return schema.EqualFold(t.Name, name) })
}

func (m mentioned) column(name string) bool {
	return slices.ContainsFunc(m.columns, func(c sqlshape.ColumnRef) bool { return schema.EqualFold(c.Column, name) })
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
	return strings.Contains(words.Squeeze(name), words.Squeeze(missing)) && words.Squeeze(missing) != "" ||
		words.Similarity(missing, name) >= .8
}

// recovered learns from a statement that names what does not exist.
func (s *student) recovered(a attempt) {
	missing := bare(a.Missing)
	if missing == "" {
		return
	}
	failed := s.statement(a.SQL)
	if _, ok := s.Live.Lookup("", missing); !ok && failed.table(missing) {
		if to, ok := s.renamed(missing, failed); ok {
			s.lessons = append(s.lessons, Lesson{Kind: tableLesson, From: missing, To: to.String(), Confidence: fromError,
				Source: sourceLearned})
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
		s.lessons = append(s.lessons, Lesson{Kind: columnLesson, Table: found[0].Table.String(), From: missing,
			To:         found[0].String(),
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
	has := func(name string) bool { return s.reads[schema.FoldCase(name)] }
	switch {
	case c.Kind == dialogue.CorrectColumn && c.Column != nil && has(c.Column.String()):
		s.lessons = append(s.lessons, Lesson{Kind: columnLesson, From: c.Term, To: c.Column.String(),
			Confidence: fromCorrection, Source: sourceCorrection})
	case c.Kind == dialogue.CorrectJoin && c.Join != nil && has(c.Join.Left.Table.String()) &&
		has(c.Join.Right.Table.String()):
		s.choice(Lesson{Text: c.Join.Ordered().String()}, []schema.TableName{c.Join.Left.Table, c.Join.Right.Table})
	case c.Kind == dialogue.CorrectTable && !slices.ContainsFunc(c.Tables, func(t schema.TableName) bool {
		return !has(t.String())
	}):
		s.chosenTable(c)
	case c.Kind == dialogue.CorrectText || c.Kind == dialogue.CorrectLogic:
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
			s.lessons = append(s.lessons, Lesson{Kind: tableLesson, From: from, To: to.String(), Confidence: fromCorrection,
				Source: sourceCorrection})
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
	k.Kind, k.From, k.Confidence, k.Source = choiceLesson, s.Question, fromCorrection, sourceCorrection
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
		read = read || s.reads[schema.FoldCase(name)]
		lessons = append(lessons, Lesson{Kind: tableLesson, From: from, To: name, Confidence: fromPrefix,
			Source: sourceCorrection})
	}
	if read {
		s.lessons = append(s.lessons, lessons...)
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
