package eval

import (
	"fmt"
	"io/fs"
)

// DatabaseError says that a database is not in a folder, or that its file cannot
// be read. It matches [fs.ErrNotExist] in the first case alone.
type DatabaseError struct {
	ID   string // id of the database, as questions name it
	Path string // path of the folder that does not hold it, or of the file
	Err  error  // what is wrong with the file; nil: there is none
}

// Error names the database and the folder, or the file and what is wrong with it.
func (e *DatabaseError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("eval: database %q is not in %s", e.ID, e.Path)
	}
	return fmt.Sprintf("eval: database %s: %v", e.Path, e.Err)
}

// Is makes a DatabaseError about a file that is not there match [fs.ErrNotExist].
func (e *DatabaseError) Is(target error) bool { return e.Err == nil && target == fs.ErrNotExist }

// Unwrap returns what is wrong with the file.
func (e *DatabaseError) Unwrap() error { return e.Err }
