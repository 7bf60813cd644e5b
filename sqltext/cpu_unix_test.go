//go:build unix

package sqltext_test

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of the process, which does not grow while other programs have the processor.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano())
}
