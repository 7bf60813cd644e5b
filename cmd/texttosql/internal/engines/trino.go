package engines

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	driver "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
)

// ErrForm matches errors about a DSN that repeat nothing of it.
var ErrForm = errors.New("the DSN")

// Trino returns the engine for a DSN, and the DSN for its driver, which knows two parameters less: "catalogs=a,b" names
// further catalogs that may be read, and with "as_user=true" each scope asks as its own user.
func Trino(dsn string) (Engine, string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return Engine{}, "", err
	}
	if _, secret := u.User.Password(); secret && u.Scheme != "https" {
		return Engine{}, "", fmt.Errorf("%w of Trino has a password, which needs https://", ErrForm)
	}
	query := u.Query()
	var dialect trino.Dialect
	for _, name := range strings.Split(query.Get("catalogs"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			dialect.Catalogs = append(dialect.Catalogs, name)
		}
	}
	dialect.AsUser = query.Get("as_user") == "true"
	query.Del("catalogs")
	query.Del("as_user")
	u.RawQuery = query.Encode()
	return Engine{
		Name: "trino", Title: "Trino", Form: "https://USER@HOST:PORT?catalog=CATALOG&schema=SCHEMA&catalogs=OTHER",
		Open:    openTrino,
		Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return dialect, nil },
		Reason: func(err error) string {
			if server, ok := errors.AsType[*driver.ErrTrino](err); ok {
				return server.Message
			}
			if http, ok := errors.AsType[*driver.ErrQueryFailed](err); ok && http.StatusCode == 401 {
				return "the server does not know this user or password"
			}
			return ""
		},
	}, u.String(), nil
}

func openTrino(dsn string) (*sql.DB, string, string, error) {
	c, err := driver.ParseDSN(dsn)
	if err != nil {
		return nil, "", "", err
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, "", "", err
	}
	if c.Catalog == "" || u.Host == "" {
		return nil, "", "", errors.New("no catalog")
	}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, "", "", err
	}
	password, _ := u.User.Password()
	return sql.OpenDB(connector), u.Host + "/" + c.Catalog, password, nil
}
