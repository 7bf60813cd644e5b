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
const manifestVersion = 3

// Manifest says what a suite is. The same base, golds and configuration give the same manifest.
type Manifest struct {
	Version  int       `json:"version"`            // version of the format, 3; another is an error
	Seed     uint64    `json:"seed"`               // Generator.Seed
	Base     string    `json:"base"`               // fingerprint of the content of the base
	Replicas []Replica `json:"replicas"`           // in the order in which they were drawn
	Rejected []string  `json:"rejected,omitempty"` // draws that broke a rule of the database, with the reason
}

// Replica is one database of a suite.
type Replica struct {
	File       string   `json:"file"`       // name in the folder of the suite
	Operations []string `json:"operations"` // what the operators did, in words
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
