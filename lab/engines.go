package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/evalbounds"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/result"
)

// enginesVerb is the verb engines.
type enginesVerb struct {
	Data     string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Only     []string `sep:"none" placeholder:"NAME" help:"Database; may be repeated. Default: all that have questions."`
	Golds    bool     `help:"Golds only, no recorded answers."`
	Some     int      `default:"1" placeholder:"N" help:"Only every Nth statement."`
	List     bool     `help:"Also a line for each statement that the guard refuses or whose result differs."`
	Workers  int      `default:"${cpus}" help:"Statements at a time."`
	JSON     bool     `name:"json" help:"JSON lines instead of a table."`
	onServer `embed:""`
}

// Help is the part of --help that explains words and keys.
func (enginesVerb) Help() string {
	return `Runs all golds, recorded answers and samples about the databases that load copied, each distinct statement once: on a plain
connection in a read-only transaction, through the guard, and on SQLite. They were written for SQLite, or for MySQL.

JSON: a line for each database and kind of statement, and "db": "all".
  db, kind   kind is gold, or answer for what models wrote
  n          statements
  runs       those that the engine runs by itself
  accepted   those of runs that the guard lets through
  compared   those of runs that have a result on SQLite too
  same       those of compared with the same result, as a vote compares results (bags of rows, nine digits)
With --list first a line for each statement that is not accepted or not the same:
  db, kind, sql, refused (why), rows, rows_sqlite (of results that differ)`
}

type engineLine struct {
	DB       string `json:"db"`
	Kind     string `json:"kind"`
	N        int    `json:"n"`
	Runs     int    `json:"runs"`
	Accepted int    `json:"accepted"`
	Compared int    `json:"compared"`
	Same     int    `json:"same"`
}

// engineStatement is one statement, and what became of it.
type engineStatement struct {
	DB         string `json:"db"`
	Kind       string `json:"kind"`
	SQL        string `json:"sql"`
	Refused    string `json:"refused,omitempty"`
	Rows       int    `json:"rows"`
	RowsSQLite int    `json:"rows_sqlite"`

	runs, compared, same bool
}

// Run runs the statements.
func (e *enginesVerb) Run(p *program) error {
	if e.Engine == "" || e.Workers < 1 || e.Some < 1 {
		return errors.New("engines needs --engine and --dsn, and --workers and --some of at least 1")
	}
	if err := e.check(); err != nil {
		return err
	}
	folder, err := pools.OpenFolder(e.Data)
	if err != nil {
		return err
	}
	statements, err := e.statements(folder)
	if err != nil {
		return err
	}
	files, server := access{}.store(folder, e.Workers), access{onServer: e.onServer}.store(folder, e.Workers)
	defer files.Close()
	defer server.Close()
	plain := map[string]*sql.DB{}
	defer func() {
		for _, db := range plain {
			db.Close()
		}
	}()
	for _, s := range statements {
		if plain[s.DB] != nil {
			continue
		}
		path, err := folder.Database(s.DB)
		if err != nil {
			return err
		}
		if plain[s.DB], err = e.open(path); err != nil {
			return err
		}
		plain[s.DB].SetMaxOpenConns(e.Workers)
		plain[s.DB].SetMaxIdleConns(e.Workers)
	}
	bar := newProgress(p.err, "running statements", len(statements))
	group, ctx := errgroup.WithContext(p.ctx)
	group.SetLimit(e.Workers)
	for _, s := range statements {
		group.Go(func() error {
			defer bar.step(len(statements))
			return s.try(ctx, plain[s.DB], server, files)
		})
	}
	err = group.Wait()
	bar.done()
	if err != nil {
		return err
	}
	return e.print(p, statements)
}

// statements reads the golds and answers of a folder, each distinct text about a database once.
func (e *enginesVerb) statements(folder *pools.Folder) (list []*engineStatement, err error) {
	seen := map[[2]string]bool{}
	there := map[string]bool{}
	add := func(db, kind, text string) error {
		if text = strings.TrimSpace(text); text == "" || seen[[2]string{db, text}] || len(e.Only) > 0 &&
			!slices.Contains(e.Only, db) {
			return nil
		}
		seen[[2]string{db, text}] = true
		if _, known := there[db]; !known {
			_, err := folder.Database(db)
			if there[db] = err == nil; err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if there[db] && len(seen)%e.Some == 0 {
			list = append(list, &engineStatement{DB: db, Kind: kind, SQL: text})
		}
		return nil
	}
	for _, name := range folder.Datasets() {
		d, err := folder.Dataset(name)
		if err != nil {
			return nil, err
		}
		for _, q := range d.Questions {
			if err := add(q.DB, "gold", q.Gold); err != nil {
				return nil, err
			}
		}
	}
	var files []string
	for _, pattern := range []string{"predictions/preds_*.jsonl.gz", "samples/samples_*.jsonl.gz"} {
		found, _ := filepath.Glob(folder.Path(pattern))
		files = append(files, found...)
	}
	for _, file := range files {
		if e.Golds || strings.HasSuffix(file, ".exec.jsonl.gz") { // the same answers again
			continue
		}
		for a, err := range eval.Answers(file) {
			if err = cmp.Or(err, add(a.DB, "answer", a.SQL)); err != nil {
				return nil, err
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no statement about such a database in " + folder.Dir())
	}
	return list, nil
}

// try runs s three times. Its error is not about s.
func (s *engineStatement) try(ctx context.Context, plain *sql.DB, server, files *eval.Store) error {
	var err error
	if s.runs, err = runs(ctx, plain, s.SQL); err != nil || !s.runs {
		return err
	}
	here, err := server.Execute(ctx, s.DB, s.SQL)
	if err != nil {
		return err
	}
	there, err := files.Execute(ctx, s.DB, s.SQL)
	if err != nil {
		return err
	}
	if here.Status == "refused" || here.Status == "error" {
		s.Refused = here.Err
	}
	s.Rows, s.RowsSQLite = here.Rows, there.Rows
	if s.compared = here.OK() && there.OK(); !s.compared {
		return nil
	}
	votes := result.Equality{Digits: 9}
	a, okA, errA := server.Fingerprint(ctx, s.DB, s.SQL, votes)
	b, okB, errB := files.Fingerprint(ctx, s.DB, s.SQL, votes)
	s.same = okA && okB && a == b
	return cmp.Or(errA, errB)
}

// runs reports whether the engine runs a statement in a read-only transaction, on a connection without a guard.
func runs(ctx context.Context, db *sql.DB, text string) (bool, error) {
	within, cancel := context.WithTimeout(ctx, evalbounds.Timeout)
	defer cancel()
	tx, err := db.BeginTx(within, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	rows, err := func() (*sql.Rows, error) {
		prepared, err := tx.PrepareContext(within, text) // takes one statement only
		if err != nil {
			return nil, err
		}
		return prepared.QueryContext(within)
	}()
	if err != nil {
		return false, ctx.Err()
	}
	defer rows.Close()
	columns, err := rows.Columns()
	for rows.Next() {
	}
	return err == nil && rows.Err() == nil && len(columns) > 0, ctx.Err()
}

func (e *enginesVerb) print(p *program, statements []*engineStatement) error {
	sums := map[[2]string]*engineLine{}
	var list []*engineStatement
	for _, s := range statements {
		for _, db := range []string{s.DB, "all"} {
			key := [2]string{db, s.Kind}
			if sums[key] == nil {
				sums[key] = &engineLine{DB: db, Kind: s.Kind}
			}
			l := sums[key]
			l.N++
			l.Runs += count(s.runs)
			l.Accepted += count(s.runs && s.Refused == "")
			l.Compared += count(s.compared)
			l.Same += count(s.same)
		}
		if s.Refused != "" || s.compared && !s.same {
			list = append(list, s)
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(count(a[0] == "all"), count(b[0] == "all")), cmp.Compare(a[0], b[0]),
			cmp.Compare(b[1], a[1]))
	})
	var lines []*engineLine
	var rows [][]string
	for _, k := range keys {
		l := sums[k]
		row := []string{l.DB, l.Kind}
		for _, n := range []int{l.N, l.Runs, l.Accepted, l.Compared, l.Same} {
			row = append(row, strconv.Itoa(n))
		}
		lines, rows = append(lines, l), append(rows, row)
	}
	if e.List {
		if err := jsonLines(p.out, list); err != nil {
			return err
		}
	}
	if e.JSON {
		return jsonLines(p.out, lines)
	}
	return table(p.out, []string{"db", "kind", "n", "runs", "accepted", "compared", "same"}, rows)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
