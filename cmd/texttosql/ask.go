package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// ask is the verb of one question.
type ask struct {
	setup.Asking `embed:""`
	output       `embed:"" group:"The output"`
	Evidence     string   `placeholder:"TEXT" help:"Knowledge that belongs to the question: what a word means, how a figure is computed."`
	Trace        string   `placeholder:"FILE" help:"Write a page about the answer to this HTML file."`
	TraceRows    bool     `help:"Let the page show rows of the result."`
	Why          bool     `help:"Say what the confidence is made of."`
	Choose       bool     `short:"i" help:"Choose here where the answers disagree, instead of asking again in other words."`
	ShowPrompts  bool     `help:"Write what the model was sent to standard error."`
	ShowReplies  bool     `help:"Write what the model replied to standard error."`
	Log          bool     `default:"true" negatable:"" help:"Keep question, statement and cost of the answer, and no rows, for texttosql log and last; default: keep them."`
	Question     []string `arg:"" optional:"" help:"The question; without it, or for -, standard input is read."`
}

// Help is the part of --help below the flags.
func (ask) Help() string {
	return `Examples:

  texttosql ask --db shop.db --model openai:gpt-4o-mini \
    "Which customers never ordered?"
  texttosql ask --csv -o never.csv "Which customers never ordered?"
  echo "Which customers never ordered?" | texttosql ask --profile prod

"texttosql list" lists strategies and models, "texttosql config" the settings in force.

` + exitHelp
}

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
	question, err := p.question(a.Question)
	if err != nil {
		return err
	}
	file, err := a.begin(a.DSN(p.getenv))
	if err != nil {
		return err
	}
	defer file.Discard()
	var shown trace.Sensitivity
	if a.ShowPrompts {
		shown |= trace.PrivatePrompts
	}
	if a.ShowReplies {
		shown |= trace.PrivateReplies
	}
	e, err := a.Open(p.ctx, p.getenv, nil, cli.Progress(p.err), texttosql.WithTraceContent(shown))
	if err != nil {
		return err
	}
	defer e.Close()
	r, err := a.asked(p, e, question)
	if r != nil && shown != 0 {
		p.show(r.Trace)
	}
	if a.Log {
		if kerr := p.keep(e, r, a.Evidence, err); kerr != nil {
			cli.Say(p.err, "texttosql: the answer is not kept for the verbs log and last: %s\n", p.line(kerr))
		}
	}
	if werr := a.write(p, file, e.Dialect.Language().Text, r, err); werr != nil {
		return a.rescue(p, e.Dialect.Language().Text, r, err, werr)
	}
	if page != nil {
		if werr := cli.WritePage(page, r, err, a.TraceRows); werr != nil {
			return fmt.Errorf("--trace %s: %w", a.Trace, cli.PathlessError(werr))
		}
	}
	var asked *session.QuestionError
	switch {
	case err == nil:
		return a.cut(r.Rows)
	case errors.As(err, &asked) && !a.alone() && a.form() != "json":
		return &toldError{err}
	}
	return err
}

// question is what the arguments ask; standard input where they are missing and nobody sits there.
func (p *program) question(args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 0 {
		if in, ok := p.in.(io.Writer); ok && cli.IsTerminal(in) {
			return "", errNoQuestion
		}
		text = "-"
	}
	question, err := p.typed(text)
	if err == nil && len(args) == 0 && strings.TrimSpace(question) == "" {
		return "", errNoQuestion
	}
	return question, err
}

var errNoQuestion = &setup.UsageError{Err: errors.New("no question is asked: write it behind the verb, " +
	"or to standard input")}

// asked asks the question, and with --choose lets the person choose until there is an answer.
func (a *ask) asked(p *program, e *setup.Engine, question string) (*texttosql.Result, error) {
	if !a.Choose {
		return e.Ask(p.ctx, question, texttosql.WithEvidence(a.Evidence))
	}
	talk := e.NewConversation(&session.MemoryStore{})
	r, err := talk.Ask(p.ctx, question, texttosql.WithEvidence(a.Evidence))
	if stopped := (*session.InterruptedError)(nil); errors.As(err, &stopped) {
		err = stopped.Err // this conversation ends with the program
	}
	lines := bufio.NewScanner(p.in)
	for asked := (*session.QuestionError)(nil); errors.As(err, &asked); asked = nil {
		if werr := cli.Readings(p.err, e.Dialect.Language().Text, p.width(), asked); werr != nil {
			return r, werr
		}
		cli.Say(p.err, "Which one is meant? ")
		if !lines.Scan() {
			return r, err
		}
		id := strings.TrimSpace(lines.Text())
		if n, nerr := strconv.Atoi(id); nerr == nil && n >= 1 && n <= len(asked.Options) {
			id = asked.Options[n-1].ID
		}
		if _, known := asked.Option(id); !known {
			cli.Say(p.err, "%s is not one of them.\n", id)
			continue
		}
		before := r
		if r, err = talk.Choose(p.ctx, id); r != nil && before != nil {
			r.Usage = before.Usage.Add(r.Usage)
		}
	}
	return r, err
}

// show writes what was kept of prompts and replies, call by call.
func (p *program) show(root *trace.Span) {
	for span := range root.All() {
		sample, _ := span.Attr("sample")
		for _, what := range []string{"prompt", "reply"} {
			if kept, _ := span.Attr(what); kept != nil {
				if text, ok := kept.(trace.Secret); ok && !text.Withheld {
					cli.Say(p.err, "── %s of sample %v\n%s\n", what, sample, text.Text)
				}
			}
		}
	}
}

// write writes what is known: the answer, or what the user may choose from.
func (a *ask) write(p *program, file *atomicfile.File, dialect sqltext.Dialect, r *texttosql.Result, err error) error {
	var asked *session.QuestionError
	errors.As(err, &asked)
	switch {
	case a.form() == "json":
		return p.write(file, func(w io.Writer) error { return a.writeResult(p, w, r, asked, err) })
	case err == nil && a.alone():
		return p.write(file, func(w io.Writer) error { return a.rows(p, w, r.Rows) })
	case err == nil:
		return p.write(file, func(w io.Writer) error {
			look := p.look()
			look.Dialect, look.Why = dialect, a.Why
			return cli.Answer(w, r, look, func(t *result.Table) error { return a.rows(p, w, t) })
		})
	case a.alone():
	case asked != nil:
		if a.Choose {
			return nil // they are told
		}
		return p.write(nil, func(w io.Writer) error {
			if err := cli.Readings(w, dialect, p.width(), asked); err != nil {
				return err
			}
			_, err := fmt.Fprintln(w,
				textformat.Wrap("Say in the question which is meant, choose with -i, or take the first with --ask-below 0.",
					p.width()))
			return err
		})
	case r != nil && exitCode(err) != exitInterrupted:
		p.tried(r, err)
	}
	return nil
}

// rescue writes what could not be written where it belongs, since it is paid for: to standard output, else to standard
// error. It returns what was wrong with the first place.
func (a *ask) rescue(p *program, dialect sqltext.Dialect, r *texttosql.Result, err, failed error) error {
	again, out := *a, *p
	if again.Out = ""; again.form() == "xlsx" {
		again.Format = "csv"
	}
	out.getenv = func(string) string { return "" } // without PAGER
	if a.Out != "" {
		failed = fmt.Errorf("--out %s: %w", a.Out, cli.PathlessError(failed))
	} else if p.getenv("PAGER") == "" {
		out.out = p.err
	}
	cli.Say(p.err, "texttosql: the answer cannot be written where it belongs, so it follows here\n")
	if again.write(&out, nil, dialect, r, err) != nil {
		out.out = p.err
		failed = errors.Join(failed, again.write(&out, nil, dialect, r, err))
	}
	return failed
}

// tried writes the best answer so far, or up to three statements that were tried, and what they cost.
func (p *program) tried(r *texttosql.Result, err error) {
	if r.SQL != "" {
		cli.Say(p.err, "the best so far, confidence %.2f: %s\n", r.Confidence, r.SQL)
	} else {
		var all []string
		for _, c := range r.Candidates {
			if c.SQL != "" && !slices.Contains(all, c.SQL) {
				all = append(all, c.SQL)
			}
		}
		for _, sql := range all[:min(len(all), 3)] {
			cli.Say(p.err, "tried: %s\n", redact.Credentials(words.Line(sql)))
		}
		if len(all) == 0 && failure.Of(err).Class == failure.NoAnswer {
			cli.Say(p.err, "the model wrote no SQL; see its replies with --show-replies\n")
		}
	}
	if r.Usage.Calls > 0 {
		cli.Say(p.err, "%s\n", cli.Cost(r.Usage))
	}
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

func (o output) writeResult(p *program, w io.Writer, r *texttosql.Result, asked *session.QuestionError,
	err error) error {
	told := reply{Exit: exitCode(err)}
	if err == nil && r != nil {
		told.Exit = exitCode(o.cut(r.Rows))
	}
	if err != nil {
		told.Error = p.line(err)
	}
	if asked != nil {
		for _, choice := range asked.Options {
			told.Options = append(told.Options, option{choice, o.numbers(choice.Rows)})
		}
	}
	if r != nil {
		short := *r
		short.Trace, short.Rows = nil, o.numbers(r.Rows)
		var err error
		if told.Result, err = short.MarshalWithRows(); err != nil {
			return err
		}
	}
	return writeJSON(w, told)
}

// json writes one line to standard output.
func (p *program) json(v any) error { return writeJSON(p.out, v) }

// writeJSON writes one line. Characters that a terminal would obey are escaped.
func writeJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(append(escapeHidden(text.Bytes()[:text.Len()-1]), '\n'))
	return err
}

// escapeHidden escapes the characters of JSON that a terminal would obey.
func escapeHidden(line []byte) []byte {
	if !bytes.ContainsFunc(line, words.Hidden) {
		return line
	}
	var safe []byte
	for _, r := range string(line) {
		if words.Hidden(r) {
			safe = words.AppendEscape(safe, r)
		} else {
			safe = utf8.AppendRune(safe, r)
		}
	}
	return safe
}
