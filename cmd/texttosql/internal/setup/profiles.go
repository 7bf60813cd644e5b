package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// State is a place for what the program keeps of its own, below XDG_STATE_HOME or ~/.local/state; "": neither is known.
func State(getenv func(string) string, name string) string {
	folder, home := getenv("XDG_STATE_HOME"), getenv("HOME")
	switch {
	case folder != "":
		return filepath.Join(folder, "texttosql", name)
	case home != "":
		return filepath.Join(home, ".local", "state", "texttosql", name)
	}
	return ""
}

// profiles are the profiles of the tables of a database that is a file, in a file of the user beside it. They hold for
// the state that the database had (stateOf), and are taken anew in any other.
type profiles struct {
	path  string // of the file that keeps them
	place string // of the database
	note  string // what is wrong with the file; "": nothing

	mu      sync.Mutex
	state   string // of the database when it was opened
	tables  map[string]schema.Table
	changed bool
}

// profilesVersion is the version of a record of the file.
const profilesVersion = 1

// keptTable is a record of the file: a table, in the form of encoding/gob.
type keptTable struct {
	State string `json:"state"` // of the database
	Key   string `json:"key"`
	Table []byte `json:"table"`
}

func init() {
	// the values of rows
	for _, v := range []any{int64(0), float64(0), "", false, []byte(nil), result.Decimal(""), time.Time{}} {
		gob.Register(v)
	}
}

// The parts of a database that stateOf reads: headBytes hold the change counter of SQLite, at 24, and those of DuckDB,
// in its second and third block. A longer log than logBytes is not read.
const (
	headBytes = 3 * 4096
	logBytes  = 64 << 20
)

// stateOf tells states of a database apart: by the stamp and the head of its file, and by its log. "": it is no file,
// or its log is too long to be read.
func stateOf(place string) string {
	sum := sha256.New()
	for _, name := range []string{place, place + "-wal", place + ".wal"} {
		info, err := os.Stat(name)
		isFile := err == nil && info.Mode().IsRegular()
		most := int64(logBytes)
		if name == place {
			most = headBytes
		}
		switch {
		case name == place && !isFile, name != place && isFile && info.Size() > most:
			return ""
		case !isFile || name != place && info.Size() == 0: // no log, or one that holds nothing
			continue
		}
		fmt.Fprintln(sum, name, atomicfile.Stamp(info))
		f, err := os.Open(name)
		if err == nil {
			_, err = io.CopyN(sum, f, most)
			f.Close()
		}
		if err != nil && err != io.EOF {
			return ""
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// openProfiles reads the profiles that a folder has of a database; nil: the database is not a file.
func openProfiles(folder, engine, place string) *profiles {
	place, err := filepath.Abs(place)
	state := stateOf(place)
	if err != nil || state == "" || engine != "sqlite" && engine != "duckdb" {
		return nil
	}
	sum := sha256.Sum256([]byte(engine + " " + place))
	p := &profiles{path: filepath.Join(folder, hex.EncodeToString(sum[:8])+".profiles"), place: place, state: state,
		tables: map[string]schema.Table{}}
	p.read()
	return p
}

// read reads the file. A record that is damaged, or of an earlier version, is left out: its table is looked at anew.
func (p *profiles) read() {
	raw, err := os.ReadFile(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && len(raw) == 0:
		err = errors.New("it is empty")
	}
	if err != nil {
		p.note = fmt.Sprintf("%s: %v: the tables are looked at anew", p.path, err)
		return
	}
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if err := p.readTable(line); err != nil && p.note == "" {
			p.note = fmt.Sprintf("%s: record %d is damaged or of an earlier version, its table is looked at anew: %v", p.path, n,
				err)
		}
	}
}

// readTable takes the table of a record, if it is of the state of the database.
func (p *profiles) readTable(line []byte) error {
	var kept keptTable
	old, err := atomicfile.Read(line, profilesVersion, &kept)
	switch {
	case err != nil:
		return err
	case old:
		return errors.New("it has no checksum or no version")
	case kept.State != p.state:
		return nil
	}
	var t schema.Table
	if err := gob.NewDecoder(bytes.NewReader(kept.Table)).Decode(&t); err != nil {
		return err
	}
	p.tables[kept.Key] = t
	return nil
}

// Profile returns a table that is kept.
func (p *profiles) Profile(key string) (t schema.Table, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok = p.tables[key]
	return t, ok
}

// Keep keeps a table until Close.
func (p *profiles) Keep(key string, t schema.Table) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tables[key], p.changed = t, true
}

// Close writes the file, for the user alone, unless the database has changed meanwhile. Without it the next program
// looks itself.
func (p *profiles) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.changed || stateOf(p.place) != p.state {
		return
	}
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(p.tables)) {
		line, err := p.record(key)
		if err != nil {
			return
		}
		text = append(append(text, line...), '\n')
	}
	if os.MkdirAll(filepath.Dir(p.path), 0o700) == nil {
		_ = atomicfile.Write(p.path, text, 0o600) // it is a copy of what the database has
	}
}

// record is the record of a table.
func (p *profiles) record(key string) ([]byte, error) {
	var table bytes.Buffer
	if err := gob.NewEncoder(&table).Encode(p.tables[key]); err != nil {
		return nil, err
	}
	return atomicfile.Record(profilesVersion, keptTable{p.state, key, table.Bytes()})
}
