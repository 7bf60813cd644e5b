// Package testutil ends a test whose preparations fail.
//
//	pool := testutil.Value(sql.Open("sqlite3", path))(t)
//	testutil.OK(t, pool.Ping())
package testutil

import "testing"

// Value returns what a call returned. The function that it gives ends the test where the call has an error, which is
// told behind what it was about.
func Value[T any](value T, err error) func(t testing.TB, about ...any) T {
	return func(t testing.TB, about ...any) T {
		t.Helper()
		OK(t, err, about...)
		return value
	}
}

// OK ends the test where there is an error, which is told behind what it was about.
func OK(t testing.TB, err error, about ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(about, err)...)
	}
}
