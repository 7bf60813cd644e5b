package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// ask is the verb of one question.
type ask struct {
	setup.Asking `embed:""`
	Evidence     string   `placeholder:"TEXT" help:"Knowledge that belongs to the question: what a word means, how a figure is computed."`
	JSON         bool     `name:"json" xor:"form" help:"Write one JSON object: the statement, the rows, the votes, the cost, or the error."`
	CSV          bool     `name:"csv" xor:"form" help:"Write the rows as CSV, and nothing else."`
	Trace        string   `placeholder:"FILE" help:"Write a page about the answer to this HTML file."`
	TraceRows    bool     `help:"Let the page show rows of the result."`
	Question     []string `arg:"" help:"The question."`
}

// Help is the part of --help below the flags.
func (ask) Help() string { return setup.Help() + "\n\n" + exitHelp }

// Run asks.
func (a *ask) Run(p *program) error {
	var page *atomicfile.File
	if a.Trace != "" {
		var err error
		if page, err = cli.Page("--trace", a.Trace, a.DSN(p.getenv)); err != nil {
			return &setup.UsageError{Err: err}
		}
		defer page.Discard()
	}
	e, err := a.Open(p.ctx, p.getenv, nil, cli.Progress(p.err))
	if err != nil {
		return err
	}
	defer e.Close()
	r, err := e.Ask(p.ctx, strings.Join(a.Question, " "), texttosql.WithEvidence(a.Evidence))
	if werr := a.write(p, r, err); werr != nil {
		return werr
	}
	if page != nil {
		if werr := cli.WritePage(page, r, err, a.TraceRows); werr != nil {
			return fmt.Errorf("--trace %s: %w", a.Trace, cli.PathlessError(werr))
		}
	}
	return err
}

// write writes what is known: the answer, or what the user may choose from.
func (a *ask) write(p *program, r *texttosql.Result, err error) error {
	var asked *session.QuestionError
	errors.As(err, &asked)
	switch {
	case a.JSON:
		return writeResult(p, r, asked, err)
	case a.CSV && err == nil:
		return p.csv(r.Rows)
	case a.CSV:
	case err == nil:
		return cli.Answer(p.out, r)
	case asked != nil:
		for i, o := range asked.Options {
			cli.Say(p.out, "%d. %s\n", i+1, o.Label)
			if o.SQL != "" {
				cli.Say(p.out, "%s\n", o.SQL)
			}
			if o.Rows != nil {
				if err := o.Rows.WriteTable(p.out); err != nil {
					return err
				}
			}
			fmt.Fprintln(p.out)
		}
		fmt.Fprintln(p.out, `Ask again in words that say which is meant; "texttosql talk" lets you choose.`)
	case r != nil && r.SQL != "":
		cli.Say(p.err, "the best so far, confidence %.2f: %s\n", r.Confidence, r.SQL)
	}
	return nil
}

// csv writes rows. That some are missing is told on standard error, since the rows do not say it. A terminal is sent no
// character that it would obey; any other reader gets the values as they are.
func (p *program) csv(t *result.Table) error {
	if t.Truncated {
		cli.Say(p.err, "texttosql: these are the first %d rows: more are over the limit\n", len(t.Rows))
	}
	if !cli.IsTerminal(p.out) {
		return t.WriteCSV(p.out)
	}
	var text strings.Builder
	if err := t.WriteCSV(&text); err != nil {
		return err
	}
	cli.Say(p.out, "%s", text.String())
	return nil
}

// option is one answer to choose from, with its rows.
type option struct {
	session.Option
	Rows *result.Table `json:"rows,omitempty"`
}

// reply is what --json writes about a question.
type reply struct {
	Exit    int             `json:"exit"` // the exit code
	Error   string          `json:"error,omitempty"`
	Options []option        `json:"options,omitempty"` // to choose from, of exit 3
	Result  json.RawMessage `json:"result,omitempty"`  // a texttosql.Result with its rows and without its trace
}

func writeResult(p *program, r *texttosql.Result, asked *session.QuestionError, err error) error {
	told := reply{Exit: exitCode(err)}
	if err != nil {
		told.Error = p.line(err)
	}
	if asked != nil {
		for _, o := range asked.Options {
			told.Options = append(told.Options, option{o, o.Rows})
		}
	}
	if r != nil {
		short := *r
		short.Trace = nil
		var err error
		if told.Result, err = short.MarshalWithRows(); err != nil {
			return err
		}
	}
	return p.json(told)
}

// json writes one line. Characters that a terminal would obey are escaped.
func (p *program) json(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	line := text.Bytes()[:text.Len()-1]
	if bytes.ContainsFunc(line, words.Hidden) {
		var safe []byte
		for _, r := range string(line) {
			if words.Hidden(r) {
				safe = words.AppendEscape(safe, r)
			} else {
				safe = utf8.AppendRune(safe, r)
			}
		}
		line = safe
	}
	_, err := p.out.Write(append(line, '\n'))
	return err
}
