package agent

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/llm"
)

// output rejects what the source's cleaner rejects beyond the checks of every strategy: a statement that reads no
// table, and GROUP BY NULL, which makes one group of all rows.
type output struct{}

func (output) Check(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
	// The engine is silent about a view of which only the rows are counted.
	named := func(t sqlshape.TableRef) bool { return t.Base() && !strings.EqualFold(t.Name, "dual") }
	wrong := ""
	switch by := c.Statement.Outline().GroupBy; {
	case len(c.Analysis.Tables) == 0 && !slices.ContainsFunc(c.Statement.Tables(), named):
		wrong = "the statement reads no table"
	case len(by) == 1 && strings.EqualFold(by[0], "NULL"):
		wrong = "GROUP BY NULL makes one group of all rows"
	default:
		return nil
	}
	return &exec.InvalidError{Fault: "compile", Message: wrong}
}

var aQuery = regexp.MustCompile(`(?i)\b(?:select|with)\b`)

// ending ends a reply at the first semicolon of its statement. The model is told to stop there, unless it is to think
// first; of one that goes on, what it says behind the first of several statements is dropped.
func (l *ladder) ending(m llm.Model) llm.Model {
	return llm.Wrap(m, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if l.promptOf(req.Sample) != "tabular" {
			req.Stop = []string{";"}
		}
		reply, err := m.Complete(ctx, req)
		if err != nil {
			return reply, err
		}
		var unclear *replies.Error
		_, err = l.examiner.Extract(ctx, req.Sample, reply.Text, reply.StopReason == llm.StopEnd)
		if at := aQuery.FindStringIndex(reply.Text); at != nil && errors.As(err, &unclear) &&
			unclear.Reason == "several-statements" {
			reply.Text = reply.Text[:at[0]] + l.env.DB.Language().Text.Split(reply.Text[at[0]:])[0]
		}
		return reply, nil
	})
}
