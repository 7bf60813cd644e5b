package files

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
)

// Lines reads a file of JSON values, one behind the other, that is compressed by gzip if its name ends in .gz. What is
// wrong with it is an *fileerr.Questions with the number of the value.
func Lines[T any](path string) (list []T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, &fileerr.Questions{File: path, Err: err}
		}
	}
	for d := json.NewDecoder(r); ; {
		var x T
		switch err := d.Decode(&x); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, &fileerr.Questions{File: path, Line: len(list) + 1, Err: err}
		}
		list = append(list, x)
	}
}
