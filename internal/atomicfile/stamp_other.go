//go:build !linux && !darwin

package atomicfile

import "io/fs"

func changed(fs.FileInfo) int64 { return 0 }
