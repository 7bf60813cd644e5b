//go:build !unix

package sqltext_test

import "time"

var started = time.Now()

func cpuTime() time.Duration { return time.Since(started) }
