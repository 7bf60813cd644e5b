package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// joins is the verb joins.
type joins struct {
	Data     string `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	JSON     bool   `name:"json" help:"A JSON line instead of a table by database."`
	onServer `embed:""`
}

// Help is the part of --help that explains words and keys.
func (joins) Help() string {
	return `Hides the foreign keys of all databases below DIR/db and looks for them by names
(linker.Joins.Candidates), for each pair of tables. Primary keys and types stay.

JSON: one line.
  pairs        pairs of tables that a foreign key joins
  first        of these, the pairs whose best candidate is a declared key
  none         of these, the pairs without a candidate
  unrelated    pairs of tables that no key joins
  false_joins  of these, the pairs whose best candidate scores 0.75 or more: what linker.Joins
               takes without asking a model`
}

// joinLine holds the figures of some databases.
type joinLine struct {
	Pairs      int `json:"pairs"`
	First      int `json:"first"`
	None       int `json:"none"`
	Unrelated  int `json:"unrelated"`
	FalseJoins int `json:"false_joins"`
}

// Run looks for the keys.
func (j *joins) Run(p *program) error {
	if err := j.check(); err != nil {
		return err
	}
	folder, err := pools.OpenFolder(j.Data)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(folder.Path("db", "*", "*.sqlite"))
	if err != nil {
		return err
	}
	databases := databases{folder: folder, on: j.onServer}
	defer databases.close()
	var all joinLine
	var rows [][]string
	add := func(name string, l joinLine) {
		row := []string{name}
		for _, n := range []int{l.Pairs, l.First, l.None, l.Unrelated, l.FalseJoins} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".sqlite")
		env, err := databases.env(p.ctx, id)
		if err != nil {
			return err
		}
		l := joinsOf(env.Schema)
		all = joinLine{all.Pairs + l.Pairs, all.First + l.First, all.None + l.None, all.Unrelated + l.Unrelated,
			all.FalseJoins + l.FalseJoins}
		add(id, l)
	}
	if len(paths) == 0 {
		return errors.New("no database below " + folder.Path("db"))
	}
	if j.JSON {
		return jsonLines(p.out, []joinLine{all})
	}
	add("all", all)
	return table(p.out, []string{"db", "pairs", "first", "none", "unrelated", "false joins"}, rows)
}

// joinsOf compares what names say with the foreign keys of a schema.
func joinsOf(s *schema.Schema) (l joinLine) {
	for i := range s.Tables {
		for k := range i {
			a, b := &s.Tables[k], &s.Tables[i]
			declared := append(keysTo(a, b), keysTo(b, a)...)
			found := linker.Joins{}.Candidates(a, b)
			switch {
			case len(declared) == 0:
				l.Unrelated++
				if len(found) > 0 && found[0].Confidence >= 0.75 {
					l.FalseJoins++
				}
				continue
			case len(found) == 0:
				l.None++
			case slices.ContainsFunc(declared, found[0].Join.Equal):
				l.First++
			}
			l.Pairs++
		}
	}
	return l
}

// keysTo returns the pairs of columns that the foreign keys of a compare with columns of b.
func keysTo(a, b *schema.Table) (joins []schema.Join) {
	for _, k := range a.ForeignKeys {
		if !schema.EqualFold(k.RefTable, b.Name) {
			continue
		}
		for n := range k.Columns {
			joins = append(joins, schema.Join{
				Left:  schema.ColumnName{Table: a.TableName(), Column: k.Columns[n]},
				Right: schema.ColumnName{Table: b.TableName(), Column: k.RefColumns[n]},
			})
		}
	}
	return joins
}
