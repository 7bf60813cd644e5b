package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// purposeLink is the llm.Request.Purpose of requests that link. PreSQL asks for the SQL of the question, so a stored
// answer to the question is a true reply.
const purposeLink = "link"

// noLinks is the code of the warning that PreSQL keeps the whole schema because it could not link a name.
const noLinks = "no-links"

// PreSQL asks a model for the SQL of the question with the whole schema in view. It links the tables and columns
// that this preliminary statement reads, as the engine reports them (exec.DB.Analyze). If the engine rejects the
// statement, its names come from the text. A name that does not exist is resolved by the first rule that exactly one
// name meets. The first three rules are: equal except for case; equal except for case, underscores, hyphens and blanks;
// equal in the singular. The last rule is an edit distance of at most 2 and at most a quarter of the length. An
// unresolved name is dropped, with a note "invented".
//
// A first answer may miss a table, so PreSQL adds the links of With, and schema.Schema.Restrict adds the tables that
// join them. If no name of the statement exists, PreSQL keeps the whole schema, with the warning "no-links".
//
// The method is the schema linking of PET-SQL (arXiv 2403.09732). Its code takes tables from a parser and drops
// statements that it cannot parse; the engine, the rules, the union and the joins are our additions. Link costs
// Samples calls, one compilation for each, and the cost of With. Safe for concurrent use if With is.
type PreSQL struct {
	Model llm.Model // the model asked; required by Link and Draft
	// the prompt for the statement; required by Link and Draft
	Prompt func(ctx context.Context, in Input) ([]llm.Message, error)

	Samples   int            // drafts, whose links are united; 0 means 1; 1 uses temperature 0, more use 0.7
	MaxTokens int            // tokens of a reply; 0 means 512
	Seed      func(int) *int // returns the seed of a sample; nil: no seed

	// Extract finds the statement in a reply, and Analyze returns the tables and columns that a statement reads. A
	// caller that examines the statement anyway provides its own functions, so that the engine is called only once.
	// nil: Input.DB is used.
	Extract func(ctx context.Context, reply string) (replies.Extraction, error)
	Analyze func(ctx context.Context, sql string) (exec.Analysis, error)

	// Columns also links columns: those that the statement reads and those that the question names in full. A
	// linked table without such a column keeps all columns. If false, tables are linked with all their
	// columns, as in the source.
	Columns bool
	// Wide costs tokens and misses fewer tables. It also links these tables:
	//   - tables if the question has a word of their name, or its first four letters or more;
	//   - tables with a column of two words or more that the question names in full, if no linked table has it;
	//   - tables that the foreign keys of the statement's table refer to, if it reads only one table.
	//
	// With Columns it also links columns if the question has a word of their name, and columns called name in
	// tables that the statement reads. It links all columns of a table of up to 4 columns, or 5 if the statement
	// does not read the table.
	Wide bool
	// With is another linker whose links are added; nil means Names{}; Union{} adds no links. If With keeps the whole
	// schema, PreSQL does too. So set Choose in Values.
	With Linker
}

// Link drafts the statements and links what they read. It fails if ctx has ended or every sample failed.
func (p PreSQL) Link(ctx context.Context, in Input) (schema.Links, error) {
	if err := in.needs("PreSQL"); err != nil {
		return schema.Links{}, err
	}
	statements, errs := make([]string, max(p.Samples, 1)), []error{}
	for i := range statements {
		sql, _, err := p.Draft(ctx, in, i)
		if cerr := ctx.Err(); cerr != nil {
			return schema.Links{}, cerr
		}
		if statements[i] = sql; err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == len(statements) {
		return schema.Links{}, errors.Join(errs...)
	}
	return p.Read(ctx, in, statements...)
}

// Validate reports a field that is missing or negative.
func (p PreSQL) Validate() error {
	switch {
	case p.Model == nil || p.Prompt == nil:
		return errors.New("linker: PreSQL needs Model and Prompt")
	case p.Samples < 0 || p.MaxTokens < 0:
		return errors.New("linker: a field of PreSQL is negative")
	}
	return nil
}

// Draft asks for one preliminary statement; sample counts from 0. For a reply without a statement, sql is
// "" and err is nil.
func (p PreSQL) Draft(ctx context.Context, in Input, sample int) (sql string, reply llm.Response, err error) {
	if err = p.Validate(); err != nil {
		return "", reply, err
	}
	messages, err := p.Prompt(ctx, in)
	if err != nil {
		return "", llm.Response{}, err
	}
	temperature := 0.0
	if p.Samples > 1 {
		temperature = 0.7
	}
	req := llm.Request{
		Messages: messages, Purpose: purposeLink, Sample: sample,
		Temperature: &temperature, MaxTokens: new(cmp.Or(p.MaxTokens, 512)),
	}
	if p.Seed != nil {
		req.Seed = p.Seed(sample)
	}
	reply, err = p.Model.Complete(ctx, req)
	if err != nil {
		return "", llm.Response{}, err
	}
	extract := p.Extract
	if extract == nil {
		extract = in.extract
	}
	found, _ := extract(ctx, reply.Text) // without a statement, sql is ""
	return found.SQL(), reply, ctx.Err()
}

// extract finds the statement in a reply, with the engine's word on what is one.
func (in Input) extract(ctx context.Context, reply string) (replies.Extraction, error) {
	x := replies.Extractor{}
	if in.DB != nil {
		x.Dialect = in.DB.Language().Text
		x.Valid = func(s *sqltext.Statement) bool {
			_, err := in.DB.Analyze(ctx, s.SQL())
			return !errors.As(err, new(*exec.InvalidError))
		}
	}
	return x.Extract(reply)
}

// Read links the tables and columns that the given statements read. Empty statements are skipped. It calls no model
// itself. It fails if ctx has ended or With fails.
func (p PreSQL) Read(ctx context.Context, in Input, statements ...string) (schema.Links, error) {
	links := schema.Links{}
	if err := in.needs("PreSQL"); err != nil {
		return links, err
	}
	for _, sql := range statements {
		if sql == "" {
			continue
		}
		read, err := p.readStatement(ctx, in, sql)
		if err != nil {
			return schema.Links{}, err
		}
		links = merge(links, read)
	}
	if len(links.Tables) == 0 {
		links.Whole = true
		links.Notes = append(links.Notes, "the preliminary SQL names no table of the schema: the whole schema is kept")
		trace.FromContext(ctx).Warn(noLinks, links.Notes[len(links.Notes)-1])
		return links, nil
	}
	drafted := len(links.Tables)
	more, err := cmp.Or[Linker](p.With, Names{}).Link(ctx, in)
	if err != nil {
		return schema.Links{}, err
	}
	links = unite(links, more)
	if p.Wide {
		links = widen(in, links, drafted)
	}
	if p.Columns {
		return p.addAskedColumns(in, links, drafted), nil
	}
	return tablesOnly(links), nil
}

// unite adds what b links. A table that both link keeps the columns of both. A table that only b links without columns
// keeps all columns.
func unite(a, b schema.Links) schema.Links {
	b.Tables = slices.Clone(b.Tables) // the other linker may keep its own
	for i := range b.Tables {
		t := &b.Tables[i]
		for _, have := range a.Tables {
			if len(t.Columns) == 0 && sameTable(have.Schema, have.Table, t.Schema, t.Table) {
				t.Columns = have.Columns
			}
		}
	}
	return merge(a, b)
}

// invented returns the note about a table that does not exist.
func invented(name string) string {
	return fmt.Sprintf("invented: the preliminary SQL names the table %q, which does not exist", words.Clean(name))
}
