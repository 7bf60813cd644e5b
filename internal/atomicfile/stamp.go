package atomicfile

import (
	"fmt"
	"io/fs"
)

// Stamp tells states of one file apart: by its size, by the time that programs can set, and by the time of its last
// change, which none can set, on systems that have it.
func Stamp(info fs.FileInfo) string {
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), changed(info))
}
