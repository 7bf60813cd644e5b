package main

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/pools"
)

// Bounds of tellFaults: lines for causes, and questions in a line.
const (
	mostCauses    = 10
	mostQuestions = 5
)

// tellFaults says why questions could not be judged. It writes a line for each cause, with the file and the line of the
// first question, because one missing database may be the cause of hundreds.
func (p *program) tellFaults(faults []eval.Verdict, file func(eval.Question) string) {
	var causes []string
	of := map[string][]eval.Question{}
	for _, v := range faults {
		if of[v.Fault] == nil {
			causes = append(causes, v.Fault)
		}
		of[v.Fault] = append(of[v.Fault], v.Question)
	}
	for i, cause := range causes {
		if i == mostCauses {
			rest := 0
			for _, c := range causes[i:] {
				rest += len(of[c])
			}
			p.note("and %d more questions, for %d more reasons", rest, len(causes)-i)
			return
		}
		p.note("%s: %s", places(of[cause], file), strings.TrimPrefix(cause, "eval: "))
	}
}

// places names questions, as "FILE:7: question 12 and 8 more (13, 20, 21, 30, …)".
func places(questions []eval.Question, file func(eval.Question) string) string {
	first := questions[0]
	text := fmt.Sprintf("%s:%d: question %s", file(first), first.Line, first.ID)
	rest := questions[1:]
	if len(rest) == 0 {
		return text
	}
	var ids []string
	for _, q := range rest[:min(mostQuestions-1, len(rest))] {
		ids = append(ids, q.ID)
	}
	if len(ids) < len(rest) {
		ids = append(ids, "…")
	}
	return fmt.Sprintf("%s and %d more (%s)", text, len(rest), strings.Join(ids, ", "))
}

// datasetFile returns a function that names the file of a question: the file of a dataset of the folder, or the given
// file.
func datasetFile(folder *pools.Folder, given string) func(eval.Question) string {
	return func(q eval.Question) string {
		if isFile(given) {
			return given
		}
		path, _ := folder.DatasetPath(q.Dataset)
		return path
	}
}
