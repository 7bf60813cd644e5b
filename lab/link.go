package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// link is the verb link.
type link struct {
	Data     string `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Dataset  string `required:"" placeholder:"NAME" help:"Dataset to link."`
	PreSQL   string `name:"presql" xor:"pool" placeholder:"POOL" help:"Pool whose answers are the preliminary SQL, each run in turn."`
	Verdicts string `placeholder:"POOL" xor:"pool" help:"Pool whose answers simulate the verdicts of mapreduce, each run in turn."`
	Columns  bool   `help:"Prune columns too."`
	JSON     bool   `name:"json" help:"JSON lines instead of a table."`
	onServer `embed:""`
}

// Help is the part of --help that explains words and keys.
func (link) Help() string {
	return `Compares what linkers keep of a schema with what the golds read, both as the engine says.

Linkers:
  lexical            words of the question (linker.Lexical)
  mapreduce-lexical  words and stored values of the question (linker.MapReduce{LexicalOnly: true})
  presql             what a preliminary statement reads, alone (linker.PreSQL); with --presql
  union              that, widened, with names and stored values of the question
                     (linker.PreSQL{Wide: true}); with --presql
  mapreduce          verdicts on each table (linker.MapReduce); with --verdicts. They are simulated:
                     a table is relevant, with the columns read, if a recorded answer reads it, as
                     the engine says, or the text of an answer that the engine rejects. The
                     question is its only component
Links are closed under foreign keys. A pool of several runs gives several answers to a question:
each figure is then the median over runs. A question with fewer answers than others begins again
with its first.

JSON: a line for each linker and database, and one with "db": "all".
  n                  questions whose gold the engine reads
  table_recall       share of the gold's tables kept, mean over questions; table_precision of the kept
                     ones that the gold reads
  table_full         share of questions with all tables kept; column_recall, column_full alike
  tables_kept        tables kept ÷ tables of the schemas, summed over questions
  tokens_kept        estimated tokens of the schema in the prompt (REp, with values) ÷ those of the whole
  tokens_kept_large  the same over databases of five tables or more; only in the line "all"
  runs               recorded answers a question`
}

// pool is the pool whose answers are linked; "": none.
func (l *link) pool() string { return cmp.Or(l.PreSQL, l.Verdicts) }

// linkers names the linkers that are compared.
func (l *link) linkers() []string {
	names := []string{"lexical", "mapreduce-lexical"}
	switch {
	case l.PreSQL != "":
		names = append(names, "presql", "union")
	case l.Verdicts != "":
		names = append(names, "mapreduce")
	}
	return names
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
	TablesKept     float64  `json:"tables_kept"`
	TokensKept     float64  `json:"tokens_kept"`
	TokensLarge    *float64 `json:"tokens_kept_large,omitempty"`
}

// Run links the questions.
func (l *link) Run(p *program) error {
	if err := l.check(); err != nil {
		return err
	}
	folder, dataset, err := openDataset(p, l.Data, l.Dataset)
	if err != nil {
		return err
	}
	drafts, runs := map[string][]string{}, 0
	if l.pool() != "" {
		pool, err := folder.Pool(l.pool())
		if err != nil {
			return err
		}
		if pool.Dataset.Name != dataset.Name { // equal ids may belong to other questions
			return fmt.Errorf("pool %s answers the questions of %s, not of %s", l.pool(), pool.Dataset.Name, dataset.Name)
		}
		for i, q := range pool.Questions {
			for _, a := range pool.Answers[i] {
				drafts[q.ID] = append(drafts[q.ID], a.SQL)
			}
			runs = max(runs, len(drafts[q.ID]))
		}
	}
	databases := databases{folder: folder, on: l.onServer}
	defer databases.close()
	questions, err := l.questions(p, folder, &databases, dataset, drafts)
	if err != nil {
		return err
	}
	if len(questions) == 0 {
		return errors.New("no question of the dataset has a database whose engine reads its gold")
	}
	bar := newProgress(p.err, "linking", max(runs, 1))
	var lines []linkLine
	names := l.linkers()
	for _, name := range names {
		n := runs
		if name == "lexical" || name == "mapreduce-lexical" {
			n = 1
		}
		measured := make([]map[string]*linkSum, n)
		for run := range n {
			if measured[run], err = l.measure(p.ctx, questions, name, run); err != nil {
				bar.done()
				return err
			}
			bar.step(2 + (len(names)-2)*runs)
		}
		lines = append(lines, l.lines(name, measured)...)
	}
	bar.done()
	if l.JSON {
		return jsonLines(p.out, lines)
	}
	return table(p.out, []string{"db", "linker", "n", "tables", "all", "precise", "columns", "all", "tables kept",
		"tokens kept", "of 5 tables on"}, linkRows(lines))
}

// linked is one question with the tables and columns that its gold reads.
type linked struct {
	eval.Question
	env     *strategy.Env
	tables  map[string]bool
	columns map[string]bool
	values  schema.Links
	drafts  []string
	full    int                 // tokens of the prompt with the whole schema
	known   map[string]linkKept // by linker and draft: most runs agree on most statements
}

// linkKept is what a linker keeps of a schema.
type linkKept struct {
	tables, columns int // of those that the gold reads
	shown, tokens   int // tables, and tokens of the prompt
}

// questions reads the golds' tables and columns. A gold that cannot be read is told, and left out.
func (l *link) questions(p *program, folder *pools.Folder, databases *databases, dataset *eval.Dataset,
	drafts map[string][]string) (list []*linked, err error) {
	ctx := p.ctx
	var faults []eval.Verdict
	for _, q := range dataset.Questions {
		env, err := databases.env(ctx, q.DB)
		var analysis exec.Analysis
		if err == nil && l.pool() != "" && len(drafts[q.ID]) == 0 {
			err = fmt.Errorf("pool %s has no answer", l.pool())
		}
		if err == nil {
			if analysis, err = env.DB.Analyze(ctx, q.Gold); err != nil {
				err = fmt.Errorf("the engine does not read the gold: %w", err)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			faults = append(faults, eval.Verdict{Question: q, Fault: err.Error()})
			continue
		}
		x := &linked{Question: q, env: env, tables: map[string]bool{}, columns: map[string]bool{}, drafts: drafts[q.ID],
			known: map[string]linkKept{}}
		for _, read := range analysis.Tables {
			if t, ok := env.Schema.Lookup("", read.Table); ok {
				x.tables[t.Name] = true
				for _, c := range read.Columns {
					x.columns[t.Name+"."+c] = true
				}
			}
		}
		if x.values, err = (linker.Values{Choose: true}).Link(ctx, x.input()); err != nil {
			return nil, err
		}
		if x.full, err = x.tokens(ctx, env.Schema); err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	if len(faults) > 0 {
		p.note("%s: left out: %d of %d questions", dataset.Name, len(faults), len(dataset.Questions))
		p.tellFaults(faults, datasetFile(folder, l.Dataset))
	}
	return list, nil
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
		n += prompttext.EstimateTokens(m.Text)
	}
	return n, err
}

// links asks one linker. The values were looked up before, once for all runs.
func (l *link) links(ctx context.Context, x *linked, name, draft string) (schema.Links, error) {
	switch name {
	case "lexical":
		return linker.Lexical{Columns: l.Columns}.Link(ctx, x.input())
	case "presql":
		return linker.PreSQL{Columns: l.Columns, With: linker.Union{}}.Read(ctx, x.input(), draft)
	case "mapreduce-lexical":
		links, err := linker.MapReduce{LexicalOnly: true}.Link(ctx, x.input())
		return l.chosen(links), err
	case "mapreduce":
		model, err := x.verdicts(ctx, draft)
		if err != nil {
			return schema.Links{}, err
		}
		links, err := linker.MapReduce{Model: model}.Link(ctx, x.input())
		return l.chosen(links), err
	default:
		values := linker.Func(func(context.Context, linker.Input) (schema.Links, error) { return x.values, nil })
		return linker.PreSQL{Columns: l.Columns, Wide: true, With: linker.Union{linker.Names{}, values}}.Read(ctx, x.input(),
			draft)
	}
}

// chosen leaves out the columns of links unless they are pruned too.
func (l *link) chosen(links schema.Links) schema.Links {
	links.Tables = slices.Clone(links.Tables)
	for i := range links.Tables {
		if !l.Columns {
			links.Tables[i].Columns = nil
		}
	}
	return links
}

// linkSum adds up the figures of questions.
type linkSum struct {
	n                                                                int
	tableRecall, tableFull, tablePrecision, columnRecall, columnFull float64
	tablesKept, tables, kept, full, keptLarge, fullLarge             float64
}

// measure links every question of one run and sums by database, and by "all".
func (l *link) measure(ctx context.Context, questions []*linked, name string, run int) (map[string]*linkSum, error) {
	sums := map[string]*linkSum{"all": {}}
	for _, x := range questions {
		k, err := l.kept(ctx, x, name, run)
		if err != nil {
			return nil, err
		}
		if sums[x.DB] == nil {
			sums[x.DB] = &linkSum{}
		}
		for _, sum := range []*linkSum{sums[x.DB], sums["all"]} {
			sum.n++
			sum.tableRecall += part(k.tables, len(x.tables))
			sum.tableFull += whole(k.tables, len(x.tables))
			sum.tablePrecision += part(k.tables, k.shown)
			sum.columnRecall += part(k.columns, len(x.columns))
			sum.columnFull += whole(k.columns, len(x.columns))
			sum.tablesKept, sum.tables = sum.tablesKept+float64(k.shown), sum.tables+float64(len(x.env.Schema.Tables))
			sum.kept, sum.full = sum.kept+float64(k.tokens), sum.full+float64(x.full)
			if len(x.env.Schema.Tables) >= 5 {
				sum.keptLarge, sum.fullLarge = sum.keptLarge+float64(k.tokens), sum.fullLarge+float64(x.full)
			}
		}
	}
	return sums, nil
}

// among is how many tables of the gold statement are among some.
func (x *linked) among(tables []schema.Table) (n int) {
	for _, t := range tables {
		if x.tables[t.Name] {
			n++
		}
	}
	return n
}

// kept says what a linker keeps for a question of one run.
func (l *link) kept(ctx context.Context, x *linked, name string, run int) (linkKept, error) {
	draft := ""
	if len(x.drafts) > 0 {
		draft = x.drafts[run%len(x.drafts)]
	}
	key := name + ":" + draft
	if k, ok := x.known[key]; ok {
		return k, nil
	}
	links, err := l.links(ctx, x, name, draft)
	if err != nil {
		return linkKept{}, err
	}
	s, _ := x.env.Schema.Restrict(links)
	k := linkKept{shown: len(s.Tables), tables: x.among(s.Tables)}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			if x.columns[t.Name+"."+c.Name] {
				k.columns++
			}
		}
	}
	k.tokens, err = x.tokens(ctx, s)
	x.known[key] = k
	return k, err
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
			TablesKept:     middle(func(s *linkSum) float64 { return s.tablesKept / s.tables }),
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
			share(l.ColumnRecall), share(l.ColumnFull), share(l.TablesKept), share(l.TokensKept), large,
		})
	}
	return rows
}
