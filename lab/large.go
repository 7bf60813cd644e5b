package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

// large is the verb large.
type large struct {
	Data    string `required:"" placeholder:"DIR" help:"Folder of large schemas: schemas, questions and knowledge as data-large's README describes them."`
	History string `placeholder:"DIR" help:"Folder of the same form with past statements: its history of SEDE, its questions of BEAVER."`
	Limit   int    `placeholder:"N" help:"Questions of each data set at most, spread over it; 0: all."`
	Only    string `placeholder:"NAME" help:"This data set alone."`
	Judge   string `enum:",perfect" default:"" help:"Measure linker.PerTable too, with this judge of tables: perfect knows the gold."`
	JSON    bool   `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains words and keys.
func (large) Help() string {
	return `Links questions about large schemas whose gold tables are known; nothing runs. A family of tables whose names
differ in digits only counts as one table and stands for its members.

Data: spider2_snow (the database is known), spider2_merged (all databases as one schema), beaver, sede,
and with --history sede_history, and beaver with the past statements about its database but those of the
question asked.

Linkers:
  index    the words of the index, filled up: linker.Lexical{Fill: true} with Tables as below, history where there is one
  lexical  linker.Lexical{}, without history
  judge    with --judge, linker.PerTable{}: are all gold tables among those that it was asked about and that stay?

JSON: a line for each data and linker.
  n                  questions with gold tables
  tables             Lexical.Tables
  all_tables         share of questions that keep all gold tables
  kept               families and other tables kept, mean
  ms_mean, ms_worst  time of a question, its schema read before
  calls              of a judge, mean`
}

// largeLine holds the figures of a linker on one data set.
type largeLine struct {
	Data      string  `json:"data"`
	Linker    string  `json:"linker"`
	N         int     `json:"n"`
	Tables    int     `json:"tables"`
	AllTables float64 `json:"all_tables"`
	Kept      float64 `json:"kept"`
	Mean      float64 `json:"ms_mean"`
	Worst     float64 `json:"ms_worst"`
	Calls     float64 `json:"calls,omitempty"`
}

// largeData are the data sets, with the tables that the index keeps at most. Small databases of Spider2 have fewer.
var largeData = []struct {
	name, file string
	tables     int
}{
	{"spider2_snow", "spider2_snow", 25}, {"spider2_merged", "spider2_snow", 15}, {"beaver", "beaver", 12},
	{"sede", "sede", 9}, {"sede_history", "sede", 9},
}

// Run links the questions.
func (l *large) Run(p *program) error {
	var list []largeLine
	for _, d := range largeData {
		if l.Only != "" && l.Only != d.name || d.name == "sede_history" && l.History == "" {
			continue
		}
		q, err := l.questions(d.name, d.file)
		if err != nil {
			return err
		}
		if n := len(q.questions); l.Limit > 0 && n > l.Limit {
			for i := range l.Limit {
				q.questions[i] = q.questions[i*n/l.Limit]
			}
			q.questions = q.questions[:l.Limit]
		}
		linkers := []largeLinker{{"index", linker.Lexical{Tables: d.tables, Fill: true}, d.tables, true},
			{"lexical", linker.Lexical{}, 0, false}}
		if l.Judge != "" {
			linkers = append(linkers, largeLinker{"judge", nil, 0, true})
		}
		for _, with := range linkers {
			line, err := q.measure(p.ctx, with.linker, with.history)
			if err != nil {
				return err
			}
			line.Data, line.Linker, line.Tables = d.name, with.name, with.tables
			list = append(list, line)
		}
	}
	if l.JSON {
		return jsonLines(p.out, list)
	}
	var rows [][]string
	for _, l := range list {
		rows = append(rows, []string{l.Data, l.Linker, strconv.Itoa(l.N), share(l.AllTables), fmt.Sprintf("%.1f", l.Kept),
			fmt.Sprintf("%.2f", l.Mean), fmt.Sprintf("%.1f", l.Worst)})
	}
	return table(p.out, []string{"data", "linker", "n", "all tables", "kept", "ms", "worst"}, rows)
}

// largeLinker is what is measured; without a linker, a judge of tables.
type largeLinker struct {
	name    string
	linker  linker.Linker
	tables  int
	history bool
}

// largeQuestion is a question of the folder.
type largeQuestion struct {
	DB          string   `json:"db_id"`
	Question    string   `json:"question"`
	Description string   `json:"description"`
	Gold        string   `json:"gold"`
	Tables      []string `json:"gold_tables"`
	Knowledge   string   `json:"knowledge"`
}

func (q largeQuestion) past() memory.Exemplar {
	return memory.Exemplar{Question: strings.TrimSpace(q.Question + " " + q.Description), SQL: q.Gold}
}

// largeSchema is a database of the folder.
type largeSchema struct {
	DB     string `json:"db"`
	Tables []struct {
		Schema      string      `json:"s"`
		Name        string      `json:"n"`
		Description string      `json:"d"`
		Shape       int         `json:"c"`
		PrimaryKey  []string    `json:"pk"`
		Keys        [][3]string `json:"fk"`
	} `json:"tables"`
	Shapes [][][]string `json:"shapes"`
}

// add adds the tables to s; prefix goes before the names of their schemas.
func (d largeSchema) add(s *schema.Schema, prefix string) {
	shapes := make([][]schema.Column, len(d.Shapes))
	for i, shape := range d.Shapes {
		for _, c := range shape {
			column := schema.Column{Name: c[0], Type: c[1]}
			if len(c) > 2 {
				column.Description = c[2]
			}
			shapes[i] = append(shapes[i], column)
		}
	}
	for _, t := range d.Tables {
		as := schema.Table{Schema: prefix + t.Schema, Name: t.Name, Kind: "table", Description: t.Description,
			Columns: shapes[t.Shape], PrimaryKey: t.PrimaryKey}
		for _, k := range t.Keys {
			as.ForeignKeys = append(as.ForeignKeys, schema.ForeignKey{Columns: []string{k[0]}, RefTable: k[1],
				RefColumns: []string{k[2]}})
		}
		s.Tables = append(s.Tables, as)
	}
}

// largeSet is one data set.
type largeSet struct {
	questions []largeQuestion
	schemas   map[string]*schema.Schema // by database; one for all where they are merged
	knowledge map[string]string
	history   []largeQuestion
	merged    bool
}

func (l *large) questions(name, file string) (*largeSet, error) {
	set := &largeSet{schemas: map[string]*schema.Schema{}, knowledge: map[string]string{},
		merged: name == "spider2_merged"}
	databases, err := files.Lines[largeSchema](filepath.Join(l.Data, "schemas", file+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	all := &schema.Schema{}
	for _, d := range databases {
		if set.schemas[d.DB] = all; set.merged {
			d.add(all, d.DB+".")
			continue
		}
		set.schemas[d.DB] = &schema.Schema{}
		d.add(set.schemas[d.DB], "")
	}
	if set.questions,
		err = files.Lines[largeQuestion](filepath.Join(l.Data, "questions", "questions_"+file+".jsonl.gz")); err != nil {
		return nil, err
	}
	texts, err := files.Lines[struct{ Name, Text string }](filepath.Join(l.Data, "knowledge", file+".jsonl.gz"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, k := range texts {
		set.knowledge[k.Name] = k.Text
	}
	past := map[string]string{"beaver": "questions/questions_beaver.jsonl.gz",
		"sede_history": "history/sede.jsonl.gz"}[name]
	if past == "" || l.History == "" {
		return set, nil
	}
	folder := filepath.Clean(l.History)
	if filepath.Base(folder) == "history" { // or the folder that it is in
		folder = filepath.Dir(folder)
	}
	set.history, err = files.Lines[largeQuestion](filepath.Join(folder, past))
	return set, err
}

// measure links every question that has gold tables.
func (s *largeSet) measure(ctx context.Context, l linker.Linker, withHistory bool) (line largeLine, err error) {
	plain, kept := map[*schema.Schema]*linker.Index{}, map[*schema.Schema]*snapshot.Snapshot{}
	for _, of := range s.schemas {
		if plain[of] == nil {
			plain[of], kept[of] = linker.Lexical{}.Index(of), new(snapshot.Store).At(snapshot.Key{}, of)
		}
	}
	for _, q := range s.questions {
		if len(q.Tables) == 0 {
			continue
		}
		of := s.schemas[q.DB]
		if of == nil {
			return line, fmt.Errorf("no schema of the database %s", q.DB)
		}
		in := linker.Input{Question: q.Question, Evidence: s.knowledge[q.Knowledge] + q.Description, Schema: of,
			Index: plain[of], Snapshot: kept[of]}
		if withHistory && len(s.history) > 0 {
			var past []memory.Exemplar
			for _, p := range s.history {
				if p.DB == q.DB && p.past().Question != q.past().Question && p.Gold != q.Gold {
					past = append(past, p.past())
				}
			}
			in.Index = in.Index.WithHistory(past)
		}
		judge, asked := &perfectJudge{gold: map[string]bool{}}, l
		if l == nil {
			for _, name := range q.Tables {
				for _, member := range in.Index.Family(s.named(of, q.DB, name)) {
					judge.gold[member.String()] = true
				}
			}
			judge.families, asked = len(q.Tables), linker.PerTable{Model: judge}
		}
		begin := time.Now()
		links, err := asked.Link(ctx, in)
		line.Calls += float64(judge.calls)
		if errors.Is(err, linker.ErrNoTables) {
			err = nil
		}
		took := float64(time.Since(begin)) / float64(time.Millisecond)
		if err != nil {
			return line, err
		}
		line.N, line.Mean, line.Worst = line.N+1, line.Mean+took, max(line.Worst, took)
		if links.Whole {
			for i := range of.Tables {
				links.Tables = append(links.Tables, schema.TableLink{Schema: of.Tables[i].Schema, Table: of.Tables[i].Name})
			}
		}
		kept := map[schema.TableName]bool{} // the first members of families
		for _, t := range links.Tables {
			kept[in.Index.Family(schema.TableName{Schema: t.Schema, Name: t.Table})[0]] = true
		}
		all := true
		for _, gold := range q.Tables {
			family := in.Index.Family(s.named(of, q.DB, gold))
			all = all && len(family) > 0 && kept[family[0]]
		}
		if line.Kept += float64(len(kept)); all {
			line.AllTables++
		}
	}
	n := float64(max(line.N, 1))
	line.AllTables, line.Kept, line.Mean, line.Worst = round(line.AllTables/n), round(line.Kept/n), round(line.Mean/n),
		round(line.Worst)
	line.Calls = round(line.Calls / n)
	return line, nil
}

func round(x float64) float64 {
	return float64(int(x*10000+.5)) / 10000
}

// named finds a gold table: the table itself, or one of its family where that member is not stored.
func (s *largeSet) named(of *schema.Schema, db, gold string) schema.TableName {
	in, name, ok := strings.Cut(gold, ".")
	if !ok {
		in, name = "", gold
	}
	if s.merged {
		in = db + "." + in
	}
	if t, ok := of.Lookup(in, name); ok {
		return t.TableName()
	}
	digits := func(name string) string {
		return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return '0' <= r && r <= '9' }), "#")
	}
	for i := range of.Tables {
		if t := &of.Tables[i]; schema.EqualFold(t.Schema, in) && schema.EqualFold(digits(t.Name), digits(name)) {
			return t.TableName()
		}
	}
	return schema.TableName{Schema: in, Name: name}
}
