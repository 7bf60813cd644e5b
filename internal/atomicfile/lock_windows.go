package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// sharingViolation is the error of opening a file that somebody else has open for himself alone.
const sharingViolation = syscall.Errno(32)

func locked(path string, wait bool) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for {
		const access = syscall.GENERIC_READ | syscall.GENERIC_WRITE
		h, err := syscall.CreateFile(name, access, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		if err == nil {
			return os.NewFile(uintptr(h), path), nil
		}
		switch {
		case !errors.Is(err, sharingViolation):
			return nil, err
		case !wait:
			return nil, ErrLocked
		}
		time.Sleep(5 * time.Millisecond)
	}
}
