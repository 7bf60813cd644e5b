// Package cli holds what the verbs of a terminal share: how a SQLite file is opened, how answers, steps and a
// conversation are printed.
package cli
