package linker

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// correct applies what the user said about tables; of two that contradict each other the later one counts.
func (r *perTableRun) correct() {
	for _, c := range r.in.Corrections {
		if c.Kind == dialogue.CorrectTable {
			r.set(c.Rejected, false)
			r.set(c.Tables, true)
		}
	}
}

// force keeps the tables of a mandatory join and of a mapped column. Such tables belong together, so they are joined.
func (r *perTableRun) force() {
	before := len(r.names())
	for _, c := range r.in.Corrections {
		for _, n := range namedBy(c) {
			r.set([]schema.TableName{n.Table}, true)
		}
		r.id.JoinsNeeded = r.id.JoinsNeeded || c.Kind == dialogue.CorrectJoin
	}
	r.id.Final = r.names()
	r.id.JoinsNeeded = r.id.JoinsNeeded || len(r.id.Final) > before
}

// set says of tables whether they stay. Unknown ones do nothing.
func (r *perTableRun) set(tables []schema.TableName, stays bool) {
	for _, name := range tables {
		if t := r.table(name); t != nil {
			t.stays = stays
		}
	}
}

// table is what is known of a table; nil of one that there is not.
func (r *perTableRun) table(name schema.TableName) *judged {
	t, ok := r.judge.Schema.Lookup(name.Schema, name.Name)
	for i := range r.judge.tables {
		if ok && r.judge.tables[i].of == t {
			return &r.judge.tables[i]
		}
	}
	return nil
}

// names are the tables that stay, in the order of the schema.
func (r *perTableRun) names() (names []schema.TableName) {
	for _, t := range r.judge.tables {
		if t.stays {
			names = append(names, t.Table)
		}
	}
	return names
}

// render writes tables for a prompt that has the text head beside them, and no more tokens than a call may have.
func (r *perTableRun) render(rules, head string, tables []schema.TableName) (string, error) {
	renderer := r.in.renderer()
	// each message is rounded up
	renderer.MaxTokens, renderer.Beside = cmp.Or(r.CallTokens, defaultCallTokens), len(rules)+len(head)+8
	out, err := renderer.Render(r.ctx, r.judge.Schema.Project(func(t *schema.Table) bool {
		return slices.Contains(tables, t.TableName())
	}, nil))
	return out.Text, err
}

// together asks about the candidates, as many at a time as a call has room for. A table alone stays.
func (r *perTableRun) together() error {
	head := r.in.section(tableMeanings...) + "Judged alone:\n"
	groups, err := r.groups(len(tablesRules) + len(head))
	for _, group := range groups {
		if len(group) == 1 || err != nil {
			continue
		}
		var table string
		judged := head
		for _, name := range group {
			judged += r.verdict(name)
		}
		if table, err = r.render(tablesRules, judged+"\n", group); err != nil {
			break
		}
		reply, failed := llm.Ask(r.ctx, r.Model, greedy(r.Seed, purposeTables, tablesRules, judged+"\n"+table),
			tablesReply.check)
		if err = r.fatal(failed); err == nil && failed != nil {
			r.warn("the model did not judge the tables together, all candidates stay: %s", failed)
		} else if err == nil {
			r.reason("together", reason(reply.Reasoning))
			r.keep(group, reply)
		}
	}
	return err
}

// verdict is a candidate with its verdict, as a prompt shows it.
func (r *perTableRun) verdict(name schema.TableName) string {
	v := r.table(name)
	text := "- " + name.Quoted(r.in.renderer().Names)
	switch {
	case !v.Relevant:
		return text + ": selected by the user\n"
	case v.Problem != "":
		return text + ": not judged\n"
	case v.Reason != "":
		return text + fmt.Sprintf(": %.2f, %s\n", v.Score, words.Inert(v.Reason))
	}
	return text + fmt.Sprintf(": %.2f\n", v.Score)
}

// groups parts the candidates, in their order, so that each part fits a call of so many bytes beside it.
func (r *perTableRun) groups(beside int) (groups [][]schema.TableName, err error) {
	most := 4*cmp.Or(r.CallTokens, defaultCallTokens) - beside
	room := 0
	for _, name := range r.id.Candidates {
		out, err := r.in.renderer().Render(r.ctx, &schema.Schema{Tables: []schema.Table{*r.table(name).of}})
		if err != nil {
			return nil, err
		}
		size := len(out.Text) + len(r.verdict(name))
		if len(groups) == 0 || size > room {
			groups, room = append(groups, nil), most
		}
		last := &groups[len(groups)-1]
		*last, room = append(*last, name), room-size
	}
	return groups, nil
}

// tablesReply is the reply to tablesRules.
type tablesReply struct {
	Final     *texts `json:"final_tables"`
	Removed   *texts `json:"removed_tables"`
	Reasoning any    `json:"reasoning"`
}

func (t tablesReply) check() error {
	if t.Final == nil && t.Removed == nil {
		return errors.New("final_tables is missing")
	}
	return nil
}

// keep drops the tables of a group that a reply does not name, or without a list of those that stay the ones that it
// removes. Other tables in it do nothing. If none of the group would stay, all do.
func (r *perTableRun) keep(group []schema.TableName, reply tablesReply) {
	list := cmp.Or(reply.Final, reply.Removed)
	var kept []schema.TableName
	for _, name := range group {
		isNamed := slices.ContainsFunc(*list, func(text string) bool { return isTable(name, text) })
		if isNamed == (reply.Final != nil) {
			kept = append(kept, name)
		}
	}
	if len(kept) > 0 {
		r.set(group, false)
		r.set(kept, true)
	}
}

// isTable reports whether a reply names the table, which may write quotes and the schema.
func isTable(t schema.TableName, text string) bool {
	text = unquoted(text)
	return schema.EqualFold(text, t.Name) || schema.EqualFold(text, t.String())
}

var quotes = strings.NewReplacer(`"`, "", "`", "", "[", "", "]", "")

// unquoted is a name in a reply without quotes.
func unquoted(name string) string { return quotes.Replace(strings.TrimSpace(name)) }

// synthesisReply is the reply to synthesisRules.
type synthesisReply struct {
	Lacks        any   `json:"-"`
	Columns      texts `json:"columns"`
	JoinsNeeded  *bool `json:"joins_needed"`
	Combine      any   `json:"combine"`
	Filters      texts `json:"filters"`
	Aggregations texts `json:"aggregations"`
	Ordering     texts `json:"ordering"`
	Reasoning    any   `json:"reasoning"`
}

// openReply is the reply where tables are left that nobody asked about.
type openReply struct {
	Lacks        any   `json:"lacks"`
	Columns      texts `json:"columns"`
	JoinsNeeded  *bool `json:"joins_needed"`
	Combine      any   `json:"combine"`
	Filters      texts `json:"filters"`
	Aggregations texts `json:"aggregations"`
	Ordering     texts `json:"ordering"`
	Reasoning    any   `json:"reasoning"`
}

// lacksNothing is a text in place of null.
var lacksNothing = regexp.MustCompile(`(?i)^["'(]*(none|null|nil|no|n/?a|not applicable|nothing( (is )?(missing|lacking))?)["').!]*$`)

var combinations = words.Set("join union subquery none")

// asked is the reply about the tables that stay.
func (r *perTableRun) asked() (reply synthesisReply, err error) {
	r.lacks = ""
	rules := synthesisRules
	if len(r.judge.waves) > 0 {
		at := strings.Index(rules, "The question, the notes")
		rules = rules[:at] + lacksRule + strings.Replace(rules[at:], `"columns"`, lacksField, 1)
	}
	head := r.in.section(tableMeanings...) + "\n"
	tables, err := r.render(rules, head, r.id.Final)
	if err != nil {
		return reply, err
	}
	req := greedy(r.Seed, purposeSynthesis, rules, head+tables)
	if len(r.judge.waves) == 0 {
		return llm.Ask[synthesisReply](r.ctx, r.Model, req, nil)
	}
	open, err := llm.Ask[openReply](r.ctx, r.Model, req, nil)
	r.lacks = lacksNothing.ReplaceAllString(reason(open.Lacks), "")
	return synthesisReply(open), err
}

// synthesize asks what the question asks of the tables that stay.
func (r *perTableRun) synthesize() error {
	r.correct() // what the user wants stays, whatever the model said of it beside the others
	r.id.Final, r.id.Columns, r.id.Combine = r.names(), nil, ""
	reply, failed := r.asked()
	if err := r.fatal(failed); err != nil {
		return err
	}
	if failed != nil {
		r.warn("the model did not say what is asked of the tables: %s", failed)
	}
	if combine, _ := reply.Combine.(string); combinations[words.Fold(combine)] {
		r.id.Combine = words.Fold(combine)
	}
	r.id.JoinsNeeded = r.id.Combine == "join" || r.id.Combine == "" && len(r.id.Final) > 1
	if reply.JoinsNeeded != nil {
		r.id.JoinsNeeded = *reply.JoinsNeeded || r.id.Combine == "join"
	}
	line := func(t texts) string { return words.Short(words.Inert(words.Line(strings.Join(t, "; "))), 500) }
	r.id.Filters, r.id.Aggregations, r.id.Ordering = line(reply.Filters), line(reply.Aggregations), line(reply.Ordering)
	r.reason("synthesis", reason(reply.Reasoning))
	for _, t := range r.judge.tables {
		if !t.stays {
			continue
		}
		var needed []string
		for _, text := range reply.Columns {
			at := strings.LastIndexByte(text, '.')
			if c, ok := named(t.of, text); ok && (at < 0 || isTable(t.Table, text[:at])) {
				needed = append(needed, c.Name)
			}
		}
		for _, name := range inOrder(t.of, needed) {
			r.id.Columns = append(r.id.Columns, schema.ColumnName{Table: t.Table, Column: name})
		}
	}
	return nil
}

// link names the tables that stay, with the columns that either step found needed or the user named. A table that the
// model did not judge relevant has all of its columns.
func (r *perTableRun) link() {
	for _, t := range r.judge.tables {
		if !t.stays {
			continue
		}
		needed := t.Columns
		if len(needed) > 0 {
			needed = append(slices.Clip(needed), r.alsoNeeded(t.Table)...)
		}
		r.judge.Links.Tables = append(r.judge.Links.Tables, t.link(needed))
	}
}

// alsoNeeded returns the columns of a table that the synthesis or a correction names.
func (r *perTableRun) alsoNeeded(of schema.TableName) (names []string) {
	columns := r.id.Columns
	for _, c := range r.in.Corrections {
		columns = append(slices.Clip(columns), namedBy(c)...)
	}
	for _, c := range columns {
		if sameTable(c.Table.Schema, c.Table.Name, of.Schema, of.Name) {
			names = append(names, c.Column)
		}
	}
	return names
}
