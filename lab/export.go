package main

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/training"
	"github.com/texttosql/texttosql/memory"
)

// exporting is the verb export.
type exporting struct {
	Data    string   `default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	DB      string   `name:"db" required:"" placeholder:"FILE|ID" help:"The SQLite file that the questions are about, or a database of --data."`
	Pairs   string   `required:"" placeholder:"FILE" help:"Solved questions: JSON lines, a JSON list or CSV, as run --questions reads them."`
	Against []string `placeholder:"FILE|NAME" help:"Questions of an evaluation, files or datasets of --data: no pair may give one of them away."`
	Pool    string   `placeholder:"FILE" help:"Solved questions to take exemplars from; none: those of --pairs."`
	K       int      `name:"k" placeholder:"N" help:"Exemplars in each prompt: as many as the adapter will be asked with."`
	Seed    int64    `placeholder:"N" help:"Seed of their choice."`
	Out     string   `required:"" placeholder:"FILE" help:"The file to write; NAME.manifest.json stands beside NAME.jsonl."`
	access  `embed:""`
	JSON    bool `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains the file and the keys.
func (exporting) Help() string {
	return `Each pair becomes a line of chat: the messages that strategy direct sends, and the statement. lab/finetune
trains an adapter on it. Give the adapter's server to run --model, and the manifest to run --manifest.

JSON: a line for each pair that is left out
  line, id, reason, detail
with the line of --pairs and a reason of not_utf8, empty, too_long, not_select, duplicate, same_question,
question_template, sql_template, does_not_execute; and the manifest as the last line.`
}

// Run writes the file.
func (x *exporting) Run(p *program) error {
	path := x.DB
	if !isFile(path) {
		folder, err := pools.OpenFolder(x.Data)
		if err != nil {
			return fmt.Errorf("--db %s is no file, and %w", x.DB, err)
		}
		if path, err = folder.Database(x.DB); err != nil {
			return err
		}
	}
	pairs, places, err := x.read(p, x.Pairs)
	if err != nil {
		return err
	}
	config := training.Config{K: x.K, Pool: pairs}
	if x.Pool != "" {
		if config.Pool, _, err = x.read(p, x.Pool); err != nil {
			return err
		}
	}
	for _, name := range x.Against {
		list, _, err := x.read(p, name)
		if err != nil {
			return err
		}
		config.Against = append(config.Against, list...)
	}
	handle, err := x.open(path)
	if err != nil {
		return err
	}
	defer handle.Close()
	exporter, err := training.NewExporter(p.ctx, handle, append(x.options(), texttosql.WithSeed(x.Seed))...)
	if err != nil {
		return err
	}
	report, err := exporter.Export(p.ctx, x.Out, pairs, config)
	dropped := [][]string{}
	for i, d := range report.Dropped {
		report.Dropped[i].Line = places[d.Line-1]
		dropped = append(dropped, []string{strconv.Itoa(report.Dropped[i].Line), d.ID, d.Reason, d.Detail})
	}
	if x.JSON {
		told := jsonLines(p.out, report.Dropped)
		if err == nil {
			err = jsonLines(p.out, []training.Manifest{report.Manifest})
		}
		return cmp.Or(told, err)
	}
	if len(dropped) > 0 {
		if err := table(p.out, []string{"line", "id", "left out", ""}, dropped); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	m := report.Manifest
	fmt.Fprintf(p.out, "%s: %d of %d pairs, %d exemplars a prompt of %d, prompt %.12s\n", x.Out, m.Kept, len(pairs), m.K,
		m.Exemplars, m.PromptHash)
	return nil
}

// read reads solved questions, and the line of each.
func (x *exporting) read(p *program, name string) (pairs []memory.Exemplar, lines []int, err error) {
	read := eval.ReadDataset
	if !isFile(name) && x.Data != "" {
		folder, err := pools.OpenFolder(x.Data)
		if err != nil {
			return nil, nil, err
		}
		read = folder.Dataset
	}
	dataset, err := readDataset(p, read, name)
	if err != nil {
		return nil, nil, err
	}
	for _, q := range dataset.Questions {
		pairs = append(pairs, memory.Exemplar{ID: q.ID, Question: q.Text, Evidence: q.Evidence, SQL: q.Gold})
		lines = append(lines, q.Line)
	}
	return pairs, lines, nil
}
