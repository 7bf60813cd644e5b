package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// PurposeLink is the llm.Request.Purpose of requests that link. That of PreSQL
// asks for the SQL of the question, so a stored answer to it is a true reply.
const PurposeLink = "link"

// NoLinks is the code of the warning that nothing could be linked, so that the
// whole schema is kept.
const NoLinks = "no-links"

// PreSQL links what a preliminary statement reads: a model is asked for the SQL
// of the question with the whole schema in view, and the tables and columns of
// its answer are the links.
//
// What the statement reads is the engine's word (exec.DB.Analyze): views
// resolved, names of CTEs and aliases left out. Where the engine rejects it, the
// names in FROM and before dots are read from the text, and names that do not
// exist are resolved by the first of these rules that exactly one name meets:
// equal but for case; equal but for case, underscores and blanks; equal in the
// singular; an edit distance of at most 2 and at most a quarter of the length.
// A name that none resolves is dropped, and a note says "invented".
//
// A first answer misses a table now and then, so the links are united with those
// of another linker, by default Names (tables that the question names in full),
// and schema.Schema.Restrict adds the tables that join them. A draft without a
// statement, or with names of which none exists, keeps the whole schema, with
// the warning NoLinks: never an empty one.
//
// The method is the schema linking of PET-SQL (arXiv 2403.09732). Its code takes
// tables from a parser, drops what it cannot parse, and lets a missed table never
// come back; the engine, the rules, the union and the joins are ours
// (methods/pet-sql.md 3.4).
//
// Link costs Draws calls and one compilation each, and what With costs. Safe for
// concurrent use where With is.
type PreSQL struct {
	Model  llm.Model                                                  // who is asked; required by Link and Draft
	Prompt func(ctx context.Context, in Input) ([]llm.Message, error) // the prompt for the first statement; required by Link and Draft

	Draws     int           // first statements; their links are united; 0 means 1, at temperature 0, more are drawn at 0.7
	MaxTokens int           // of a reply; 0 means 512
	Seed      func(int) int // the seed of a draw; nil: none is sent

	// Columns links columns too: those read, and those that the question names in
	// full. A linked table of which none is keeps all. false links tables with all
	// their columns, as the source does.
	Columns bool
	// Wide trades tokens for recall. It links in addition tables of whose name the
	// question has any word (or one of four letters and more that it begins with);
	// tables that have a column named in full of two words or more, if no linked table
	// has it; and, where the statement reads one table only, those that its foreign
	// keys refer to. Of columns, also those of whose name the question has any word;
	// of the tables read those called a name, and all of up to 4; of the tables added
	// all of up to 5.
	Wide bool
	// With is another linker to unite with; nil means Names{}, and Union{} none.
	// Where it keeps the whole schema, so does the union: Values wants Choose.
	With Linker
}

// Draft is a preliminary statement.
type Draft struct {
	SQL   string       // "" where the reply held none; Err says why
	Torn  string       // then what begins like a statement and is none, for its names; "" where nothing does
	Reply llm.Response // as the model gave it
	Err   error        // a *sqltext.ReplyError, or nil
}

// Link drafts and reads. It fails when ctx has ended and when every draw failed.
func (p PreSQL) Link(ctx context.Context, in Input) (schema.Links, error) {
	var (
		statements []string
		errs       []error
	)
	draws := cmp.Or(p.Draws, 1)
	for i := range draws {
		d, err := p.Draft(ctx, in, i)
		if cerr := ctx.Err(); cerr != nil {
			return schema.Links{}, cerr
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		statements = append(statements, cmp.Or(d.SQL, d.Torn))
	}
	if len(errs) == draws {
		return schema.Links{}, errors.Join(errs...)
	}
	return p.Read(ctx, in, statements...)
}

// Draft asks for one preliminary statement, the first draw being 0. A reply
// without a statement is no error but a Draft without one.
func (p PreSQL) Draft(ctx context.Context, in Input, draw int) (Draft, error) {
	if p.Model == nil || p.Prompt == nil {
		return Draft{}, errors.New("linker: PreSQL needs Model and Prompt")
	}
	if p.Draws < 0 || p.MaxTokens < 0 {
		return Draft{}, errors.New("linker: a field of PreSQL is negative")
	}
	messages, err := p.Prompt(ctx, in)
	if err != nil {
		return Draft{}, err
	}
	temperature := 0.0
	if p.Draws > 1 {
		temperature = 0.7
	}
	req := llm.Request{
		Messages: messages, Purpose: PurposeLink, Draw: draw,
		Temperature: &temperature, MaxTokens: cmp.Or(p.MaxTokens, 512),
	}
	if p.Seed != nil {
		req.Seed = p.Seed(draw)
	}
	reply, err := p.Model.Complete(ctx, req)
	if err != nil {
		return Draft{}, err
	}
	d := Draft{Reply: reply}
	x := sqltext.Extractor{}
	if in.DB != nil {
		x.Dialect = in.DB.Dialect().Text()
		x.Valid = func(sql string) bool {
			_, err := in.DB.Analyze(ctx, sql)
			var invalid *exec.InvalidError
			return !errors.As(err, &invalid)
		}
	}
	found, err := x.Extract(reply.Text)
	d.SQL, d.Err = found.SQL, err
	if err != nil {
		d.Torn = torn(x.Dialect, reply.Text)
	}
	return d, ctx.Err()
}

// torn is the text from the first SELECT on, in the part of the reply that is not
// longer than replies are.
func torn(d sqltext.Dialect, reply string) string {
	reply = reply[:min(len(reply), sqltext.MaxReply)]
	for t := range d.Tokens(reply) {
		if t.Kind == sqltext.Word && strings.EqualFold(t.Text, "select") {
			return reply[t.Pos:]
		}
	}
	return ""
}

// Read links what statements read that were made elsewhere; empty ones say
// nothing. It calls no model itself. It fails when ctx has ended and when With fails.
func (p PreSQL) Read(ctx context.Context, in Input, statements ...string) (schema.Links, error) {
	var links schema.Links
	for _, sql := range statements {
		if sql == "" {
			continue
		}
		read, err := readStatement(ctx, in, sql, p.Columns)
		if err != nil {
			return schema.Links{}, err
		}
		links = mergeExact(links, read)
	}
	if len(links.Tables) == 0 {
		links.Whole = true
		links.Notes = append(links.Notes, "the preliminary SQL names no table of the schema: the whole schema is kept")
		trace.From(ctx).Warn(NoLinks, links.Notes[len(links.Notes)-1])
		return links, nil
	}
	drafted := len(links.Tables)
	with := p.With
	if with == nil {
		with = Names{}
	}
	more, err := with.Link(ctx, in)
	if err != nil {
		return schema.Links{}, err
	}
	links = unite(links, more, p.Columns)
	if p.Wide {
		links = widen(in, links, drafted)
	}
	if p.Columns {
		return p.addAskedColumns(in, links, drafted), nil
	}
	return tablesOnly(links), nil
}

// unite adds what b links. A table that only b has, without columns, keeps all of
// them; one that a has keeps those of both.
func unite(a, b schema.Links, columns bool) schema.Links {
	if !columns {
		return mergeExact(a, b)
	}
	b.Tables = slices.Clone(b.Tables) // they are the other linker's
	for i := range b.Tables {
		t := &b.Tables[i]
		for _, have := range a.Tables {
			if len(t.Columns) == 0 && sameTable(have.Schema, have.Table, t.Schema, t.Table) {
				t.Columns = have.Columns
			}
		}
	}
	return mergeExact(a, b)
}

// invented is the note about a name that does not exist.
func invented(kind, name string) string {
	return fmt.Sprintf("invented: the preliminary SQL names the %s %q, which does not exist", kind, sqltext.CleanText(name))
}
