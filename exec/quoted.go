package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/quoting"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// analyzeQuoted analyzes a statement that was rejected once more, with quotes around the names that need them. Where it
// compiles, c holds it. The error is the one of the statement as it was written, unless that took a name for a
// function.
func (s *Runner) analyzeQuoted(ctx context.Context, c *Checked, rejected error) (a Analysis, err error) {
	refused := (*RefusedError)(nil)
	if !IsRejection(rejected) || errors.As(rejected, &refused) && refused.Writes || c.Statement == nil {
		return a, rejected
	}
	known, err := s.Schema(ctx)
	if err != nil {
		return a, rejected
	}
	text, names := s.db.language.quoting().Names(c.Statement, known)
	if len(names) == 0 {
		return a, rejected
	}
	statement, err := c.Statement.Dialect().Check(text)
	if err != nil {
		return a, rejected
	}
	if a, err = s.Analyze(ctx, text); err != nil {
		if refused != nil && refused.Reason == "function" { // what looked like a function is a name of the schema
			return a, err
		}
		return a, cmp.Or(ctx.Err(), rejected)
	}
	c.SQL, c.Statement = text, statement
	list := strings.Join(names, ", ")
	trace.FromContext(ctx).Event(checks.Quoted, trace.Attr{Key: "names", Value: trace.PrivateSQL.Secret(list)})
	c.Findings = append(c.Findings,
		vote.Finding{Rule: checks.Quoted, Detail: "names got the quotes and the case that they have in the schema: " + list})
	return a, nil
}

// findBareFunctions finds words that call a function where a table of the statement has a column of that name.
func (s *Runner) findBareFunctions(ctx context.Context, c *Checked) error {
	if c.Statement == nil {
		return nil
	}
	var found []string
	tokens := quoting.TokensOf(c.Statement)
	for i := range tokens {
		word := strings.ToLower(tokens.At(i).Text)
		calls := tokens.At(i).Kind == sqltext.Word && s.db.language.BareFunctions[word] && tokens.At(i+1).Text != "("
		if calls && tokens.At(i-1).Text != "." && !tokens.Is(i-1, "as") && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	if len(found) == 0 {
		return nil
	}
	known, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	for _, read := range c.Analysis.TablesOf(known) {
		t, ok := known.Lookup(read.Schema, read.Table)
		for i := 0; ok && i < len(t.Columns); i++ {
			name := t.Columns[i].Name
			if slices.Contains(found, schema.FoldCase(name)) {
				detail := fmt.Sprintf("%s without quotes is a function here, and not the column of %s: the column is %s",
					strings.ToLower(name), t.Name, s.db.language.Quote(name))
				c.Findings = append(c.Findings, vote.Finding{Rule: checks.Odd + "bare-function", Detail: detail})
			}
		}
	}
	return nil
}

// quoting returns how names are quoted in a statement.
func (l Language) quoting() quoting.Rules {
	r := quoting.Rules{Text: l.Text, Quote: l.Quote, IsKeyword: l.isKeyword, NeedsQuote: l.needsQuotes}
	if l.Backticks {
		r.Quote = func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
	}
	return r
}
