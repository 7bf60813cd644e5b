package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// Repairer asks a model to replace a statement that the engine rejected.
type Repairer interface {
	Repair(ctx context.Context, env *Env, in RepairInput) (llm.Response, error)
}

// RepairInput is a failed statement with the facts about its failure.
type RepairInput struct {
	Task   Task           // the question
	Schema *schema.Schema // the schema as the sample was shown it
	Links  schema.Links   // the links in the sample's prompt; empty: the stored texts that the question names
	// Prompter wrote the sample's prompt; nil: Prompt{}.
	Prompter Prompter
	Sample   int    // index of the candidate's sample
	SQL      string // the extracted statement; "" if the reply had none
	Err      error  // the problem; an error of the engine is an *exec.InvalidError

	Earlier []Step // statements that were tried before this one, in order
}

// TypedRepair shows the model its statement, the class and the first line of the error, and the existing names that
// are nearest to an unknown one. It makes one call per repair, at temperature 0.
type TypedRepair struct {
	Prompter Prompter // writes the conversation before the statement; nil: RepairInput.Prompter
}

// Repair calls the model that wrote the statement.
func (r TypedRepair) Repair(ctx context.Context, env *Env, in RepairInput) (llm.Response, error) {
	prompter := r.Prompter
	if prompter == nil {
		prompter = in.Prompter
	}
	if prompter == nil {
		prompter = Prompt{}
	}
	links, err := env.named(ctx, in.Task, in.Schema, in.Links)
	if err != nil {
		return llm.Response{}, err
	}
	messages, err := prompter.Prompt(ctx, env, PromptInput{Task: in.Task, Schema: in.Schema, Sample: in.Sample,
		Links: links})
	if err != nil {
		return llm.Response{}, err
	}
	messages = slices.Clip(messages)
	said := "(no statement)"
	if in.SQL != "" {
		said = CodeBlock(in.SQL)
	}
	messages = append(messages, llm.Message{Role: llm.Assistant, Text: said},
		llm.Message{Role: llm.User, Text: r.complaint(env, in)})
	model, _ := env.Model(in.Sample)
	greedy := 0.0
	return model.Complete(ctx, llm.Request{
		Messages: messages, Purpose: "repair", Sample: in.Sample,
		Temperature: &greedy, MaxTokens: new(1024), Seed: env.SeedOf(in.Sample),
	})
}

func (r TypedRepair) complaint(env *Env, in RepairInput) string {
	var b strings.Builder
	if len(in.Earlier) > 0 {
		b.WriteString("### Earlier attempts\n")
		for _, s := range in.Earlier {
			if s.SQL != "" {
				b.WriteString(CodeBlock(s.SQL) + "\n")
			}
			b.WriteString(env.ErrorLine(cmp.Or(s.Problem, s.Status)) + "\n\n")
		}
	}
	var (
		invalid *exec.InvalidError
		refused *exec.RefusedError
		suspect errSuspect
	)
	if errors.As(in.Err, &suspect) {
		return b.String() + "### Doubt\nThis statement runs, but " + suspect.what +
			". If that is the right answer, give the same statement again. " +
			"If not, write one that answers the question. Give it in one ```sql block.\n" + nearValues(env, in)
	}
	what := "The database rejected this statement"
	if in.SQL == "" {
		what = "The reply could not be used"
	}
	b.WriteString(env.Lessons.ForError(in.Err.Error()) + "### Error\n")
	message, name, mask := in.Err.Error(), "", env.WithoutValues
	switch {
	case errors.As(in.Err, &invalid) && invalid.Fault == "constraint":
		what, message, mask = "This statement goes against what the user said", invalid.Message, false
	case invalid != nil:
		what, message, name = fmt.Sprintf("%s (%s)", what, invalid.Fault), invalid.Message, invalid.Name
	case errors.As(in.Err, &refused):
		message, name = refused.Detail, refused.Name
	}
	fmt.Fprintf(&b, "%s: %s\n", what, prompttext.ErrorLine(message, mask))
	if where := newMisplaced(env, in.Schema, in.SQL, name).hint(); where != "" {
		b.WriteString(prompttext.ErrorLine(where, false) + "\n")
	} else if near := nearest(env, in.Schema, resolved(env, in.SQL, name)); len(near) > 0 {
		fmt.Fprintf(&b, "Existing names that are close: %s\n", strings.Join(near, ", "))
	}
	b.WriteString(nearValues(env, in))
	b.WriteString("Write the statement again so that it answers the question and runs. Give it in one ```sql block.\n")
	return b.String()
}

// named returns links. Those without a value get the stored texts that the question names, of the tables that were
// profiled. It does not query the database.
func (e *Env) named(ctx context.Context, t Task, s *schema.Schema, links schema.Links) (schema.Links, error) {
	if slices.ContainsFunc(links.Tables, func(t schema.TableLink) bool { return len(t.Values) > 0 }) {
		return links, nil
	}
	in := e.LinkerInput(t, s)
	in.DB = nil
	found, err := linker.Values{}.Link(ctx, in)
	links.Whole = links.Whole || len(links.Tables) == 0
	links.Tables = slices.Clone(links.Tables)
	for _, f := range found.Tables {
		isSame := func(l schema.TableLink) bool { return l.Name() == f.Name() }
		if at := slices.IndexFunc(links.Tables, isSame); at >= 0 {
			links.Tables[at].Values = f.Values
			continue
		}
		links.Tables = append(links.Tables, f)
	}
	return links, err
}

// nearValues lists the stored texts that may be meant by those of a statement, for texts that their column does not
// store.
func nearValues(env *Env, in RepairInput) string {
	if env.WithoutValues || in.Schema == nil {
		return ""
	}
	known, links := env.Snapshot.Words(in.Schema), schema.Links{}
	for _, l := range checks.TextLiterals(in.Schema, env.DB.Language().Text.Parse(in.SQL)) {
		table := schema.TableName{Schema: l.Schema, Name: l.Table}
		for _, value := range known.Near(table, l.Column, l.Value) {
			link := table.Link()
			link.Values = []schema.ValueMatch{{Column: l.Column, Value: value}}
			links.Tables = append(links.Tables, link)
		}
	}
	if len(links.Tables) == 0 {
		return ""
	}
	return "Stored values that are close:\n" + env.valueLines(links)
}

// resolved returns a name in which the table's name replaces an alias of the statement.
func resolved(env *Env, sql, name string) string {
	alias, column, qualified := words.CutLast(name, ".")
	if !qualified {
		return name
	}
	for _, t := range env.DB.Language().Text.Parse(sql).Tables() {
		if t.Alias != "" && strings.EqualFold(t.Alias, alias) {
			return t.Name + "." + column
		}
	}
	return name
}

// nearest lists up to five names of the schema that are close to name, nearest
// first, ties by the order of the schema, quoted where they must be. Names are
// compared by their stemmed words, a column's also with its table's in front:
// product_name is close to products.name, and of columns that are as close one of the table that name has in front goes
// first.
func nearest(env *Env, s *schema.Schema, name string) []string {
	if name == "" {
		return nil
	}
	table, name, _ := words.CutLast(name, ".")
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
			if max(len(spelling)-len(name), len(name)-len(spelling)) > most || words.LooksAlike(name, spelling) {
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
	ofTable := func(n near) int {
		if of, _, _ := words.CutLast(n.name, "."); table != "" && strings.EqualFold(of, env.Quote(table)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b near) int {
		return cmp.Or(a.distance-b.distance, ofTable(a)-ofTable(b))
	})
	names := make([]string, 0, 5)
	for _, n := range found[:min(len(found), 5)] {
		names = append(names, n.name)
	}
	return names
}

// stemmed returns a name as its stemmed words.
func stemmed(name string) string { return strings.Join(words.Stems(name), "_") }
