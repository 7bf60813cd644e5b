package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// callError is what a client is told of an error: one line, and what the call cost.
func (c *client) callError(ctx context.Context, err error, spent llm.Usage) error {
	return fmt.Errorf("%s (cost: %s)", c.line(ctx, err), costOf(spent))
}

// line says in one line what went wrong. Only errors that are known to name nothing of the database's address are
// repeated; of any other the log has the words.
func (c *client) line(ctx context.Context, err error) string {
	text, known := c.words(err)
	if !known {
		c.Logger.ErrorContext(ctx, "mcp: a call failed", "error", c.Hide(llm.Scrub(err.Error())))
	}
	return c.Hide(strategy.ErrorLine(llm.Scrub(text), false))
}

func (c *client) words(err error) (text string, known bool) {
	var (
		none     *strategy.NoCandidateError
		failed   *llm.Error
		input    *texttosql.InputError
		config   *strategy.ConfigError
		refused  *exec.RefusedError
		invalid  *exec.InvalidError
		limit    *exec.LimitError
		policy   *exec.PolicyError
		unusable *session.CorrectionError
		told     toldError
	)
	switch {
	case errors.As(err, &told):
		return told.Error(), true
	case errors.Is(err, llm.ErrBudget) && c.spent():
		return "the budget of this session is spent: begin another one, or give the server a larger budget", true
	case errors.Is(err, llm.ErrBudget):
		return "the budget of the question is spent, and there is no answer yet: ask with fewer samples, or give the server a larger budget", true
	case errors.Is(err, context.Canceled):
		return "the question was cancelled", true
	case errors.Is(err, context.DeadlineExceeded):
		return "the time for the question is over", true
	case errors.Is(err, strategy.ErrAbstained):
		return "there is an answer, but it is too doubtful to give: ask more precisely", true
	case errors.As(err, &none):
		var reasons []string
		for _, r := range none.Rejected[:min(3, len(none.Rejected))] {
			reasons = append(reasons, strategy.ErrorLine(r.Rejected, false))
		}
		for _, failure := range none.Failed[:min(2, len(none.Failed))] {
			reason, _ := c.words(failure)
			reasons = append(reasons, reason)
		}
		return "no statement passed the checks: " + strings.Join(reasons, "; "), len(none.Failed) == 0
	case errors.Is(err, exec.ErrBusy):
		return "the database is busy: somebody holds a lock, or all connections; the same question may be answered later", true
	case errors.Is(err, exec.ErrUnguarded):
		return "the database cannot be guarded as it was opened, so nothing runs on it; see the log of the server", false
	case errors.Is(err, texttosql.ErrNoTables):
		return texttosql.ErrNoTables.Error(), true
	case errors.Is(err, texttosql.ErrEmptyQuestion):
		return "the question is empty", true
	case errors.Is(err, session.ErrMaxCorrections):
		return session.ErrMaxCorrections.Error(), true
	case errors.As(err, &input):
		return input.Error(), true
	case errors.As(err, &config):
		return config.Error(), true
	case errors.As(err, &refused):
		return refused.Error(), true
	case errors.As(err, &invalid):
		return invalid.Error(), true
	case errors.As(err, &limit):
		return limit.Error(), true
	case errors.As(err, &policy):
		return "the policy of the server names what the database does not have; see its log", false
	case errors.As(err, &unusable):
		return unusable.Error(), true
	case errors.As(err, &failed):
		text := "the model cannot be asked: " + strings.ReplaceAll(failed.Class.String(), "-", " ")
		if failed.Status != 0 {
			text += fmt.Sprintf(" (status %d)", failed.Status)
		}
		return text, false
	}
	return "the database cannot be asked now; see the log of the server", false
}

// toldError is an error in our own words, for the client.
type toldError string

func (e toldError) Error() string { return string(e) }
