//go:build unix && !solaris && !aix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

func locked(path string, wait bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case err == nil:
			return f, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			f.Close()
			return nil, ErrLocked
		case !errors.Is(err, syscall.EINTR):
			f.Close()
			return nil, err
		}
	}
}
