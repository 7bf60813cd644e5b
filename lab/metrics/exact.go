package metrics

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/eval"
)

// EM is exact match: 1 for an answer with the same text as the gold once both are
// in lower case, with white space collapsed and semicolons at the end dropped.
//
// Source: 2.METHODOLOGY.md of MacKenzieOBrian/NLtoSQL. It is not Spider's "exact
// set match", which compares parts of a parse.
type EM struct {
	// Lexed compares the normal forms of sqltext.Dialect.Normalize instead, where
	// comments, quotes and <> for != do not count and the case of literals does.
	Lexed bool
}

// Name returns "em", or "em_lexed".
func (m EM) Name() string {
	if m.Lexed {
		return "em_lexed"
	}
	return "em"
}

// Score implements [eval.Metric].
func (m EM) Score(_ context.Context, t *eval.Trial) (float64, error) {
	if m.Lexed {
		d := t.Dialect()
		return oneIf(d.Parse(t.SQL).Normalize() == d.Parse(t.Question.Gold).Normalize()), nil
	}
	return oneIf(plainText(t.SQL) == plainText(t.Question.Gold)), nil
}

// plainText is the text that EM compares.
func plainText(sql string) string {
	sql = strings.Join(strings.Fields(strings.ToLower(sql)), " ")
	return strings.TrimSpace(strings.TrimRight(sql, "; "))
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
