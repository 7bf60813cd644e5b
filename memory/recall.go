package memory

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// RetrievedLessons holds the lessons that the prompts of one question may show. Lessons.Recall makes it once per
// question. Its JSON is stored with the question, so that a repetition has the same prompts. A nil RetrievedLessons
// has no lessons. It records the shown lessons for Lessons.Learn. Safe for concurrent use, except for reading Shown.
type RetrievedLessons struct {
	Question string   `json:"question"`           // the question of the lessons; choices are shown only for this one
	Lessons  []Lesson `json:"lessons,omitempty"`  // the lessons, at most 256 KiB, the best ones first
	Warnings []string `json:"warnings,omitempty"` // lessons that cannot be used, and why

	// Shown has the sorted ids of the lessons that a prompt showed or that supplied a name for its schema.
	Shown []string `json:"shown,omitempty"`

	mu sync.Mutex // of Shown
}

const (
	maxRecalled = 256 << 10 // bytes of the lessons of a RetrievedLessons, about
	maxWarnings = 10
	similarity  = .75 // least similarity of two questions, for a choice
)

// Recall returns the lessons that the prompts of a question may show. They belong to the database and the owner, or
// to no owner if a person wrote them. Their confidence is .70 or more, and the names in their output exist. Recall
// also returns the choices of users for similar questions: the masked questions have a cosine of .75 or more, as
// Similar compares them. Statements are shown only if check returns nil for them; without check, no statement is
// shown.
func (l *Lessons) Recall(e Episode, check func(sql string) error) (*RetrievedLessons, error) {
	list, err := l.all()
	if err != nil {
		return nil, err
	}
	if e.Live == nil {
		e.Live = e.Declared
	}
	r := &RetrievedLessons{Question: e.Question}
	names := namesOf(e.Live)
	list = slices.DeleteFunc(list, func(k Lesson) bool {
		return !k.seenBy(e.Owner) || k.Band() == bandReview || !names.serves(k)
	})
	choices := similarChoices(list, e)
	asked := stemSet(e.Question)
	rank := make(map[string]int, len(list))
	kept := list[:0]
	taken := map[string]bool{} // of lessons that contradict each other the best one counts
	for _, k := range list {
		if err := usable(k, check); err != nil {
			if len(r.Warnings) < maxWarnings {
				r.Warnings = append(r.Warnings, fmt.Sprintf("the lesson %s (%s) is not used: %s", k.ID, k.Kind,
					words.Short(words.Line(err.Error()), 200)))
			}
			continue
		}
		about := k.about()
		if taken[about] || k.Kind == choiceLesson && !choices[k.ID] {
			continue
		}
		taken[about] = true
		switch {
		case k.Kind == choiceLesson, isName(e.Declared, k):
			rank[k.ID] = 0
		case mentions(asked, k.From):
			rank[k.ID] = 1
		default:
			rank[k.ID] = 2
		}
		kept = append(kept, k)
	}
	slices.SortStableFunc(kept, func(a, b Lesson) int { return cmp.Compare(rank[a.ID], rank[b.ID]) })
	size := 0
	for _, k := range kept {
		k.Sessions = nil
		size += 400 + len(k.From) + len(k.Pattern) + len(k.To) + len(k.Text) + len(k.SQL) + len(strings.Join(k.Tables, ""))
		if size > maxRecalled {
			break
		}
		r.Lessons = append(r.Lessons, k)
	}
	return r, nil
}

// usable reports why a lesson cannot be used.
func usable(k Lesson, check func(string) error) error {
	if k.Pattern != "" {
		if _, err := pattern(k); err != nil {
			return err
		}
	}
	switch {
	case k.SQL == "":
		return nil
	case check == nil:
		return fmt.Errorf("nothing checks its statement")
	case len(k.SQL) > maxAdvice:
		return fmt.Errorf("its statement is longer than %d bytes", maxAdvice)
	}
	return check(placeholders.ReplaceAllString(k.SQL, "1"))
}

var placeholders = regexp.MustCompile(`\{\w+\}`)

// pattern compiles the expression of a lesson.
func pattern(k Lesson) (*regexp.Regexp, error) {
	like, err := regexp.Compile(k.Pattern) // alone, so that no bracket of it closes ours
	if err == nil && k.Kind == tableLesson {
		return regexp.Compile("^(?i:" + k.Pattern + ")$")
	} else if err == nil {
		return regexp.Compile("(?i:" + k.Pattern + ")")
	}
	return like, err
}

// names are the tables and columns of a schema, as lessons write them.
type names struct {
	tables  map[string]*schema.Table
	columns map[string]string // folded full name -> name of the column
}

func namesOf(s *schema.Schema) names {
	n := names{map[string]*schema.Table{}, map[string]string{}}
	if s == nil {
		return n
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		full := schema.FoldCase(t.TableName().String())
		n.tables[full] = t
		for _, c := range t.Columns {
			n.columns[full+"."+schema.FoldCase(c.Name)] = c.Name
		}
	}
	return n
}

func (n names) table(name string) (*schema.Table, bool) {
	t, ok := n.tables[schema.FoldCase(name)]
	return t, ok
}

// serves reports whether what a lesson is about exists, and whether the name that it explains does not.
func (n names) serves(k Lesson) bool {
	switch k.Kind {
	case tableLesson:
		if k.Pattern != "" {
			return true // Map looks at each name
		}
		_, old := n.table(k.From)
		_, now := n.table(k.To)
		return now && !old
	case columnLesson:
		_, now := n.columns[schema.FoldCase(k.To)]
		_, old := n.columns[schema.FoldCase(tableOf(k.To)+"."+k.From)]
		return now && (k.Table == "" || !old)
	}
	return !slices.ContainsFunc(k.Tables, func(t string) bool { _, ok := n.table(t); return !ok })
}

// tableOf is the table of a full name of a column.
func tableOf(column string) string { return column[:max(strings.LastIndexByte(column, '.'), 0)] }

// isName reports whether a lesson says what a table or a column of s is called.
func isName(s *schema.Schema, k Lesson) bool {
	if s == nil || k.Kind != tableLesson && (k.Kind != columnLesson || k.Table == "") {
		return false
	}
	if k.Pattern != "" {
		return true
	}
	t, ok := s.Lookup("", cmp.Or(k.Table, k.From))
	if ok && k.Kind == columnLesson {
		_, ok = t.Column(k.From)
	}
	return ok
}

// similarChoices returns the ids of the choices that were made for a question like the one asked.
func similarChoices(list []Lesson, e Episode) map[string]bool {
	pool := Pool{}
	var ids []string
	for _, k := range list {
		if k.Kind == choiceLesson {
			pool.Pairs, ids = append(pool.Pairs, Exemplar{Question: k.From}), append(ids, k.ID)
		}
	}
	like := map[string]bool{}
	if len(ids) == 0 {
		return like
	}
	index := pool.indexed(e.Live, true)
	masked := index.mask(e.Question)
	asked := maskedNames(e.Question, masked)
	for i, score := range index.cosines(masked) {
		if score < similarity {
			continue
		}
		// "How many singers are there?" is masked as "How many orders are there?" is, and has nothing to do with it.
		about := maskedNames(pool.Pairs[i].Question, index.masked[i])
		like[ids[i]] = len(asked) == 0 && len(about) == 0 || slices.ContainsFunc(about, func(w string) bool {
			return slices.Contains(asked, w)
		})
	}
	return like
}

// maskedNames returns the stems of the words of a question that are masked as names.
func maskedNames(question, masked string) (stems []string) {
	asked := masking.Words(question)
	for i, w := range strings.Fields(masked) {
		if w == masking.Name && i < len(asked) && !masking.IsPlain(asked[i]) {
			stems = append(stems, words.Stem(asked[i]))
		}
	}
	return stems
}

func stemSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words.Of(text) {
		set[words.Stem(w)] = true
		for _, part := range words.Stems(w) {
			set[part] = true
		}
	}
	return set
}

// mentions reports whether a text with these stems has every word of a name.
func mentions(stems map[string]bool, name string) bool {
	list := words.Stems(name)
	return len(list) > 0 && !slices.ContainsFunc(list, func(w string) bool { return !stems[w] })
}

// mark notes that a prompt shows a lesson.
func (r *RetrievedLessons) mark(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Shown, _ = inserted(r.Shown, id)
}
