package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// link is the verb link.
type link struct {
	Data    string `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Dataset string `required:"" placeholder:"NAME" help:"Dataset to link."`
	PreSQL  string `name:"presql" placeholder:"POOL" help:"Pool whose answers are the preliminary SQL, each run in turn."`
	Columns bool   `help:"Prune columns too."`
	JSON    bool   `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains words and keys.
func (link) Help() string {
	return `Compares what linkers keep of a schema with what the golds read, both as the engine says.

Linkers:
  lexical  words of the question (linker.Lexical)
  presql   what a preliminary statement reads, alone (linker.PreSQL)
  union    that, widened, with names and stored values of the question (linker.PreSQL{Wide: true})
Links are closed under foreign keys. Without --presql only lexical is there. A pool of several runs
gives several preliminary statements to a question: each figure is then the median over runs. A
question with fewer statements than others begins again with its first.

JSON: a line for each linker and database, and one with "db": "all".
  n                  questions whose gold the engine reads
  table_recall       share of the gold's tables kept, mean over questions; table_precision of the kept
                     ones that the gold reads
  table_full         share of questions with all tables kept; column_recall, column_full alike
  tokens_kept        estimated tokens of the schema in the prompt (REp, with values) ÷ those of the whole
  tokens_kept_large  the same over databases of five tables or more; only in the line "all"
  runs               preliminary statements a question`
}

// linkLine holds the figures of a linker on one database.
type linkLine struct {
	Dataset        string   `json:"dataset"`
	DB             string   `json:"db"`
	Linker         string   `json:"linker"`
	N              int      `json:"n"`
	Runs           int      `json:"runs"`
	TableRecall    float64  `json:"table_recall"`
	TableFull      float64  `json:"table_full"`
	TablePrecision float64  `json:"table_precision"`
	ColumnRecall   float64  `json:"column_recall"`
	ColumnFull     float64  `json:"column_full"`
	TokensKept     float64  `json:"tokens_kept"`
	TokensLarge    *float64 `json:"tokens_kept_large,omitempty"`
}

// Run links the questions.
func (l *link) Run(p *program) error {
	folder, dataset, err := openDataset(p, l.Data, l.Dataset)
	if err != nil {
		return err
	}
	drafts, runs := map[string][]string{}, 0
	if l.PreSQL != "" {
		pool, err := folder.Pool(l.PreSQL)
		if err != nil {
			return err
		}
		if pool.Dataset.Name != dataset.Name { // equal ids may belong to other questions
			return fmt.Errorf("pool %s answers the questions of %s, not of %s", l.PreSQL, pool.Dataset.Name, dataset.Name)
		}
		for i, q := range pool.Questions {
			for _, a := range pool.Answers[i] {
				drafts[q.ID] = append(drafts[q.ID], a.SQL)
			}
			runs = max(runs, len(drafts[q.ID]))
		}
	}
	databases := databases{folder: folder}
	defer databases.close()
	questions, faults, err := l.questions(p.ctx, &databases, dataset, drafts)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		p.note("%s: left out: %d of %d questions", dataset.Name, len(faults), len(dataset.Questions))
		p.tellFaults(faults, datasetFile(folder, l.Dataset))
	}
	if len(questions) == 0 {
		return errors.New("no question of the dataset has a database whose engine reads its gold")
	}
	bar := newProgress(p.err, "linking", max(runs, 1))
	var lines []linkLine
	for _, name := range []string{"lexical", "presql", "union"} {
		if name != "lexical" && runs == 0 {
			continue
		}
		n := runs
		if name == "lexical" {
			n = 1
		}
		measured := make([]map[string]*linkSum, n)
		for run := range n {
			if measured[run], err = l.measure(p.ctx, questions, name, run); err != nil {
				bar.done()
				return err
			}
			bar.step(2*runs + 1)
		}
		lines = append(lines, l.lines(name, measured)...)
	}
	bar.done()
	if l.JSON {
		return jsonLines(p.out, lines)
	}
	return table(p.out, []string{"db", "linker", "n", "tables", "all", "precise", "columns", "all", "tokens kept", "of 5 tables on"}, linkRows(lines))
}

// linked is one question with the tables and columns that its gold reads.
type linked struct {
	eval.Question
	env     *strategy.Env
	tables  map[string]bool
	columns map[string]bool
	values  schema.Links
	drafts  []string
	full    int // tokens of the prompt with the whole schema
}

// questions reads the golds' tables and columns. A gold that cannot be read is a fault.
func (l *link) questions(ctx context.Context, databases *databases, dataset *eval.Dataset, drafts map[string][]string) (list []*linked, faults []eval.Verdict, err error) {
	for _, q := range dataset.Questions {
		env, err := databases.env(ctx, q.DB)
		var analysis exec.Analysis
		if err == nil && l.PreSQL != "" && len(drafts[q.ID]) == 0 {
			err = fmt.Errorf("pool %s has no answer", l.PreSQL)
		}
		if err == nil {
			if analysis, err = env.DB.Analyze(ctx, q.Gold); err != nil {
				err = fmt.Errorf("the engine does not read the gold: %w", err)
			}
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			faults = append(faults, eval.Verdict{Question: q, Fault: err.Error()})
			continue
		}
		x := &linked{Question: q, env: env, tables: map[string]bool{}, columns: map[string]bool{}, drafts: drafts[q.ID]}
		for _, read := range analysis.Tables {
			if t, ok := env.Schema.Lookup("", read.Table); ok {
				x.tables[t.Name] = true
				for _, c := range read.Columns {
					x.columns[t.Name+"."+c] = true
				}
			}
		}
		if x.values, err = (linker.Values{Choose: true}).Link(ctx, x.input()); err != nil {
			return nil, nil, err
		}
		if x.full, err = x.tokens(ctx, env.Schema); err != nil {
			return nil, nil, err
		}
		list = append(list, x)
	}
	return list, faults, nil
}

func (x *linked) input() linker.Input {
	return linker.Input{Question: x.Text, Evidence: x.Evidence, Schema: x.env.Schema, DB: x.env.DB}
}

// tokens estimates the length of s in a prompt.
func (x *linked) tokens(ctx context.Context, s *schema.Schema) (int, error) {
	with, err := x.prompt(ctx, s)
	if err != nil {
		return 0, err
	}
	without, err := x.prompt(ctx, &schema.Schema{Dialect: s.Dialect})
	return with - without, err
}

func (x *linked) prompt(ctx context.Context, s *schema.Schema) (int, error) {
	messages, err := petsql.REp{MaxTokens: 1 << 30}.Prompt(ctx, x.env, strategy.PromptInput{
		Task: strategy.Task{Question: x.Text, Evidence: x.Evidence}, Schema: s,
	})
	n := 0
	for _, m := range messages {
		n += schema.EstimateTokens(m.Text)
	}
	return n, err
}

// links asks one linker. The values were looked up before, once for all runs.
func (l *link) links(ctx context.Context, x *linked, name string, run int) (schema.Links, error) {
	draft := func() string { return x.drafts[run%len(x.drafts)] }
	switch name {
	case "lexical":
		return linker.Lexical{Columns: l.Columns}.Link(ctx, x.input())
	case "presql":
		return linker.PreSQL{Columns: l.Columns, With: linker.Union{}}.Read(ctx, x.input(), draft())
	default:
		values := linker.Func(func(context.Context, linker.Input) (schema.Links, error) { return x.values, nil })
		return linker.PreSQL{Columns: l.Columns, Wide: true, With: linker.Union{linker.Names{}, values}}.Read(ctx, x.input(), draft())
	}
}

// linkSum adds up the figures of questions.
type linkSum struct {
	n                                                                int
	tableRecall, tableFull, tablePrecision, columnRecall, columnFull float64
	kept, full, keptLarge, fullLarge                                 float64
}

// measure links every question of one run and sums by database, and by "all".
func (l *link) measure(ctx context.Context, questions []*linked, name string, run int) (map[string]*linkSum, error) {
	sums := map[string]*linkSum{"all": {}}
	for _, x := range questions {
		links, err := l.links(ctx, x, name, run)
		if err != nil {
			return nil, err
		}
		s, _ := x.env.Schema.Restrict(links)
		tokens, err := x.tokens(ctx, s)
		if err != nil {
			return nil, err
		}
		tables, columns := 0, 0
		for _, t := range s.Tables {
			if x.tables[t.Name] {
				tables++
			}
			for _, c := range t.Columns {
				if x.columns[t.Name+"."+c.Name] {
					columns++
				}
			}
		}
		if sums[x.DB] == nil {
			sums[x.DB] = &linkSum{}
		}
		for _, sum := range []*linkSum{sums[x.DB], sums["all"]} {
			sum.n++
			sum.tableRecall += part(tables, len(x.tables))
			sum.tableFull += whole(tables, len(x.tables))
			sum.tablePrecision += part(tables, len(s.Tables))
			sum.columnRecall += part(columns, len(x.columns))
			sum.columnFull += whole(columns, len(x.columns))
			sum.kept, sum.full = sum.kept+float64(tokens), sum.full+float64(x.full)
			if len(x.env.Schema.Tables) >= 5 {
				sum.keptLarge, sum.fullLarge = sum.keptLarge+float64(tokens), sum.fullLarge+float64(x.full)
			}
		}
	}
	return sums, nil
}

func part(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func whole(a, b int) float64 {
	if a == b {
		return 1
	}
	return 0
}

// lines returns the medians over runs by database, "all" last.
func (l *link) lines(name string, runs []map[string]*linkSum) []linkLine {
	var databases []string
	for db := range runs[0] {
		if db != "all" {
			databases = append(databases, db)
		}
	}
	slices.Sort(databases)
	var lines []linkLine
	for _, db := range append(databases, "all") {
		middle := func(f func(*linkSum) float64) float64 {
			figures := make([]float64, len(runs))
			for i := range runs {
				figures[i] = f(runs[i][db])
			}
			slices.Sort(figures)
			n := len(figures)
			return (figures[(n-1)/2] + figures[n/2]) / 2
		}
		mean := func(f func(*linkSum) float64) float64 {
			return middle(func(s *linkSum) float64 { return f(s) / float64(s.n) })
		}
		line := linkLine{
			Dataset: l.Dataset, DB: db, Linker: name, N: runs[0][db].n, Runs: len(runs),
			TableRecall:    mean(func(s *linkSum) float64 { return s.tableRecall }),
			TableFull:      mean(func(s *linkSum) float64 { return s.tableFull }),
			TablePrecision: mean(func(s *linkSum) float64 { return s.tablePrecision }),
			ColumnRecall:   mean(func(s *linkSum) float64 { return s.columnRecall }),
			ColumnFull:     mean(func(s *linkSum) float64 { return s.columnFull }),
			TokensKept:     middle(func(s *linkSum) float64 { return s.kept / s.full }),
		}
		if db == "all" && runs[0][db].fullLarge > 0 {
			large := middle(func(s *linkSum) float64 { return s.keptLarge / s.fullLarge })
			line.TokensLarge = &large
		}
		lines = append(lines, line)
	}
	return lines
}

func linkRows(lines []linkLine) (rows [][]string) {
	for _, l := range lines {
		large := "–"
		if l.TokensLarge != nil {
			large = share(*l.TokensLarge)
		}
		rows = append(rows, []string{
			l.DB, l.Linker, strconv.Itoa(l.N), share(l.TableRecall), share(l.TableFull), share(l.TablePrecision),
			share(l.ColumnRecall), share(l.ColumnFull), share(l.TokensKept), large,
		})
	}
	return rows
}
