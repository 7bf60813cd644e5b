package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// Repairer asks for another statement in place of one that the engine rejected.
type Repairer interface {
	Repair(ctx context.Context, env *Env, in RepairInput) (llm.Response, error)
}

// RepairInput is a failed statement and what is known of its failure.
type RepairInput struct {
	Task   Task           // what is asked
	Schema *schema.Schema // the schema as the sample was shown it
	Sample int            // index of the candidate's sample
	SQL    string         // the statement as extracted; "" where a reply had none
	Err    error          // why it does not do: the engine's word is an *exec.InvalidError

	Earlier []Step // statements that were tried before this one, in order
}

// TypedRepair shows the model its statement, the class and the first line of the error, and the existing names that are
// nearest to an unknown one. It makes one call a repair, at temperature 0.
type TypedRepair struct {
	Prompter Prompter // writes the conversation that the statement belongs to; nil: Prompt{}
}

// Repair asks the model that wrote the statement.
func (r TypedRepair) Repair(ctx context.Context, env *Env, in RepairInput) (llm.Response, error) {
	prompter := r.Prompter
	if prompter == nil {
		prompter = Prompt{}
	}
	messages, err := prompter.Prompt(ctx, env, PromptInput{Task: in.Task, Schema: in.Schema, Sample: in.Sample})
	if err != nil {
		return llm.Response{}, err
	}
	messages = slices.Clip(messages)
	said := "(no statement)"
	if in.SQL != "" {
		said = Fence(in.SQL)
	}
	messages = append(messages, llm.Message{Role: llm.Assistant, Text: said}, llm.Message{Role: llm.User, Text: r.complaint(env, in)})
	model, _ := env.Model(in.Sample)
	greedy := 0.0
	return model.Complete(ctx, llm.Request{
		Messages: messages, Purpose: PurposeRepair, Sample: in.Sample,
		Temperature: &greedy, MaxTokens: new(1024), Seed: env.SeedOf(in.Sample),
	})
}

func (r TypedRepair) complaint(env *Env, in RepairInput) string {
	var b strings.Builder
	if len(in.Earlier) > 0 {
		b.WriteString("### Earlier attempts\n")
		for _, s := range in.Earlier {
			if s.SQL != "" {
				b.WriteString(Fence(s.SQL) + "\n")
			}
			b.WriteString(ErrorLine(cmp.Or(s.Problem, s.Status), env.WithoutValues) + "\n\n")
		}
	}
	var (
		invalid *exec.InvalidError
		refused *exec.RefusedError
		suspect errSuspect
	)
	if errors.As(in.Err, &suspect) {
		return b.String() + "### Doubt\nThis statement runs, but " + suspect.what + ". If that is the right answer, give the same statement again. " +
			"If not, write one that answers the question. Give it in one ```sql block.\n"
	}
	what := "The database rejected this statement"
	if in.SQL == "" {
		what = "The reply could not be used"
	}
	b.WriteString(env.Lessons.ForError(in.Err.Error()) + "### Error\n")
	message, name, mask := in.Err.Error(), "", env.WithoutValues
	switch {
	case errors.As(in.Err, &invalid) && invalid.Fault == exec.FaultConstraint:
		what, message, mask = "This statement goes against what the user said", invalid.Message, false
	case invalid != nil:
		what, message, name = fmt.Sprintf("%s (%s)", what, invalid.Fault), invalid.Message, invalid.Name
	case errors.As(in.Err, &refused):
		message, name = refused.Detail, refused.Name
	}
	fmt.Fprintf(&b, "%s: %s\n", what, ErrorLine(message, mask))
	if near := nearest(env, in.Schema, name); len(near) > 0 {
		fmt.Fprintf(&b, "Existing names that are close: %s\n", strings.Join(near, ", "))
	}
	b.WriteString("Write the statement again so that it answers the question and runs. Give it in one ```sql block.\n")
	return b.String()
}

// ErrorLine is the first line of an engine's message as a prompt may show it: an [OneLine], at
// most 300 runes, and with mask what stands in quotes replaced, since engines quote stored
// values.
func ErrorLine(message string, mask bool) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	line = OneLine(line)
	if mask {
		line = maskQuoted(line)
	}
	if runes := []rune(line); len(runes) > 300 {
		line = string(runes[:300])
	}
	return line
}

// maskQuoted replaces what stands in quotes.
func maskQuoted(line string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(line, `'"`)
		if i < 0 {
			break
		}
		j := strings.IndexByte(line[i+1:], line[i])
		if j < 0 {
			b.WriteString(line[:i] + "…")
			return b.String()
		}
		b.WriteString(line[:i] + "…")
		line = line[i+j+2:]
	}
	b.WriteString(line)
	return b.String()
}

// nearest lists up to five names of the schema that are close to name, nearest
// first, ties by the order of the schema, quoted where they must be. Names are
// compared by their stemmed words, a column's also with its table's in front:
// product_name is close to products.name.
func nearest(env *Env, s *schema.Schema, name string) []string {
	if name == "" {
		return nil
	}
	_, name, _ = cutLast(name, ".")
	name = stemmed(name)
	type near struct {
		name     string
		distance int
	}
	var found []near
	add := func(full string, spellings ...string) {
		best := near{name: full, distance: len(name) + 1}
		for _, spelling := range spellings {
			// The difference in length alone rules most names out. The model chose
			// the length of name, so nothing here may cost its square.
			most := max(len(spelling), len(name)) / 2
			if max(len(spelling)-len(name), len(name)-len(spelling)) > most {
				continue
			}
			if d := words.Distance(spelling, name, most); d <= most {
				best.distance = min(best.distance, d)
			}
		}
		if best.distance <= len(name) {
			found = append(found, best)
		}
	}
	s, _ = s.Presentable() // the names go into a prompt
	for i := range s.Tables {
		t := &s.Tables[i]
		add(env.Quote(t.Name), stemmed(t.Name))
		for j := range t.Columns {
			c := t.Columns[j].Name
			add(env.Quote(t.Name)+"."+env.Quote(c), stemmed(c), stemmed(t.Name+"_"+c))
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.distance - b.distance })
	names := make([]string, 0, 5)
	for _, n := range found[:min(len(found), 5)] {
		names = append(names, n.name)
	}
	return names
}

// stemmed returns a name as its stemmed words.
func stemmed(name string) string { return strings.Join(words.Stems(name), "_") }

// cutLast is strings.Cut at the last sep; without one, all of s is after.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}
