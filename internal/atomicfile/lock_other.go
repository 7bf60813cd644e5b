//go:build !windows && (!unix || solaris || aix)

package atomicfile

import "os"

func locked(path string, _ bool) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
