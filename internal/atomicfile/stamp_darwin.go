package atomicfile

import (
	"io/fs"
	"syscall"
)

func changed(info fs.FileInfo) int64 {
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		return of.Ctimespec.Nano()
	}
	return 0
}
