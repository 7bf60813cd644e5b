package eval

import (
	"fmt"
	"io/fs"
)

// DatabaseError reports that a folder does not have a database, or that its file cannot be read. Only in the first
// case it matches [fs.ErrNotExist].
type DatabaseError struct {
	ID   string // id of the database, as questions name it
	Path string // path of the folder without it, or of the file
	Err  error  // the fault of the file; nil: the file is missing
}

// Error names the database and the folder, or the file and its fault.
func (e *DatabaseError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("eval: database %q is not in %s", e.ID, e.Path)
	}
	return fmt.Sprintf("eval: database %s: %v", e.Path, e.Err)
}

// Is makes a DatabaseError about a missing file match [fs.ErrNotExist].
func (e *DatabaseError) Is(target error) bool { return e.Err == nil && target == fs.ErrNotExist }

// Unwrap returns the fault of the file.
func (e *DatabaseError) Unwrap() error { return e.Err }
