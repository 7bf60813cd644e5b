package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/xlsx"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// output are the flags that say how rows are written, and where.
type output struct {
	Format   string `short:"f" enum:"table,vertical,markdown,csv,tsv,json,jsonl,xlsx" default:"table" help:"table, vertical, markdown, csv, tsv, json, jsonl (an object a row) or xlsx (a workbook, with --out); default: table."`
	JSON     bool   `name:"json" xor:"form" help:"As --format json: one object, with the error if there is one."`
	CSV      bool   `name:"csv" xor:"form" help:"As --format csv: the rows and nothing else. A field such as =1+1 stays a formula to a spreadsheet."`
	Vertical bool   `xor:"form" help:"As --format vertical: a line a value."`
	Types    bool   `help:"Write the types of the columns under their names, in a table."`
	BOM      bool   `name:"bom" help:"Begin CSV with a byte order mark, by which Excel on Windows knows that it is UTF-8."`
	Escape   bool   `name:"escape-formulas" help:"Put ' in front of a CSV or TSV field that a spreadsheet would take for a formula."`
	Decimals bool   `name:"decimal-text" help:"Write decimals as texts in json and jsonl, for readers that make a float of every number."`
	BigInts  bool   `name:"big-int-text" help:"Write integers beyond 2^53 as texts in json and jsonl, for readers such as JavaScript."`
	Out      string `short:"o" placeholder:"FILE" help:"Write to this file, as a whole or not at all."`
}

// form is the format that the flags name.
func (o output) form() string {
	switch {
	case o.JSON:
		return "json"
	case o.CSV:
		return "csv"
	case o.Vertical:
		return "vertical"
	}
	return o.Format
}

// read reports whether the format is for a person, who sees in it how many rows there are.
func (o output) read() bool { return o.form() == "table" || o.form() == "vertical" }

// alone reports whether the format holds rows and nothing else.
func (o output) alone() bool {
	return !o.read() && o.form() != "json"
}

// begin begins the file of --out, before anything costs money: nil without one. db is the database, which stays.
func (o output) begin(db string) (*atomicfile.File, error) {
	if o.Out == "" && o.form() == "xlsx" {
		return nil, &setup.UsageError{Err: errors.New("--format xlsx writes a file: name it with --out")}
	}
	if o.Out == "" {
		return nil, nil
	}
	file, err := cli.Page("--out", o.Out, db)
	if err != nil {
		return nil, &setup.UsageError{Err: err}
	}
	return file, nil
}

// write writes what f writes: to the file if there is one, else to the terminal, through PAGER where it is longer than
// the screen.
func (p *program) write(file *atomicfile.File, f func(w io.Writer) error) error {
	if file != nil {
		if err := f(file); err != nil {
			return err
		}
		return file.Commit()
	}
	var text bytes.Buffer
	if err := f(&text); err != nil {
		return err
	}
	pager := p.getenv("PAGER")
	if _, height := sizeOf(p.out); height == 0 || pager == "" || bytes.Count(text.Bytes(), []byte("\n")) < height {
		_, err := p.out.Write(text.Bytes())
		return err
	}
	c := exec.CommandContext(p.ctx, "sh", "-c", pager)
	c.Stdin, c.Stdout, c.Stderr, c.Env = &text, p.out, p.err, append(os.Environ(), "LESS=FRX"+p.getenv("LESS"))
	if err := c.Run(); err != nil {
		return fmt.Errorf("PAGER %q: %w", pager, err)
	}
	return nil
}

// width is that of the terminal that standard output is; 0: it is none.
func (p *program) width() int {
	width, _ := sizeOf(p.out)
	return width
}

// sizeOf is the size of the terminal that w is; 0, 0: it is none.
func sizeOf(w io.Writer) (width, height int) {
	if f, ok := w.(*os.File); ok && cli.IsTerminal(f) {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			return width, height
		}
	}
	return 0, 0
}

// paint wraps a text in a colour of a terminal, where there is one and nobody forbids it (NO_COLOR).
func (p *program) paint(colour int, text string) string {
	if p.width() == 0 || p.getenv("NO_COLOR") != "" || p.getenv("TERM") == "dumb" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}

// The colours.
const (
	red    = 31
	yellow = 33
	cyan   = 36
)

// look are the colours of an answer.
func (p *program) look() cli.Look {
	return cli.Look{
		Width: p.width(), SQL: func(text string) string { return p.paint(cyan, text) },
		Confidence: func(text string) string { return p.paint(yellow, text) },
	}
}

// rows writes a table. That some are missing is told on standard error where the rows do not say it. A terminal is sent
// no character that it would obey; any other reader gets the values of CSV and TSV as they are.
func (o output) rows(p *program, w io.Writer, t *result.Table) error {
	if t = o.numbers(t); o.form() != "csv" { // WriteCSV shows values itself
		t = t.Shown()
	}
	if t.Truncated && !o.read() {
		cli.Say(p.err, "texttosql: only the first %d %s: %s\n", len(t.Rows), words.Plural("row", len(t.Rows)), limitOf(t))
	}
	width := p.width()
	switch o.form() {
	case "csv":
		if o.BOM {
			if _, err := io.WriteString(w, textformat.BOM); err != nil {
				return err
			}
		}
		return clean(w, width > 0 && o.Out == "", o.guarded(t).WriteCSV)
	case "tsv":
		return clean(w, width > 0 && o.Out == "", o.guarded(t).writeTSV)
	case "markdown":
		return textformat.Markdown(w, t)
	case "jsonl":
		return p.jsonLines(w, t)
	case "xlsx":
		return xlsx.WriteTable(w, t)
	case "vertical":
		return writeVertical(w, t)
	}
	if o.Out != "" {
		width = 0
	}
	return textformat.Within(w, t, width, "--vertical or --csv has all", o.Types)
}

// mostExact is the largest integer up to which a float64 holds every integer.
const mostExact = 1 << 53

// numbers returns the table, with the numbers that a flag says as texts where the form is of JSON.
func (o output) numbers(t *result.Table) *result.Table {
	if t == nil || !o.Decimals && !o.BigInts || !strings.HasPrefix(o.form(), "json") {
		return t
	}
	t = t.Shown()
	with := *t
	with.Rows = make([][]any, len(t.Rows))
	for i, row := range t.Rows {
		with.Rows[i] = slices.Clone(row)
		for j, v := range row {
			switch v := v.(type) {
			case result.Decimal:
				whole := !strings.ContainsAny(string(v), ".eE") // of more than 64 bits
				if o.Decimals || o.BigInts && whole {
					with.Rows[i][j] = string(v)
				}
			case int64:
				if o.BigInts && (v > mostExact || v < -mostExact) {
					with.Rows[i][j] = strconv.FormatInt(v, 10)
				}
			}
		}
	}
	return &with
}

// limitOf names the limit that cut a table, and what raises it.
func limitOf(t *result.Table) string {
	if t.TooLarge {
		return "the others are over the limit on bytes (Answer.Bytes in the file of --limits raises it); sql --all writes all"
	}
	return "--rows sets how many; sql --all writes all"
}

// streams reports whether rows can be written in this form one after the other.
func (o output) streams() bool {
	return slices.Contains([]string{"csv", "tsv", "jsonl", "xlsx"}, o.form())
}

// stream writes the rows of a stream as rows does those of a table.
func (o output) stream(p *program, file *atomicfile.File, rows *result.Stream) (err error) {
	if p.getenv("GOGC") == "" { // a stream keeps some MB and makes much garbage
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	out := p.out
	if file != nil {
		out = file
	}
	if o.form() == "xlsx" {
		err = xlsx.Write(out, rows)
	} else {
		var text bytes.Buffer
		err = textformat.Stream(out, rows, "", "", func(t *result.Table) ([]byte, error) {
			text.Reset()
			err := o.rows(p, &text, t)
			return text.Bytes(), err
		})
	}
	if err == nil && file != nil {
		err = file.Commit()
	}
	return err
}

// clean takes out what a terminal would obey, if w is one.
func clean(w io.Writer, terminal bool, write func(io.Writer) error) error {
	if !terminal {
		return write(w)
	}
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	cli.Say(w, "%s", text.String())
	return nil
}

// fields is a table whose texts are written as they are.
type fields struct{ *result.Table }

// guarded returns the table, with formulas escaped where the flag says so.
func (o output) guarded(t *result.Table) fields {
	if !o.Escape {
		return fields{t}
	}
	return fields{textformat.Escaped(t)}
}

// plain are the characters that separate fields, as PostgreSQL's COPY and MySQL's LOAD DATA read them.
var plain = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// writeTSV writes a line a row, its fields apart by tabs, NULL as \N.
func (t fields) writeTSV(w io.Writer) error {
	var b strings.Builder
	for i, name := range t.Columns {
		b.WriteString(tab(i) + plain.Replace(name))
	}
	b.WriteByte('\n')
	for _, row := range t.Rows {
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				b.WriteString(tab(i) + `\N`)
			case []byte:
				fmt.Fprintf(&b, "%sX'%x'", tab(i), v)
			case float64:
				b.WriteString(tab(i) + words.Float(v, 1e-6, 1e15))
			default:
				b.WriteString(tab(i) + plain.Replace(fmt.Sprint(v)))
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tab(i int) string {
	if i == 0 {
		return ""
	}
	return "\t"
}

// writeVertical writes a line a value, under a line a row.
func writeVertical(w io.Writer, t *result.Table) error {
	var b strings.Builder
	for n, row := range t.Rows {
		fmt.Fprintf(&b, "-[ row %d ]-\n", n+1)
		for i, v := range row {
			var of result.Type
			if i < len(t.Types) {
				of = t.Types[i]
			}
			fmt.Fprintf(&b, "%s: %s\n", words.Line(t.Columns[i]), of.Format(v))
		}
	}
	tail := &result.Table{Rows: make([][]any, len(t.Rows)), Truncated: t.Truncated}
	if err := tail.WriteTable(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// keysOf are the names of columns, each once: one that comes again gets a number behind it that makes no name of
// another column.
func keysOf(columns []string) []string {
	keys, taken := make([]string, len(columns)), map[string]bool{}
	for _, name := range columns {
		taken[name] = true
	}
	seen := map[string]bool{}
	for i, name := range columns {
		key := name
		for n := 2; seen[key] || key != name && taken[key]; n++ {
			key = fmt.Sprintf("%s_%d", name, n)
		}
		seen[key], keys[i] = true, key
	}
	return keys
}

// jsonLines writes an object a row. A name that a row has twice gets a number behind it.
func (p *program) jsonLines(w io.Writer, t *result.Table) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var cells struct{ Rows [][]json.RawMessage }
	if err := json.Unmarshal(text, &cells); err != nil {
		return err
	}
	names := make([]string, len(t.Columns))
	for i, name := range keysOf(t.Columns) {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		names[i] = string(key)
	}
	for _, row := range cells.Rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(strings.Replace(tab(i), "\t", ",", 1) + names[i] + ":" + string(cell))
		}
		if _, err := w.Write(append(escapeHidden([]byte("{"+b.String()+"}")), '\n')); err != nil {
			return err
		}
	}
	return nil
}
