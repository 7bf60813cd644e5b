package cli

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // the driver of the examples
)

// OpenReadOnly opens a SQLite file that exists, for reading. Nothing may be
// written through the result; beside a database in WAL mode SQLite itself puts its
// two files. What is no SQLite file is an error here and not of the first
// statement; damage further in is not. The error does not name the path.
func OpenReadOnly(path string) (*sql.DB, error) {
	if err := checkSQLite(path); err != nil {
		var fault *os.PathError
		if errors.As(err, &fault) {
			err = fault.Err // without the name
		}
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// As a URL, or a name with "?" or "%" in it would be another file.
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: "mode=ro"}
	return sql.Open("sqlite3", uri.String())
}

// checkSQLite looks at the first bytes of a file. An empty file is an empty
// database.
func checkSQLite(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a folder")
	case !info.Mode().IsRegular(): // to open a pipe would wait for its writer
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
