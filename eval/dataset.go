package eval

import (
	"fmt"
	"slices"
)

// Question is one question of a dataset with its gold statement.
type Question struct {
	Dataset    string // name of the dataset; "" without one
	ID         string // unique in the dataset; numbers are written in decimal
	DB         string // id of its database
	Text       string // the text of the question; "" in a gold file
	Evidence   string // BIRD's external knowledge; "" without any
	Difficulty string // the dataset's own word: "simple"; "" without one
	Gold       string // "" if the dataset has no answers

	// Gold2023 is BIRD's gold of 2023, which later releases changed; "" if the file does not have it. See
	// [Question.With2023].
	Gold2023 string

	// Place is the number by which published prediction files name the question,
	// from 0. It is the field idx. Without that it is the id if all ids are whole numbers, otherwise the place in the
	// file. A program that makes questions may leave it 0.
	Place int
	Line  int // line in its file, from 1; 0 without a file

	Numbered bool // its file has no ids: ID is its place, from 0
}

// Key returns a name for the question that is unique over several datasets: "spider_dev/6".
func (q Question) Key() string {
	if q.Dataset == "" {
		return q.ID
	}
	return q.Dataset + "/" + q.ID
}

// With2023 returns q with the gold of 2023, which old leaderboards and the labels of recorded runs use. Without such
// a gold it returns q unchanged.
func (q Question) With2023() Question {
	if q.Gold2023 != "" {
		q.Gold = q.Gold2023
	}
	return q
}

// Dataset is a list of questions with unique ids. Do not change Questions after
// the first call of a method. Safe for concurrent use.
type Dataset struct {
	Name      string     // also in each question; reports and pools use this name
	Questions []Question // the questions in the order of the file
	Repeated  int        // number of further copies of questions in the file

	byID map[string]int
}

// NewDataset returns a dataset of questions from a program, and sets their Dataset to name. Two questions with one id
// are an error.
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

// Question returns the question with an id.
func (d *Dataset) Question(id string) (Question, bool) {
	i, ok := d.byID[id]
	if !ok {
		return Question{}, false
	}
	return d.Questions[i], true
}

// Select returns a dataset of the questions that keep accepts.
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

// Databases returns the ids of the databases of the questions, in order.
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
