package strategy

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// maxEarlier is how many earlier questions a prompt shows.
const maxEarlier = 3

// Constraints returns the corrections of the given kinds for a prompt, one line each; without kinds, all corrections.
// A line is session.Correction.Constraint without control characters and without the marks that separate turns in
// chat templates.
func (t Task) Constraints(kinds ...string) (lines []string) {
	for _, c := range t.Corrections {
		if len(kinds) == 0 || slices.Contains(kinds, c.Kind) {
			lines = append(lines, words.Inert(words.Line(c.Constraint())))
		}
	}
	return lines
}

// Recent returns the last three turns of Earlier, which prompts show.
func (t Task) Recent() []session.PreviousTurn { return t.Earlier[max(0, len(t.Earlier)-maxEarlier):] }

// Reading returns the features of the question for rules. The text of corrections counts as evidence. A follow-up
// leaves words out, so rules that read words find nothing in it.
func (t Task) Reading(rules doubt.Rules) doubt.QuestionFeatures {
	evidence := strings.Join(append([]string{t.Evidence}, t.Constraints()...), "\n")
	if len(t.Corrections) == 0 {
		evidence = t.Evidence
	}
	if len(t.Earlier) > 0 {
		return doubt.QuestionFeatures{Text: t.Question, Evidence: evidence}
	}
	return rules.Read(t.Question, evidence)
}

// statements are those of Earlier.
func (t Task) statements(env *Env) (list []*sqltext.Statement) {
	for _, e := range t.Earlier {
		list = append(list, env.DB.Language().Text.Parse(e.SQL))
	}
	return list
}

// refers tells a model what to make of earlier questions.
const refers = "If the question is complete without them, it keeps none of their conditions.\n"

// earlierSection writes the earlier questions for a prompt that has no turns.
func (t Task) earlierSection() string {
	if len(t.Earlier) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("### Earlier questions\nThe question may refer to these, the oldest first. " + refers)
	for _, e := range t.Recent() {
		b.WriteString("Question: " + prompttext.OneLine(e.Question) + "\n" + CodeBlock(e.SQL) + "\n")
	}
	return b.String() + "\n"
}

// turns writes the earlier questions as turns, and the text of the turn behind them: values and the section of the
// question. head stands in front of the first turn.
func (t Task) turns(head, values string) (turns []llm.Message, last string) {
	for _, e := range t.Recent() {
		turns = append(turns, llm.Message{Role: llm.User, Text: head + "### Earlier question\n" + plainLine(e.Question) +
			"\n"}, llm.Message{Role: llm.Assistant, Text: CodeBlock(e.SQL)})
		head = ""
	}
	if len(turns) > 0 {
		head += "### Conversation\nThe question may refer to the earlier questions above and their statements. " + refers +
			"\n"
	}
	t.Earlier = nil
	return turns, head + values + t.Section()
}
