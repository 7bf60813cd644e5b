package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	driver "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/engines"
)

// onTrino reads the catalog that the DSN names. For questions over several catalogs use the command texttosql.
var onTrino = engines.Engine{
	Name: "trino", Title: "Trino", Form: "https://USER:PASSWORD@HOST:PORT?catalog=CATALOG&schema=SCHEMA",
	Open: func(dsn string) (*sql.DB, string, string, error) {
		u, err := url.Parse(dsn)
		if err != nil {
			return nil, "", "", err
		}
		c, err := driver.ParseDSN(dsn)
		if err == nil && (c.Catalog == "" || u.Host == "") {
			err = errors.New("no host or no catalog")
		}
		if err != nil {
			return nil, "", "", err
		}
		connector, err := driver.NewConnector(c)
		if err != nil {
			return nil, "", "", err
		}
		password, _ := u.User.Password()
		return sql.OpenDB(connector), u.Host + "/" + c.Catalog, password, nil
	},
	Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return trino.Dialect{}, nil },
	Reason: func(err error) string {
		if server, ok := errors.AsType[*driver.ErrTrino](err); ok {
			return server.Message
		}
		return ""
	},
}

// catalogOf is the catalog in the place that onTrino opened.
func catalogOf(place string) string { return place[strings.LastIndexByte(place, '/')+1:] }
