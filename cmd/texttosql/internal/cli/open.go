package cli

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec/sqlite"
)

// OpenReadOnly opens an existing SQLite file for reading. Nothing can be written through the result, but SQLite itself
// puts two files beside a database in WAL mode. A file that is no SQLite database is an error. Damage further inside
// the file is an error of the first statement. Its connections have the functions of [sqlite.Math]. The error does not
// name the path. With "?immutable=1" behind the path SQLite neither puts nor reads anything beside the file, as on a
// disk that nobody writes to.
func OpenReadOnly(path string) (*sql.DB, error) {
	path, immutable := strings.CutSuffix(path, "?immutable=1")
	if err := checkSQLite(path); err != nil {
		return nil, PathlessError(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// Without a URL, a name with "?" or "%" would be another file.
	query := "mode=ro"
	if immutable {
		query += "&immutable=1"
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query}
	return sql.OpenDB(connector{uri.String()}), nil
}

// connector opens connections that have the mathematical functions, which "go install" cannot ask the driver for: see
// [sqlite.Dialect.Math].
type connector struct{ dsn string }

// Connect opens one.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }

// Driver is the driver of SQLite.
func (connector) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		return sqlite.Math(func(name string, f any) error { return conn.RegisterFunc(name, f, true) })
	}}
}

// PathlessError returns the error of a file without the file's path, for messages that name the path already.
func PathlessError(err error) error {
	var fault *os.PathError
	if errors.As(err, &fault) {
		return fault.Err
	}
	return err
}

// checkSQLite looks at the first bytes of a file. An empty file is an empty database.
func checkSQLite(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a folder")
	case !info.Mode().IsRegular(): // opening a pipe would wait for its writer
		return errors.New("is no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	magic := []byte("SQLite format 3\x00")
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if n > 0 && !bytes.Equal(head[:n], magic) {
		return errors.New("is no SQLite database, or an encrypted one")
	}
	return nil
}
