package duckdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec/guard"
)

// Options bound what a handle may use. A zero field has its default.
type Options struct {
	// Files are folders and files that views of the database may read: Parquet, CSV and JSON files that a view names.
	// Statements reach them only through such a view. Default: none.
	Files []string
	// MemoryBytes bounds the memory that DuckDB takes for sorts, groups and joins (memory_limit). On Linux it also
	// bounds how much the process may grow while one statement runs. Default: 512 MiB.
	MemoryBytes int64
	// TempBytes bounds what DuckDB may write to disk when that memory is not enough. Default: 0, nothing.
	TempBytes int64
	// TempFolder is the folder for these files. Default: a folder next to the database, with ".tmp" added to its name.
	TempFolder string
	// Threads is the number of threads that a statement may use. Default: 4, or the number of CPUs if that is smaller.
	Threads int
}

// Open opens a DuckDB file read-only and returns the handle that the guard of [Dialect] requires:
//
//   - The file is opened read-only, and nothing else can be attached.
//   - Only the files in o.Files can be read. The network is blocked, and no extension is installed or loaded.
//   - Memory and threads are bounded, and the settings are locked.
//
// While the handle is open no process can write to the file, so its schema does not change. Within one process a file
// has one set of settings: Open fails if the file is already open with other settings or for writing.
//
// A handle that the driver itself opened lacks this protection: the guard refuses it and says what to do.
//
// Close the handle as usual. Errors name the file.
func Open(path string, o Options) (*sql.DB, error) {
	c, err := newConnector(path, o)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

func newConnector(path string, o Options) (_ *connector, err error) {
	dsn, want, err := o.read(path)
	if err != nil {
		return nil, err
	}
	inner, err := duckdb.NewConnector(dsn, nil)
	if err != nil {
		text := firstLine(err)
		if strings.Contains(err.Error(), "different configuration") {
			text = "it is open in this process with other settings: close that handle first, or use the same Options"
		}
		return nil, fmt.Errorf("duckdb: opening %s: %s", path, text)
	}
	c := &connector{Connector: inner, made: &made{place: rand.Text(), memory: cmp.Or(o.MemoryBytes, mostMemory)}}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := c.lock(want); err != nil {
		return nil, fmt.Errorf("duckdb: opening %s: %s", path, firstLine(err))
	}
	return c, nil
}

// unclosed is a connector that a pool does not close.
type unclosed struct{ driver.Connector }

// lock changes the settings of a database that was just opened, and checks those of a database that was open already.
func (c *connector) lock(want access) error {
	pool := sql.OpenDB(unclosed{c})
	defer pool.Close()
	ctx := ours(context.Background())
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for again := false; ; again = true {
		var found access
		var locked, right bool
		var folders, files any
		err := guard.QueryEach(ctx, conn,
			`SELECT system.main.current_setting('lock_configuration'), system.main.current_setting('access_mode') = 'read_only' AND NOT system.main.current_setting('enable_external_access')
			AND NOT system.main.current_setting('autoload_known_extensions') AND NOT system.main.current_setting('allow_community_extensions')
			AND NOT EXISTS (FROM system.main.duckdb_databases() WHERE NOT internal OFFSET 1), system.main.current_setting('allowed_directories'), system.main.current_setting('allowed_paths')`,
			func(scan func(...any) error) error { return scan(&locked, &right, &folders, &files) })
		if err != nil {
			return err
		}
		found = access{folders: texts(folders), files: texts(files)}
		switch {
		case locked && right && found.same(want):
			return nil
		case locked && right && !again:
			return errors.New("it is open in this process with other Files: close that handle first, or use the same Options")
		case locked || again:
			return errors.New("the settings did not hold")
		}
		for _, s := range want.settings() {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				return err
			}
		}
	}
}

// access lists what a handle may read in addition to its database.
type access struct {
	folders, files []string // as SQL strings where they are wanted
	database, temp string   // the path of the database, and of its temporary files
}

func (a access) settings() (out []string) {
	for name, list := range map[string][]string{"allowed_directories": a.folders, "allowed_paths": a.files} {
		if len(list) > 0 {
			out = append(out, fmt.Sprintf("SET %s = [%s]", name, strings.Join(list, ", ")))
		}
	}
	slices.Sort(out)
	return append(out, "SET allowed_configs = ['streaming_buffer_size']", "SET enable_external_access = false",
		"SET lock_configuration = true")
}

// same reports whether DuckDB allows exactly what was wanted. DuckDB adds its own files next to the database.
func (a access) same(want access) bool {
	for _, lists := range [][2][]string{{a.folders, want.folders}, {a.files, want.files}} {
		n := 0
		for _, name := range lists[0] {
			if slices.Contains(lists[1], literal(name)) {
				n++
			} else if own := strings.HasPrefix(name, want.database); !own && name != want.temp {
				return false
			}
		}
		if n != len(lists[1]) {
			return false
		}
	}
	return true
}

// read returns the data source name and the settings that follow.
func (o Options) read(path string) (dsn string, want access, err error) {
	if err := o.check(path); err != nil {
		return "", want, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", want, err
	}
	// The driver reads the path as part of a URL and does not unescape it.
	if _, err := url.Parse(path); err != nil || strings.ContainsAny(path, "?#") {
		return "", want, fmt.Errorf("duckdb: the driver cannot open %s: a path may hold no ?, # or %%", path)
	}
	want, err = o.access(path)
	return path + "?" + o.config().Encode(), want, err
}

// check rejects a file that DuckDB did not write, and options that make no sense.
func (o Options) check(path string) error {
	if path == "" || path == ":memory:" {
		return errors.New("duckdb: Open needs the path of a file: a database in memory cannot be opened for reading only")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("duckdb: opening %s: there is no such file", path)
	case err != nil:
		return fmt.Errorf("duckdb: opening the file: %w", err)
	case info.IsDir():
		return fmt.Errorf("duckdb: %s is a folder: OpenFolder asks about its files", path)
	case !isDatabase(path):
		return fmt.Errorf("duckdb: %s is no DuckDB file", path)
	case o.MemoryBytes < 0 || o.TempBytes < 0 || o.Threads < 0:
		return errors.New("duckdb: a field of Options is negative")
	}
	return nil
}

// config are the settings with which a file is opened.
func (o Options) config() url.Values {
	config := url.Values{
		"access_mode":                  {"READ_ONLY"},
		"autoload_known_extensions":    {"false"},
		"autoinstall_known_extensions": {"false"},
		"allow_community_extensions":   {"false"},
		"allow_persistent_secrets":     {"false"},
		"memory_limit":                 {strconv.FormatInt(cmp.Or(o.MemoryBytes, mostMemory), 10) + "B"},
		"max_temp_directory_size":      {strconv.FormatInt(o.TempBytes, 10) + "B"},
		"threads":                      {strconv.Itoa(cmp.Or(o.Threads, min(4, runtime.GOMAXPROCS(0))))},
	}
	if o.TempBytes == 0 {
		config.Set("temp_directory", "") // or DuckDB makes an empty folder
	} else if o.TempFolder != "" {
		config.Set("temp_directory", o.TempFolder)
	}
	return config
}

// access returns what the handle of a database may read in addition to it.
func (o Options) access(path string) (want access, err error) {
	want = access{database: path, temp: strings.TrimSuffix(o.TempFolder, "/") + "/"}
	for _, name := range o.Files {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return want, err
		}
		info, err := os.Stat(absolute)
		if err != nil {
			return want, fmt.Errorf("duckdb: Options.Files: %w", err)
		}
		if info.IsDir() {
			want.folders = append(want.folders, literal(strings.TrimSuffix(absolute, "/")+"/"))
		} else {
			want.files = append(want.files, literal(absolute))
		}
	}
	return want, nil
}

// isDatabase looks at the first bytes of a file. DuckDB itself might take another one for a table, or for nothing.
func isDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // opening it returns the reason
	}
	defer f.Close()
	var head [12]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && string(head[8:]) == "DUCK"
}

// literal writes a string.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// OpenFolder opens the Parquet, CSV and JSON files of a folder as the tables of a database. Each file is a view with
// the name of the file without its extension. The views are in a temporary database. Close of the handle removes it.
//
// A file in a subfolder is a view with both names: sales/may.csv is sales_may. The files in folders like year=2024 are
// one view with a column year; its name is the name of the parent folder. Parts of one file, like part-0001.parquet,
// are one view too. Hidden files are left out, and so is a file that DuckDB cannot read: a truncated Parquet file, a
// CSV file in Latin-1, an Excel file. The warning "file-left-out" of the handle's exec.DB names the file and the
// reason. A folder without a readable file is an error.
//
// The files are not copied: each statement reads them. DuckDB guesses the types of CSV and JSON columns when the view
// is created. If it guesses wrong, create a database with your own views and use [Open] with Options.Files. o is the
// same as in Open. o.Files are allowed in addition to the folder, but no view reads them.
func OpenFolder(ctx context.Context, folder string, o Options) (_ *sql.DB, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	views, unread, err := viewsOf(folder)
	if err != nil {
		return nil, err
	}
	place, err := os.MkdirTemp("", "texttosql-duckdb-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(place))
		}
	}()
	path := filepath.Join(place, "files.duckdb")
	left, err := write(ctx, path, views)
	if err == nil && len(left) == len(views) {
		err = errors.New(left[0])
	}
	if err != nil {
		return nil, fmt.Errorf("duckdb: opening %s: %s", folder, firstLine(err))
	}
	o.Files = append(slices.Clone(o.Files), folder)
	c, err := newConnector(path, o)
	if err != nil {
		return nil, err
	}
	c.cleanup = func() error { return os.RemoveAll(place) }
	c.made.left = append(left, unread...)
	return sql.OpenDB(c), nil
}

// write creates a database with the views of the files that DuckDB can read, and returns the reason for each file left
// out.
func write(ctx context.Context, path string, views []fileView) (left []string, err error) {
	c, err := duckdb.NewConnector(path, nil)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(c)
	defer pool.Close()
	for _, v := range views {
		_, err := pool.ExecContext(ctx, v.text)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			left = append(left, fmt.Sprintf("the file %s is left out, since DuckDB cannot read it: %s", v.file, reason(err)))
		}
	}
	return left, nil
}

// reason returns DuckDB's error about a file in one line. The first line of the error names the place, and a later one
// the fault. The lines between have content of the file, which reason leaves out.
func reason(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for _, line := range lines[1:] {
		if line = strings.TrimSpace(line); wrong.MatchString(line) {
			return strings.TrimSpace(lines[0]) + ": " + line
		}
	}
	return lines[0]
}

// wrong matches the start of the line in which DuckDB names the fault of a file.
var wrong = regexp.MustCompile(`^(?:Invalid|Value|Expected|Error when|Could not|Malformed)\b`)

// pattern writes the path of one file for functions that take patterns.
func pattern(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
