// Package archtest holds the test that keeps the arrows of ARCHITECTURE.md: who
// may import whom, and what the root package must not link.
package archtest
