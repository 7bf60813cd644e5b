package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/internal/ported"
	"github.com/texttosql/texttosql/lab/pools"
)

// load is the verb load.
type load struct {
	Data   string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Engine string   `required:"" enum:"postgres,mysql" placeholder:"NAME" help:"Engine of the server: postgres, or mysql (MariaDB too)."`
	DSN    string   `name:"dsn" required:"" placeholder:"DSN" help:"The server, and a user that may create databases: postgres://… of pgx, or USER@tcp(HOST:PORT)/ of go-sql-driver."`
	Only   []string `sep:"none" placeholder:"NAME" help:"Database to load; may be repeated. Default: all that the folder has questions about."`
	JSON   bool     `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains what is loaded.
func (load) Help() string {
	return `Copies the databases of the folder to a server, each to a database of its own with its id, in lower case, as
name. Then score, votes, link and others take --engine and --dsn.

Columns get the type that keeps the stored values, whatever SQLite was told: integers, floats, text, bytes, dates
and times where each value is one. Text compares byte by byte, as in SQLite. PostgreSQL gets names in lower case, so that no
statement needs to quote them. Keys that the data break, and foreign keys between different types, are left out and
told on standard error. On mysql an ID.mysql.sql beside the file is run in its place (ClassicModels has one).

What load made from the same file before, it leaves as it is; from another file, it makes it anew. It changes
no database that it did not make. Table names of MySQL on Linux mind case unless the server has
lower_case_table_names=1; most statements for Spider need that.

JSON: a line for each database.
  db, tables, rows  what was copied; 0 where "same": true, because nothing had to be done
  notes             what was left out`
}

type loadLine struct {
	DB     string   `json:"db"`
	Tables int      `json:"tables"`
	Rows   int      `json:"rows"`
	Same   bool     `json:"same"`
	Notes  []string `json:"notes,omitempty"`
}

// Run loads the databases.
func (l *load) Run(p *program) error {
	server, err := ported.Connect(l.Engine, l.DSN)
	if err != nil {
		return err
	}
	folder, err := pools.OpenFolder(l.Data)
	if err != nil {
		return err
	}
	ids := l.Only
	if len(ids) == 0 {
		if ids, err = idsOf(folder); err != nil {
			return err
		}
	}
	var lines []loadLine
	var rows [][]string
	for _, id := range ids {
		path, err := folder.Database(id)
		if err != nil {
			return err
		}
		script := strings.TrimSuffix(path, ".sqlite") + ".mysql.sql"
		if _, err := os.Stat(script); err != nil || l.Engine != "mysql" {
			script = ""
		}
		source, err := files.OpenReadOnly(path)
		if err != nil {
			return err
		}
		done, err := server.Load(p.ctx, path, script, source)
		source.Close()
		if err != nil {
			return fmt.Errorf("loading %s: %w", id, err)
		}
		for _, n := range done.Notes {
			p.note("%s: left out: %s", id, n)
		}
		lines = append(lines, loadLine{id, done.Tables, done.Rows, done.Same, done.Notes})
		state := "loaded"
		if done.Same {
			state = "was there"
		}
		rows = append(rows, []string{id, strconv.Itoa(done.Tables), strconv.Itoa(done.Rows), state})
	}
	if l.JSON {
		return jsonLines(p.out, lines)
	}
	return table(p.out, []string{"db", "tables", "rows", ""}, rows)
}

// idsOf returns the databases of a folder that its datasets ask about, in order.
func idsOf(folder *pools.Folder) (ids []string, err error) {
	seen := map[string]bool{}
	for _, name := range folder.Datasets() {
		d, err := folder.Dataset(name)
		if err != nil {
			return nil, err
		}
		for _, q := range d.Questions {
			if seen[q.DB] {
				continue
			}
			seen[q.DB] = true
			switch _, err := folder.Database(q.DB); {
			case err == nil:
				ids = append(ids, q.DB)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("no database below " + folder.Path("db") + " has questions")
	}
	slices.Sort(ids)
	return ids, nil
}
