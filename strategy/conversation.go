package strategy

import (
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// maxEarlier is how many earlier questions a prompt shows.
const maxEarlier = 3

// Constraints states the corrections of some kinds for a prompt, a line each; without kinds all corrections.
func (t Task) Constraints(kinds ...session.CorrectionKind) []string {
	return session.Constraints(t.Corrections, kinds...)
}

// Recent are the last three of Earlier: those that a prompt shows.
func (t Task) Recent() []session.Earlier { return t.Earlier[max(0, len(t.Earlier)-maxEarlier):] }

// Reading is how rules read the question. What corrections say is read as evidence. A follow-up leaves words out, so
// rules that read words are silent about one.
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
		b.WriteString("Question: " + OneLine(e.Question) + "\n" + Fence(e.SQL) + "\n")
	}
	return b.String() + "\n"
}

// turns writes the earlier questions as turns, and the text of the turn behind them: values and the section of the
// question. head stands in front of the first turn.
func (t Task) turns(head, values string) (turns []llm.Message, last string) {
	for _, e := range t.Recent() {
		turns = append(turns, llm.Message{Role: llm.User, Text: head + "### Earlier question\n" + plainLine(e.Question) + "\n"},
			llm.Message{Role: llm.Assistant, Text: Fence(e.SQL)})
		head = ""
	}
	if len(turns) > 0 {
		head += "### Conversation\nThe question may refer to the earlier questions above and their statements. " + refers + "\n"
	}
	t.Earlier = nil
	return turns, head + values + t.Section()
}
