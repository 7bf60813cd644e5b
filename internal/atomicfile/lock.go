package atomicfile

import (
	"errors"
	"os"
)

// Lock waits until nobody else holds the lock of the file at path, in this process or in another one on the same
// machine. The lock is a file of its own, path + ".lock", which stays, and it ends with the process, however that ends.
// unlock lets the next one in. Systems that are neither Windows nor have flock lock nothing.
func Lock(path string) (unlock func(), err error) { return lock(path, true) }

// ErrLocked matches the error of TryLock where somebody else holds the lock.
var ErrLocked = errors.New("somebody else holds the lock")

// TryLock is Lock without the wait.
func TryLock(path string) (unlock func(), err error) { return lock(path, false) }

func lock(path string, wait bool) (unlock func(), err error) {
	f, err := locked(path+".lock", wait)
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return func() { f.Close() }, nil
}
