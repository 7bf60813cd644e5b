package atomicfile

import (
	"io/fs"
	"syscall"
)

func changed(info fs.FileInfo) int64 {
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		return of.Ctim.Nano()
	}
	return 0
}
