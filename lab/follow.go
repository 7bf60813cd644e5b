package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/session"
)

// follow is the verb follow.
type follow struct {
	Data     string `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Dataset  string `required:"" placeholder:"NAME" help:"Dataset of conversations, whose ids are INTERACTION.TURN."`
	JSON     bool   `name:"json" help:"JSON lines instead of a table."`
	onServer `embed:""`
}

// Help is the part of --help that explains words and keys.
func (follow) Help() string {
	return `Compares what linkers keep of a schema for follow-up questions: all turns but the first of each
interaction. What a question needs is what its gold reads, as the engine says.

Linkers:
  words    words of the question alone (linker.Lexical)
  earlier  words of the question and of the turns before it
  last     words of the question, and the tables that the answer to the turn before reads
           (linker.Conversation); the gold of that turn stands in for its answer
Links are closed under foreign keys.

JSON: a line for each linker.
  linker       its name
  n            follow-up questions whose gold the engine reads
  all_tables   share of them with all tables of the gold kept
  tables_kept  tables kept ÷ tables of the schemas, summed over questions`
}

// followLine holds the figures of a linker.
type followLine struct {
	Linker     string  `json:"linker"`
	N          int     `json:"n"`
	AllTables  float64 `json:"all_tables"`
	TablesKept float64 `json:"tables_kept"`
}

// Run links the follow-up questions.
func (f *follow) Run(p *program) error {
	if err := f.check(); err != nil {
		return err
	}
	folder, dataset, err := openDataset(p, f.Data, f.Dataset)
	if err != nil {
		return err
	}
	databases := databases{folder: folder, on: f.onServer}
	defer databases.close()
	questions, err := (&link{Dataset: f.Dataset}).questions(p, folder, &databases, dataset, nil)
	if err != nil {
		return err
	}
	lines := []followLine{{Linker: "words"}, {Linker: "earlier"}, {Linker: "last"}}
	for i := range lines {
		if err := lines[i].measure(p.ctx, dataset, questions); err != nil {
			return err
		}
	}
	if lines[0].N == 0 {
		return errors.New("no follow-up question has a database whose engine reads its gold")
	}
	if f.JSON {
		return jsonLines(p.out, lines)
	}
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{l.Linker, fmt.Sprint(l.N), share(l.AllTables), share(l.TablesKept)})
	}
	return table(p.out, []string{"linker", "n", "all tables", "tables kept"}, rows)
}

// measure links the questions that have a turn before them.
func (l *followLine) measure(ctx context.Context, dataset *eval.Dataset, questions []*linked) error {
	all, kept, tables := 0.0, 0, 0
	for _, x := range questions {
		in := x.input()
		if in.Earlier = turnsBefore(dataset, x.ID); len(in.Earlier) == 0 {
			continue
		}
		if l.Linker == "earlier" {
			var texts []string
			for _, e := range in.Earlier {
				texts = append(texts, e.Question)
			}
			in.Question = strings.Join(append(texts, in.Question), "\n")
		}
		if l.Linker != "last" {
			in.Earlier = nil
		}
		links, err := linker.Conversation{Linker: linker.Lexical{}}.Link(ctx, in)
		if err != nil {
			return err
		}
		s, _ := x.env.Schema.Restrict(links)
		found := x.among(s.Tables)
		l.N++
		all, kept, tables = all+whole(found, len(x.tables)), kept+len(s.Tables), tables+len(x.env.Schema.Tables)
	}
	l.AllTables, l.TablesKept = all/float64(max(l.N, 1)), part(kept, tables)
	return nil
}

// turnsBefore are the turns of the interaction that stand without a gap before the question of an id, the first one first.
func turnsBefore(dataset *eval.Dataset, id string) (earlier []session.Earlier) {
	dot := strings.LastIndexByte(id, '.') + 1
	turn, err := strconv.Atoi(id[dot:])
	if dot == 0 || err != nil {
		return nil
	}
	for i := range turn {
		q, ok := dataset.Question(id[:dot] + strconv.Itoa(i))
		if !ok {
			earlier = nil
			continue
		}
		earlier = append(earlier, session.Earlier{Question: q.Text, SQL: q.Gold})
	}
	return earlier
}
