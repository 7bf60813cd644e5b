package eval

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// The names by which published files call what a question has, the first one
// that a file's first question has is the name in that file.
var (
	idNames         = []string{"qid", "question_id", "id", "i"}
	textNames       = []string{"question", "nlq", "utterance"}
	goldNames       = []string{"gold", "SQL", "query", "sql", "gold_sql"}
	databaseNames   = []string{"db_id", "db", "database"}
	evidenceNames   = []string{"evidence", "external_knowledge"}
	difficultyNames = []string{"difficulty", "hardness"}
)

// ReadDataset reads a file of questions, gzipped or not. It detects the format by content:
//
//   - lines of JSON objects {qid, db_id, question, gold, …}, as in this
//     project's data;
//   - a JSON list of objects: BIRD's dev.json {question_id, db_id, question,
//     evidence, SQL, difficulty}, Spider's dev.json {db_id, question, query},
//     lists of {nlq, sql};
//   - CSV with a line of such names;
//   - BIRD's and Spider's gold files, lines of "SQL<tab>database": questions
//     without a text, whose ids are their places from 0.
//
// Names mean the same in all object forms. Other fields are ignored, and evidence and difficulty may be missing in
// some questions. Every other field of the first question must be in all questions, under the same name. Without ids,
// the place from 0 is the id. A question that is there twice, as two in BIRD's mini-dev are, counts once: see
// [Dataset].Repeated. Two different questions with one id are an error.
//
// The name of the dataset is the name of the file without "questions_" and without endings. The error names the file
// and the line.
func ReadDataset(path string) (*Dataset, error) {
	s, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.dataset()
}

func (s *source) dataset() (*Dataset, error) {
	read := s.questions
	if isGoldFile(s.name) {
		read = s.goldLines
	}
	questions, err := read()
	if err != nil {
		return nil, err
	}
	setPlaces(questions)
	kept, seen := questions[:0], map[string]Question{}
	for _, q := range questions {
		switch first, ok := seen[q.ID]; {
		case !ok:
			seen[q.ID] = q
			kept = append(kept, q)
		case !repeats(first, q):
			return nil, s.fault(q.Line, "id", fmt.Errorf("%s is the id of line %d too", q.ID, first.Line))
		}
	}
	d, err := NewDataset(datasetName(s.name), kept)
	if err != nil {
		return nil, s.fault(0, "", err)
	}
	d.Repeated = len(questions) - len(kept)
	return d, nil
}

// repeats reports whether b is a once more, in all but its place in the file.
func repeats(a, b Question) bool {
	b.Line, b.Place = a.Line, a.Place
	return a == b
}

// datasetName is the name of a dataset in a file.
func datasetName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return strings.TrimPrefix(name, "questions_")
}

// isGoldFile knows gold files by their ending: a line of SQL could be taken for
// a line of CSV.
func isGoldFile(path string) bool { return hasEnding(path, ".sql") }

func (s *source) goldLines() ([]Question, error) {
	var out []Question
	for {
		line, err := s.next()
		if errors.Is(err, io.EOF) {
			if len(out) == 0 {
				return nil, s.fault(0, "", errors.New("the file is empty"))
			}
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		// Statements hold tabs, database ids do not.
		at := bytes.LastIndexByte(line, '\t')
		if at < 0 {
			return nil, s.fault(s.line, "db_id", errors.New(`missing: a gold line is "SQL<tab>database"`))
		}
		out = append(out, Question{
			ID: strconv.Itoa(len(out)), Numbered: true, Line: s.line,
			Gold: strings.TrimSpace(string(line[:at])), DB: strings.TrimSpace(string(line[at+1:])),
		})
	}
}

// questionNames are the names that one file uses.
type questionNames struct{ id, text, gold, db, evidence, difficulty string }

func (s *source) questions() ([]Question, error) {
	var (
		out   []Question
		names questionNames
	)
	for r, err := range s.records() {
		if err != nil {
			return nil, err
		}
		if len(out) == 0 {
			names = namesOf(r)
			if names.text == "" {
				return nil, s.fault(r.line, textNames[0], errors.New("missing: this is no file of questions"))
			}
		}
		q, err := s.question(r, names)
		if err != nil {
			return nil, err
		}
		if names.id == "" {
			q.ID, q.Numbered = strconv.Itoa(len(out)), true
		}
		out = append(out, q)
	}
	if len(out) == 0 {
		return nil, s.fault(0, "", errors.New("no question in the file"))
	}
	return out, nil
}

func namesOf(r record) questionNames {
	find := func(names []string) string {
		for _, name := range names {
			if r.get(name) != nil {
				return name
			}
		}
		return ""
	}
	n := questionNames{
		id: find(idNames), text: find(textNames), db: find(databaseNames),
		evidence: find(evidenceNames), difficulty: find(difficultyNames),
	}
	for _, name := range goldNames {
		// Spider's "sql" is a parse of its "query", which comes first; elsewhere an
		// object is no statement.
		if raw := r.get(name); len(raw) > 0 && raw[0] == '"' {
			n.gold = name
			break
		}
	}
	return n
}

func (s *source) question(r record, names questionNames) (q Question, err error) {
	q.Line = r.line
	here := namesOf(r)
	names.evidence, names.difficulty = cmp.Or(names.evidence, here.evidence), cmp.Or(names.difficulty, here.difficulty)
	for _, f := range []struct{ first, here string }{{names.id, here.id}, {names.gold, here.gold}, {names.db, here.db}} {
		if f.first == "" && f.here != "" {
			return q, s.fault(r.line, f.here, errors.New("is here, though the first question has none"))
		}
	}
	for _, f := range []struct {
		to       *string
		name     string
		required bool
	}{
		{&q.ID, names.id, true},
		{&q.Text, names.text, true},
		{&q.Gold, names.gold, true},
		{&q.DB, names.db, true},
		{&q.Evidence, names.evidence, false},
		{&q.Difficulty, names.difficulty, false},
		{&q.Gold2023, "gold_2023", false},
	} {
		if f.name == "" {
			continue
		}
		raw := r.get(f.name)
		if f.required && (raw == nil || string(raw) == "null") {
			return q, s.fault(r.line, f.name, errors.New("missing, though the first question has it"))
		}
		if *f.to, err = r.text(f.name); err != nil {
			return q, s.fault(r.line, f.name, err)
		}
		if f.required && strings.TrimSpace(*f.to) == "" {
			return q, s.fault(r.line, f.name, errors.New("empty"))
		}
	}
	q.Place = -1
	if n, ok, err := r.integer("idx"); err != nil {
		return q, s.fault(r.line, "idx", err)
	} else if ok {
		q.Place = n
	}
	return q, nil
}

// setPlaces fills in the places that no field idx gave.
func setPlaces(questions []Question) {
	places, ids := true, true
	for _, q := range questions {
		places = places && q.Place >= 0
		n, err := strconv.Atoi(q.ID)
		ids = ids && err == nil && n >= 0
	}
	if places && len(questions) > 0 && questions[0].Text != "" {
		return
	}
	for i := range questions {
		questions[i].Place = i
		if ids {
			questions[i].Place, _ = strconv.Atoi(questions[i].ID)
		}
	}
}
