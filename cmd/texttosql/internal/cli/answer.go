package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Cost says what a question took: "9 calls, 4120 tokens".
func Cost(u llm.Usage) string {
	about := ""
	if !u.Known && u.Calls > 0 {
		about = "about "
	}
	cost := fmt.Sprintf("%d %s, %s%d tokens", u.Calls, words.Plural("call", u.Calls), about, u.PromptTokens+
		u.CompletionTokens)
	if u.Money > 0 {
		cost += fmt.Sprintf(", %s%.4g by the price list", about, u.Money)
	}
	return cost
}

// Look is how an answer is written: in lines of Width characters where they can be broken (0: of any), parts of it in
// colours, and with the factors of its confidence. The zero Look has none of it.
type Look struct {
	Width           int
	Dialect         sqltext.Dialect // of the statement
	SQL, Confidence func(text string) string
	Why             bool
}

func painted(w io.Writer, paint func(string) string, text string) {
	text = words.Clean(text)
	if paint != nil {
		text = paint(text)
	}
	io.WriteString(w, text)
}

// Answer prints an answer: what was found, the statement, its rows as rows writes them, how sure they are, the cost and
// the reasons. The error is that of w.
func Answer(w io.Writer, r *texttosql.Result, look Look, rows func(*result.Table) error) error {
	say := func(format string, args ...any) {
		Say(w, "%s", textformat.Wrap(fmt.Sprintf(format, args...), look.Width))
	}
	if r.Summary != "" {
		say("%s\n\n", r.Summary)
	}
	painted(w, look.SQL, textformat.LayoutSQL(look.Dialect, r.SQL, look.Width))
	io.WriteString(w, "\n\n")
	if err := rows(r.Rows); err != nil {
		return err
	}
	io.WriteString(w, "\n")
	painted(w, look.Confidence, textformat.Wrap(r.Closing(), look.Width))
	if look.Why {
		why := r.Ballot.Explain()
		if r.Saved > 0 {
			why += fmt.Sprintf("; an early stop saved %d %s", r.Saved, words.Plural("sample", r.Saved))
		}
		say("\n%s", why)
	}
	say("\n%s\n", Cost(r.Usage))
	for _, g := range r.Grounds {
		say("  %s\n", g)
	}
	for _, a := range r.Ballot.Abstained {
		say("  sample %d had no vote: %s\n", r.Candidates[a.Candidate].Sample, a.Why)
	}
	for _, c := range r.Candidates {
		for _, f := range c.Findings {
			if f.Rule == "repaired" {
				say("  sample %d was repaired: %s\n", c.Sample, f.Detail)
			}
		}
	}
	for _, n := range r.Notes {
		if !slices.ContainsFunc(r.Warnings, func(told trace.Warning) bool { return told.Message == n }) {
			say("  %s\n", n)
		}
	}
	for _, text := range warned(r) {
		say("  warning: %s\n", text)
	}
	return nil
}

// warned are the warnings of an answer that its closing line does not say.
func warned(r *texttosql.Result) (texts []string) {
	closing := strings.ToLower(r.Closing())
	for _, w := range r.Warnings {
		if !strings.Contains(closing, strings.ToLower(strings.TrimSuffix(w.Message, "."))) {
			texts = append(texts, w.Message)
		}
	}
	return texts
}

// Page begins the file of a page before any call costs money. flag names it in errors. A page must not replace db, the
// file of the database, if that is one.
func Page(flag, page, db string) (*atomicfile.File, error) {
	if old, err := os.Stat(page); err == nil {
		if asked, err := os.Stat(db); err == nil && os.SameFile(old, asked) {
			return nil, fmt.Errorf("%s %s is the database", flag, page)
		}
	}
	file, err := atomicfile.Create(page, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, page, PathlessError(err))
	}
	return file, nil
}

// WritePage ends the file with a page about r, which may be nil: then nothing is written. err is the error beside r.
func WritePage(file *atomicfile.File, r *texttosql.Result, err error, withRows bool) error {
	defer file.Discard()
	if r == nil {
		return nil
	}
	return errors.Join(r.WritePage(file, err, withRows), file.Commit())
}
