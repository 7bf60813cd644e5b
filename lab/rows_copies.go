package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/lab/internal/ported"
)

// withStatistics returns the path of a SQLite file with the same rows and statistics, which the file of the data has
// not: without them no plan depends on rows. Costs are those of the data as it is.
func (v *rowsVerb) withStatistics(ctx context.Context, id, path, temp string) (string, error) {
	if v.Engine != "" || v.Cost {
		return path, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	analyzed := filepath.Join(temp, id+".analyzed.sqlite")
	if err := os.WriteFile(analyzed, raw, 0o600); err != nil {
		return "", err
	}
	db, err := sql.Open("sqlite3", analyzed)
	if err != nil {
		return "", err
	}
	return analyzed, errors.Join(execAll(ctx, db, "ANALYZE"), db.Close())
}

// copies makes the copy of a database without the hidden rows, and the copies that tell what SQL does not determine.
func (v *rowsVerb) copies(ctx context.Context, b *rowsBase, path, temp string) ([]*sql.DB, error) {
	if v.Engine == "" {
		return v.copiesOfFile(ctx, b, path, temp)
	}
	return v.copiesOnServer(ctx, b, path)
}

// deletes are the statements that delete the hidden rows of all tables.
func (b *rowsBase) deletes() (list []string) {
	l := b.whole.Language()
	for i := range b.schema.Tables {
		t := &b.schema.Tables[i]
		if r, ok := b.rules[t.Name]; ok {
			list = append(list, "DELETE FROM "+t.TableName().Quoted(l)+" WHERE ("+r.written("")+") IS NOT TRUE")
		}
	}
	return list
}

func execAll(ctx context.Context, db *sql.DB, statements ...string) error {
	conn, err := db.Conn(ctx) // settings are of a connection
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, text := range statements {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%w in %.300s", err, text)
		}
	}
	return nil
}

// connecting opens connections to one file by a driver.
type connecting struct {
	driver *sqlite3.SQLiteDriver
	file   string
}

func (c connecting) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.file) }
func (c connecting) Driver() driver.Driver                        { return c.driver }

// copiesOfFile makes the copies of a SQLite file.
func (v *rowsVerb) copiesOfFile(ctx context.Context, b *rowsBase, path, temp string) (pools []*sql.DB, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(temp, b.id+".sqlite")
	if err := os.WriteFile(copied, raw, 0o600); err != nil {
		return nil, err
	}
	open := func(file string) *sql.DB {
		db, oerr := sql.Open("sqlite3", file)
		err = errors.Join(err, oerr)
		pools = append(pools, db)
		return db
	}
	deletes := b.deletes()
	if !v.Cost {
		deletes = append(deletes, "ANALYZE")
	}
	if err := execAll(ctx, open(copied), deletes...); err != nil {
		return pools, err
	}
	reversed := &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec("PRAGMA reverse_unordered_selects = ON", nil)
		return err
	}}
	pools = append(pools, sql.OpenDB(connecting{reversed, copied}))
	for n, prime := range []int{7919, 104729, 1299709} {
		shuffled := filepath.Join(temp, fmt.Sprintf("%s.shuffled%d.sqlite", b.id, n))
		texts := []string{"ATTACH '" + strings.ReplaceAll(copied, "'", "''") + "' AS copied"}
		l := b.whole.Language()
		for i := range b.schema.Tables {
			t := &b.schema.Tables[i]
			if t.Kind == "view" {
				continue
			}
			var columns []string
			for _, c := range t.Columns {
				columns = append(columns, l.Quote(c.Name)+" "+c.Type)
			}
			name := l.Quote(t.Name)
			texts = append(texts, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")",
				"INSERT INTO "+name+" SELECT * FROM copied."+name+fmt.Sprintf(" ORDER BY (row_number() OVER () * %d) %% 10007",
					prime))
		}
		if err := errors.Join(execAll(ctx, open(shuffled), texts...), err); err != nil {
			return pools, err
		}
	}
	return pools, err
}

// copiesOnServer makes the copies beside the database that load made.
func (v *rowsVerb) copiesOnServer(ctx context.Context, b *rowsBase, path string) (pools []*sql.DB, err error) {
	server, err := ported.Connect(v.Engine, v.DSN)
	if err != nil {
		return nil, err
	}
	name := ported.Name(path)
	l := b.whole.Language()
	one := func(text string) error { return execAll(ctx, b.pools[0], text) }
	open := func(database string, texts ...string) error {
		db, err := server.Open(database)
		if err != nil {
			return err
		}
		pools = append(pools, db)
		return execAll(ctx, db, texts...)
	}
	copied, shuffled := name+"_rows", name+"_rows_shuffled"
	var fill, shuffle []string
	if v.Engine == "postgres" {
		// A database is copied while nobody is connected to it.
		b.pools[0].SetMaxIdleConns(0)
		maker, err := server.Open("postgres")
		if err != nil {
			return nil, err
		}
		defer maker.Close()
		for _, text := range []string{"DROP DATABASE IF EXISTS " + l.Quote(copied), "DROP DATABASE IF EXISTS " +
			l.Quote(shuffled),
			"CREATE DATABASE " + l.Quote(copied) + " TEMPLATE " + l.Quote(name)} {
			if err := execAll(ctx, maker, text); err != nil {
				return nil, err
			}
		}
		fill = append([]string{"SET session_replication_role = replica"}, b.deletes()...)
		if err := open(copied, append(fill, "ANALYZE")...); err != nil {
			return pools, err
		}
		pools[0].Close()
		if err := execAll(ctx, maker, "CREATE DATABASE "+l.Quote(shuffled)+" TEMPLATE "+l.Quote(copied)); err != nil {
			return pools, err
		}
		if pools[0], err = server.Open(copied); err != nil {
			return pools, err
		}
		for i := range b.schema.Tables {
			if t := &b.schema.Tables[i]; t.Kind != "view" {
				q := l.Quote(t.Name)
				shuffle = append(shuffle, "CREATE TABLE shuffled__ AS SELECT * FROM "+q+" ORDER BY md5("+q+"::text)", "DROP TABLE "+
					q+" CASCADE", "ALTER TABLE shuffled__ RENAME TO "+q)
			}
		}
		return pools, open(shuffled, shuffle...)
	}
	for _, database := range []string{copied, shuffled} {
		if err := one("DROP DATABASE IF EXISTS " + l.Quote(database)); err != nil {
			return nil, err
		}
		if err := one("CREATE DATABASE " + l.Quote(database) +
			" CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"); err != nil {
			return nil, err
		}
	}
	for i := range b.schema.Tables {
		t := &b.schema.Tables[i]
		if t.Kind == "view" {
			continue
		}
		q := l.Quote(t.Name)
		from := " FROM " + l.Quote(name) + "." + q + " WHERE " + b.rules[t.Name].written("")
		fill = append(fill, "CREATE TABLE "+q+" LIKE "+l.Quote(name)+"."+q, "INSERT INTO "+q+" SELECT *"+from,
			"ANALYZE TABLE "+q)
		shuffle = append(shuffle, "CREATE TABLE "+q+" AS SELECT *"+from+" ORDER BY rand(7)")
	}
	if err := open(copied, fill...); err != nil {
		return pools, err
	}
	return pools, open(shuffled, shuffle...)
}
