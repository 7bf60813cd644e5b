package models

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// KindSimulated is how reports call figures that a [Phases] model made.
const KindSimulated = "simulated"

// Phases is an [llm.Model] for strategies that settle a statement step by step. It
// answers each step with the part of a recorded answer that the step is about: sample i
// of the scope ("maker.scope") names the tables and joins of recorded answer i, sample
// i of the filter ("maker.filter") its conditions, sample i of the projection
// ("maker.projection"), and of "generate", is the answer as it stands. A reply without
// a statement that compiles is the reply to each step.
//
// It shows votes, stops and fallbacks on a real distribution of mistakes. It
// does not show whether taking a question apart helps a model, because no model was
// asked to. Figures made with it carry the word "simulated" and the assumption: without
// KeepScope, that a model ignores what was agreed on before.
//
// Safe for concurrent use.
type Phases struct {
	recorded *Recorded
	keep     bool
	phased   map[*Question][]phased // by sample
}

// PhaseOptions says what a simulated model assumes.
type PhaseOptions struct {
	// KeepScope samples the filter and the projection from the recorded answers
	// that read just the tables agreed on, and from all where there is none: the
	// assumption that a model that is told to keep to tables does.
	KeepScope bool
}

// NewPhases derives the steps of the replies of a recorded model. db is the
// database that its questions are about. The error is that of the database.
func NewPhases(ctx context.Context, r *Recorded, db *exec.DB, o PhaseOptions) (*Phases, error) {
	p := &Phases{recorded: r, keep: o.KeepScope, phased: make(map[*Question][]phased, len(r.known))}
	derived := map[string]phased{} // equal replies are common
	for _, k := range r.known {
		q := k.Question
		for sample, reply := range q.Replies {
			d, ok := derived[reply.Text]
			if !ok {
				var err error
				if d, err = derive(ctx, db, reply.Text); err != nil {
					return nil, fmt.Errorf("models: pool %s: question %s: %w", r.name, q.ID, err)
				}
				derived[reply.Text] = d
			}
			d.sample = sample
			p.phased[q] = append(p.phased[q], d)
		}
	}
	return p, nil
}

// Name returns the name of the pool, for llm.NameOf.
func (p *Phases) Name() string { return p.recorded.Name() }

// Complete answers one step. It takes as long as the recorded answer that the step
// is a part of, and tells the model of it; tokens are estimated where the reply is
// another text. Its errors are those of [Recorded.Complete].
func (p *Phases) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	var step func(phased) string
	switch req.Purpose {
	case "maker.scope":
		step = func(d phased) string { return d.scope }
	case "maker.filter":
		step = func(d phased) string { return d.filter }
	case "maker.projection":
		step = func(d phased) string { return d.reply }
	default:
		return p.recorded.Complete(ctx, req)
	}
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	q := p.recorded.find(req)
	if q == nil {
		return llm.Response{}, p.recorded.missing(": no known question stands in the request %q", firstLine(req))
	}
	samples := p.phased[q]
	if p.keep && req.Purpose != "maker.scope" {
		samples = keeping(samples, agreedTables(req))
	}
	at := req.Sample / p.recorded.turns
	if at < 0 || at >= len(samples) {
		return llm.Response{}, p.recorded.missing(" has %d samples of question %s for %s", len(samples), q.ID, req.Purpose)
	}
	d := samples[at]
	reply := q.Replies[d.sample]
	if text := step(d); text != reply.Text {
		reply.Text, reply.Usage = text, llm.Usage{} // what was counted is another text
	}
	return p.recorded.deliver(ctx, req, q, d.sample, reply)
}

// keeping are the samples with these tables, or all where there are none.
func keeping(samples []phased, tables string) []phased {
	var kept []phased
	for _, d := range samples {
		if d.tables != "" && d.tables == tables {
			kept = append(kept, d)
		}
	}
	if len(kept) == 0 {
		return samples
	}
	return kept
}

// agreedTables is the line of a request that says which tables were agreed on. The
// last one counts: lines of the schema stand before it.
func agreedTables(req llm.Request) string {
	tables := ""
	for _, m := range req.Messages {
		if m.Role != llm.User {
			continue
		}
		for line := range strings.Lines(m.Text) {
			if rest, ok := strings.CutPrefix(line, "Tables: "); ok {
				tables = strings.TrimSpace(rest)
			}
		}
	}
	return tables
}

// phased is a recorded answer, taken apart.
type phased struct {
	sample int    // which one it is
	reply  string // as it was recorded
	scope  string // "Tables: …" and "Joins: …"; the reply where it holds no statement that compiles
	filter string // its conditions, or "No filters needed"; the reply where scope is
	tables string // what it reads, by name, as a prompt lists them; "" where scope is the reply
}

// derive takes a reply apart. The error is that of the database, never about the
// reply.
func derive(ctx context.Context, db *exec.DB, reply string) (phased, error) {
	raw := phased{reply: reply, scope: reply, filter: reply}
	text := db.Language().Text
	found, err := replies.Extractor{Dialect: text, Valid: func(s *sqltext.Statement) bool {
		_, err := db.Analyze(ctx, s.SQL())
		return err == nil
	}}.Extract(reply)
	if err != nil {
		return raw, ctx.Err()
	}
	a, err := db.Analyze(ctx, found.SQL())
	if err != nil {
		if exec.IsRejection(err) {
			err = nil
		}
		return raw, err
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return raw, err
	}
	d := phased{reply: reply, tables: tableList(db, s, a)}
	var joins, filters []string
	end := 0
	for _, c := range found.Conditions(checks.ColumnNames(s, db.Language().PromptQuoter())) {
		inner := c.Pos < end
		if !inner {
			end = c.Pos + len(c.Text)
		}
		join := joinOf(s, db.Dialect(), c.Equal)
		if join != "" && !slices.Contains(joins, join) {
			joins = append(joins, join)
		}
		if !inner && !c.Aggregate && (join == "" || c.Nested) && !slices.Contains(filters, c.Key) {
			filters = append(filters, c.Key)
		}
	}
	d.scope = "Tables: " + d.tables
	if len(joins) > 0 {
		d.scope += "\nJoins: " + strings.Join(joins, " AND ")
	}
	d.filter = "No filters needed"
	if len(filters) > 0 {
		d.filter = strings.Join(filters, " AND ")
	}
	return d, nil
}

// tableList lists the tables of an analysis by name; "none" for none.
func tableList(db *exec.DB, s *schema.Schema, a exec.Analysis) string {
	var names []string
	for _, t := range a.TablesOf(s) {
		names = append(names, t.Table)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = db.Language().PromptQuoter().Quote(name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// joinOf writes two columns of two tables as a join; "" for anything else.
func joinOf(s *schema.Schema, d exec.Dialect, equal []sqlshape.ColumnRef) string {
	if len(equal) != 2 {
		return ""
	}
	var sides []string
	var tables []*schema.Table
	for _, r := range equal {
		t, column := checks.ColumnOf(s, r)
		if t == nil {
			return ""
		}
		tables = append(tables, t)
		sides = append(sides, d.Language().PromptQuoter().Quote(t.Name)+"."+d.Language().PromptQuoter().Quote(column))
	}
	if tables[0] == tables[1] {
		return ""
	}
	slices.Sort(sides)
	return sides[0] + " = " + sides[1]
}
