package eval

import (
	"fmt"
	"slices"
	"strings"
)

// Question is one question of a dataset with its gold statement.
type Question struct {
	Dataset    string // name of the dataset, "" where it has none
	ID         string // unique in the dataset; numbers are written in decimal
	DB         string // id of its database
	Text       string // the question as it was asked; "" in a gold file
	Evidence   string // BIRD's external knowledge; "" where there is none
	Difficulty string // the dataset's own word: "simple"; "" where it has none
	Gold       string // "" where the dataset gives no answers

	// Gold2023 is BIRD's gold of 2023, which later releases changed; "" where
	// the file has none. See [Question.With2023].
	Gold2023 string

	// Place is the number by which published prediction files name the question,
	// from 0: its field idx, else its id where all ids are whole numbers, else
	// its place in the file. Questions made by a program may leave it 0.
	Place int
	Line  int // where it stands in its file, from 1; 0 when it comes from none

	Numbered bool // its file has no ids: ID is its place, from 0
}

// Key names the question in lists over several datasets: "spider_dev/6".
func (q Question) Key() string {
	if q.Dataset == "" {
		return q.ID
	}
	return q.Dataset + "/" + q.ID
}

// With2023 returns q with the gold of 2023, by which old leaderboards, and the
// labels of recorded runs, were made. Without one q stays as it is.
func (q Question) With2023() Question {
	if q.Gold2023 != "" {
		q.Gold = q.Gold2023
	}
	return q
}

// Dataset is a list of questions with unique ids. Do not change Questions after
// the first call of a method. Safe for concurrent use.
type Dataset struct {
	Name      string     // also in each question; reports and pools call it so
	Questions []Question // the questions in the order of the file
	Repeated  int        // times that the file has one of them once more

	byID map[string]int
}

// NewDataset returns a dataset of questions made by a program, under a name that
// is written into them. Two questions of one id are an error.
func NewDataset(name string, questions []Question) (*Dataset, error) {
	d := &Dataset{Name: name, Questions: questions, byID: make(map[string]int, len(questions))}
	for i := range questions {
		q := &questions[i]
		q.Dataset = name
		if first, ok := d.byID[q.ID]; ok {
			return nil, fmt.Errorf("eval: dataset %s: questions %d and %d have the same id %q", name, first, i, q.ID)
		}
		d.byID[q.ID] = i
	}
	return d, nil
}

// Question returns the question of an id.
func (d *Dataset) Question(id string) (Question, bool) {
	i, ok := d.byID[id]
	if !ok {
		return Question{}, false
	}
	return d.Questions[i], true
}

// Select returns a dataset of those questions that keep accepts.
func (d *Dataset) Select(keep func(Question) bool) *Dataset {
	out := &Dataset{Name: d.Name, byID: map[string]int{}}
	for _, q := range d.Questions {
		if keep(q) {
			out.byID[q.ID] = len(out.Questions)
			out.Questions = append(out.Questions, q)
		}
	}
	return out
}

// Databases returns the ids of the databases asked about, in order.
func (d *Dataset) Databases() []string {
	var ids []string
	for _, q := range d.Questions {
		ids = append(ids, q.DB)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// place finds the question that a published prediction file means by a place.
func (d *Dataset) place(i int, byLine bool) (Question, bool) {
	if byLine {
		if i < 0 || i >= len(d.Questions) {
			return Question{}, false
		}
		return d.Questions[i], true
	}
	at := slices.IndexFunc(d.Questions, func(q Question) bool { return q.Place == i })
	if at < 0 {
		return Question{}, false
	}
	return d.Questions[at], true
}

// FileError says what is wrong with a file of questions or answers, and where.
type FileError struct {
	File  string // its path
	Line  int    // number of the line, from 1; 0 when it is the file as a whole
	Field string // "" when it is the line as a whole
	Err   error  // what is wrong
}

// Error says it as "eval: FILE:LINE: field FIELD: CAUSE".
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString("eval: ")
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		b.WriteString(": field " + e.Field)
	}
	b.WriteString(": " + e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }
