package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/schema"
)

// wideQuestion is a question about a database of many tables, and the table that the model reads.
type wideQuestion struct{ Question, Table string }

// stored are databases with the tables of the largest schemas in the folder Stored: the one with the most tables, the one with the most
// columns, and all of them as one. The tables are empty. Beside each database is a file of its questions.
func (s *scale) stored(ctx context.Context) (names []string, err error) {
	databases, err := files.Lines[largeSchema](filepath.Join(s.Stored, "schemas", "spider2_snow.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	asked, err := files.Lines[largeQuestion](filepath.Join(s.Stored, "questions", "questions_spider2_snow.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	var tables, columns, all *schema.Schema
	count := func(of *schema.Schema) (n int) {
		for _, t := range of.Tables {
			n += len(t.Columns)
		}
		return n
	}
	byTables, byColumns := "", ""
	tables, columns, all = &schema.Schema{}, &schema.Schema{}, &schema.Schema{}
	for _, d := range databases {
		of := &schema.Schema{}
		d.add(of, d.DB+".")
		all.Tables = append(all.Tables, of.Tables...)
		if len(of.Tables) > len(tables.Tables) {
			tables, byTables = of, d.DB
		}
		if count(of) > count(columns) {
			columns, byColumns = of, d.DB
		}
	}
	for _, of := range []struct {
		db     string
		schema *schema.Schema
	}{{byTables, tables}, {byColumns, columns}, {"all", all}} {
		if err := s.makeStored(ctx, of.db, of.schema, asked); err != nil {
			return nil, err
		}
		names = append(names, of.db)
	}
	return names, nil
}

var noLetters = regexp.MustCompile(`\W.*`)

func (s *scale) makeStored(ctx context.Context, db string, of *schema.Schema, asked []largeQuestion) error {
	named := strings.NewReplacer("SQLITE_", "LITE_").Replace // SQLite keeps those names for itself
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	there := map[string]bool{}
	err := makeTables(ctx, s.path(db), func(tx *sql.Tx) error {
		for i := range of.Tables {
			t := &of.Tables[i]
			var columns []string
			twice := map[string]bool{}
			for _, c := range t.Columns {
				if name := strings.ToLower(c.Name); !twice[name] {
					twice[name] = true
					columns = append(columns, quote(c.Name)+" "+noLetters.ReplaceAllString(c.Type, ""))
				}
			}
			name := named(t.Schema + "." + t.Name)
			if len(columns) == 0 || there[strings.ToLower(name)] {
				continue
			}
			there[strings.ToLower(name)] = true
			if _, err := tx.ExecContext(ctx, "CREATE TABLE "+quote(name)+" ("+strings.Join(columns, ", ")+")"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(there) == 0 {
		return err // it was there
	}
	var list []wideQuestion
	for _, q := range asked {
		for _, gold := range q.Tables {
			if name := named(q.DB + "." + gold); there[strings.ToLower(name)] && len(list) < 5 && (len(list) == 0 || list[len(list)-1].Question != q.Question) {
				list = append(list, wideQuestion{q.Question, quote(name)})
				break
			}
		}
	}
	text, err := json.Marshal(list)
	return errors.Join(err, os.WriteFile(s.path(db)+".json", text, 0o600))
}

// asked are the questions about a database.
func (s *scale) asked(db string) ([]wideQuestion, error) {
	if s.Stored == "" {
		return wideQuestions, nil
	}
	text, err := os.ReadFile(s.path(db) + ".json")
	if err != nil {
		return nil, err
	}
	var list []wideQuestion
	return list, json.Unmarshal(text, &list)
}
