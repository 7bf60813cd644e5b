package eval

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql/internal/fileerr"
)

// maxLine bounds one line of a file of questions or answers. Statements are cut
// at 32 KiB elsewhere; real lines hold little more.
const maxLine = 16 << 20

// source is an opened file, unpacked as it is read.
type source struct {
	name string
	file io.Closer
	text *bufio.Reader
	line int // lines read so far
}

func openSource(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &fileerr.Questions{File: path, Err: withoutPath(err)}
	}
	s, err := newSource(path, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	s.file = file
	return s, nil
}

// newSource unpacks what r has when its first bytes are those of gzip, whatever
// its name. A byte order mark is skipped.
func newSource(name string, r io.Reader) (*source, error) {
	s := &source{name: name, text: bufio.NewReaderSize(r, 64<<10)}
	if magic, _ := s.text.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(s.text)
		if err != nil {
			return nil, s.fault(0, "", packed(err))
		}
		s.text = bufio.NewReaderSize(z, 64<<10)
	}
	if mark, _ := s.text.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		s.text.Discard(3)
	}
	return s, nil
}

// Close closes the file.
func (s *source) Close() error { return s.file.Close() }

// fault makes the error about a place in the file.
func (s *source) fault(line int, field string, err error) error {
	return &fileerr.Questions{File: s.name, Line: line, Field: field, Err: err}
}

// next returns the next line without its end, io.EOF after the last one. The
// bytes are valid until the next call.
func (s *source) next() ([]byte, error) {
	line, err := s.text.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(long) > maxLine {
				return nil, s.fault(s.line+1, "", fmt.Errorf("a line of more than %d bytes", maxLine))
			}
			line, err = s.text.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) && len(line) > 0:
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	default:
		return nil, s.fault(s.line+1, "", packed(err))
	}
	s.line++
	return bytes.TrimRight(line, "\r\n"), nil
}

// first returns the first byte that is no white space, and leaves it unread. A
// file without one, or with a NUL there, is an error.
func (s *source) first() (byte, error) {
	for n := 1; n <= 32<<10; n++ {
		head, err := s.text.Peek(n)
		if len(head) < n {
			if errors.Is(err, io.EOF) {
				return 0, s.fault(0, "", errors.New("the file is empty"))
			}
			return 0, s.fault(1, "", packed(err))
		}
		switch c := head[n-1]; c {
		case ' ', '\t', '\r', '\n':
		case 0:
			return 0, s.fault(0, "", errors.New("this is no text"))
		default:
			return c, nil
		}
	}
	return 0, s.fault(0, "", errors.New("nothing but white space to begin with"))
}

// all reads the rest.
func (s *source) all() ([]byte, error) {
	data, err := io.ReadAll(s.text)
	if err != nil {
		return nil, s.fault(1+bytes.Count(data, []byte("\n")), "", packed(err))
	}
	return data, nil
}

// packed says in words what gzip has to say.
func packed(err error) error {
	var flip flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("the gzip file is cut off: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &flip):
		return fmt.Errorf("the gzip file is damaged: %w", err)
	}
	return err
}

// withoutPath drops the path of an error of package os, which the caller names.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
