package testsuite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// manifestName is the name of the manifest in the folder of a suite.
const manifestName = "manifest.json"

// manifestVersion is the version of the format that is written and read here.
const manifestVersion = 2

// Manifest says what a suite is and how strong. The same base, golds and configuration give the same manifest.
//
// A gold is blind on a database if many wrong statements share its result: no rows, or one row of nothing but NULL and
// 0. Golds are named by their ID.
type Manifest struct {
	Version  int       `json:"version"`  // version of the format, 2; another is an error
	Seed     uint64    `json:"seed"`     // Generator.Seed
	Base     string    `json:"base"`     // fingerprint of the content of the base
	Draws    int       `json:"draws"`    // variations made; the replicas were chosen among them
	Replicas []Replica `json:"replicas"` // in the order in which they were drawn

	Golds    int      `json:"golds"`     // golds given
	Blind    []string `json:"blind"`     // golds that are blind on the base and on every replica
	BaseOnly int      `json:"base_only"` // golds that are blind on the base alone
	Excluded []string `json:"excluded"`  // golds that do not run on the base

	Mutants   int      `json:"mutants"`   // mutants of the golds that run, without the undecided
	Killed    int      `json:"killed"`    // mutants whose result differs from their gold's on the base or a replica
	OnBase    int      `json:"on_base"`   // killed mutants whose result differs on the base
	Survivors []Mutant `json:"survivors"` // the mutants not killed, gold by gold; many mean the same as their gold
	Undecided int      `json:"undecided"` // mutants that failed to run or hit a limit

	// Rejected are draws that broke a rule of the database, with the reason.
	Rejected []string `json:"rejected,omitempty"`
}

// KillRate is Killed ÷ Mutants, in 0..1, and 1 without mutants.
func (m *Manifest) KillRate() float64 {
	if m.Mutants == 0 {
		return 1
	}
	return float64(m.Killed) / float64(m.Mutants)
}

// Replica is one database of a suite.
type Replica struct {
	File       string   `json:"file"`       // name in the folder of the suite
	Draw       int      `json:"draw"`       // number of the draw; odd draws have wide factors, even draws narrow ones
	Content    string   `json:"content"`    // fingerprint of its rows
	Operations []string `json:"operations"` // what the operators did, in words
	Failing    []string `json:"failing"`    // golds that do not run on it, or run into a limit
	Unstable   []string `json:"unstable"`   // golds whose rows depend on the order in which SQLite reads
}

// ReadManifest reads the manifest of the suite in dir.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("testsuite: reading manifest: %w", err)
	}
	var m Manifest
	err = json.Unmarshal(text, &m)
	if m.Version > 0 && m.Version != manifestVersion { // other fields may have had other types then
		err = fmt.Errorf("version %d, want %d", m.Version, manifestVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("testsuite: reading manifest %s: %w", path, err)
	}
	for _, r := range m.Replicas {
		if r.File != filepath.Base(r.File) || r.File == "." || r.File == ".." {
			return nil, fmt.Errorf("testsuite: reading manifest %s: replica %q is not in its folder", path, r.File)
		}
	}
	return &m, nil
}

// write writes the manifest under another name and renames it, so that a folder with a manifest holds a whole suite.
func (m *Manifest) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, manifestName)
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o644); err != nil {
		return errors.Join(err, os.Remove(path+".part"))
	}
	return os.Rename(path+".part", path)
}
