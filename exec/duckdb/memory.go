package duckdb

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// DuckDB counts what sorts, groups and joins take against memory_limit, but not the state of mode, median, quantiles,
// entropy and histogram, which keep the values themselves. So a statement also ends when the process has grown by
// more than that limit while it runs, whoever took the memory.

// mostMemory is Options.MemoryBytes where that is 0.
const mostMemory = 512 << 20

// watchEvery is how often the memory of the process is looked at while a statement runs.
const watchEvery = 5 * time.Millisecond

// errMemory is why a statement was interrupted.
var errMemory = errors.New("duckdb: the process grew by more than MemoryBytes")

// outOfMemory is errMemory as DuckDB says it.
var outOfMemory = &duckdb.Error{Type: duckdb.ErrorTypeOutOfMemory, Msg: "Out of Memory Error: " + errMemory.Error()}

// bounded is ctx, ended with errMemory when the process has grown by more than most. end has to be called.
func bounded(ctx context.Context, most int64) (out context.Context, end func()) {
	before := resident()
	out, cancel := context.WithCancelCause(ctx)
	if before == 0 { // the system does not tell
		return out, func() { cancel(nil) }
	}
	var look func()
	timer := time.AfterFunc(time.Hour, func() { look() })
	look = func() {
		if out.Err() != nil {
			return
		}
		if resident()-before > most {
			cancel(errMemory)
			return
		}
		timer.Reset(watchEvery)
	}
	timer.Reset(watchEvery)
	return out, func() { cancel(nil); timer.Stop() }
}

// resident is the memory of the process, in bytes, 0 where the system does not tell: the second number of statm is
// pages.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	if fields := bytes.Fields(text); len(fields) > 1 {
		pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}
