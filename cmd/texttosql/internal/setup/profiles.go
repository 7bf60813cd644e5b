package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
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

// profiles are the profiles of the tables of a database that is a file, in a file of the user beside it. They hold for the state
// that the database had: another size or another time of the file or of its log, and they are taken anew.
type profiles struct {
	path  string // of the file that keeps them
	place string // of the database

	mu      sync.Mutex
	state   string // of the database when it was opened
	tables  map[string]schema.Table
	changed bool
}

// keptProfiles is the content of the file.
type keptProfiles struct {
	State  string
	Tables map[string]schema.Table
}

func init() {
	for _, v := range []any{int64(0), float64(0), "", false, []byte(nil), result.Decimal(""), time.Time{}} { // the values of rows
		gob.Register(v)
	}
}

// stateOf tells states of a database apart; "": it is no file.
func stateOf(place string) (state string) {
	for _, name := range []string{place, place + "-wal", place + ".wal"} {
		info, err := os.Stat(name)
		switch {
		case err == nil && info.Mode().IsRegular():
			state += fmt.Sprintf("%s %d %d\n", filepath.Base(name), info.Size(), info.ModTime().UnixNano())
		case name == place:
			return ""
		}
	}
	return state
}

// openProfiles reads what is kept of a database in a folder; nil: it is no file. A file that cannot be read keeps nothing.
func openProfiles(folder, engine, place string) *profiles {
	place, err := filepath.Abs(place)
	state := stateOf(place)
	if err != nil || state == "" || engine != "sqlite" && engine != "duckdb" {
		return nil
	}
	sum := sha256.Sum256([]byte(engine + " " + place))
	p := &profiles{path: filepath.Join(folder, hex.EncodeToString(sum[:8])+".profiles"), place: place, state: state, tables: map[string]schema.Table{}}
	raw, err := os.ReadFile(p.path)
	var kept keptProfiles
	if err == nil && gob.NewDecoder(bytes.NewReader(raw)).Decode(&kept) == nil && kept.State == state && kept.Tables != nil {
		p.tables = kept.Tables
	}
	return p
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

// Close writes the file, for the user alone, unless the database has changed meanwhile. Without it the next program looks itself.
func (p *profiles) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.changed || stateOf(p.place) != p.state {
		return
	}
	var text bytes.Buffer
	if gob.NewEncoder(&text).Encode(keptProfiles{p.state, p.tables}) != nil || os.MkdirAll(filepath.Dir(p.path), 0o700) != nil {
		return
	}
	_ = atomicfile.Write(p.path, text.Bytes(), 0o600) // it is a copy of what the database has
}
