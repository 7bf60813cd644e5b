package main

import (
	"database/sql"
	"errors"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/internal/ported"
)

// onServer says where databases are asked: flags that verbs share. The zero onServer: as SQLite files.
type onServer struct {
	Engine string `enum:",postgres,mysql" default:"" placeholder:"NAME" help:"Ask the copies that load made on a server of this engine, postgres or mysql, and not the SQLite files; with --dsn."`
	DSN    string `name:"dsn" placeholder:"DSN" help:"The server of --engine."`
}

// check reports flags that cannot be used.
func (s onServer) check() error {
	if (s.Engine == "") != (s.DSN == "") {
		return errors.New("--engine and --dsn go together")
	}
	if s.Engine == "" {
		return nil
	}
	_, err := ported.Connect(s.Engine, s.DSN)
	return err
}

// open opens the database of a SQLite file: the file, or its copy.
func (s onServer) open(path string) (*sql.DB, error) {
	if s.Engine == "" {
		return files.OpenReadOnly(path)
	}
	server, err := ported.Connect(s.Engine, s.DSN)
	if err != nil {
		return nil, err
	}
	return server.Open(path)
}

func (s onServer) dialect() exec.Dialect {
	if server, err := ported.Connect(s.Engine, s.DSN); err == nil {
		return server.Dialect
	}
	return sqlite.Dialect{}
}
