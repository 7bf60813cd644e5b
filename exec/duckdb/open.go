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
	"github.com/texttosql/texttosql/schema"
)

// Options are what a handle may use. The zero value of each field is its default.
type Options struct {
	// Files are folders and files that views of the database may read: Parquet, CSV and JSON that a view of yours names.
	// Statements reach them through such a view only. Default: none.
	Files []string
	// MemoryBytes bounds what DuckDB takes for sorts, groups and joins (memory_limit), and, on Linux, by how much the
	// process may grow while one statement runs: 512 MiB.
	MemoryBytes int64
	// TempBytes is how much it may write to disk for what does not fit into that: 0, nothing.
	TempBytes int64
	// TempFolder is where: by default a folder beside the database, with ".tmp" behind its name.
	TempFolder string
	// Threads is how many threads a statement may use: 4, or as many as there are CPUs.
	Threads int
}

// Open opens a DuckDB file for reading only and returns the handle that the guard of [Dialect] wants:
//
//   - The file is opened read-only, and nothing else can be attached.
//   - No file and no network is reached but o.Files, no extension is installed or loaded.
//   - Memory and threads are bounded, and no setting can be changed any more.
//
// While the handle is open no process can write to the file, so its schema does not change. Within one process a file
// has one set of settings: where it is open already, with other settings or for writing, Open fails.
//
// A handle that the driver itself opened is none of these: the guard refuses it, and says what to do.
//
// Close the handle as any other. Errors name the file.
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

// lock makes the settings of a database that has just been opened, and looks at those of one that was open already.
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
		err := guard.Each(ctx, conn, `SELECT system.main.current_setting('lock_configuration'), system.main.current_setting('access_mode') = 'read_only' AND NOT system.main.current_setting('enable_external_access')
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

// access is what a handle may read beside its database.
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
	return append(out, "SET allowed_configs = ['streaming_buffer_size']", "SET enable_external_access = false", "SET lock_configuration = true")
}

// same reports whether DuckDB allows what was wanted. It adds its own files beside the database.
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
	// The driver takes the path for a part of an address, and unescapes none of it.
	if _, err := url.Parse(path); err != nil || strings.ContainsAny(path, "?#") {
		return "", want, fmt.Errorf("duckdb: the driver cannot open %s: a path may hold no ?, # or %%", path)
	}
	want, err = o.access(path)
	return path + "?" + o.config().Encode(), want, err
}

// check refuses what is no DuckDB file, and options that make no sense.
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

// access is what the handle of a database may read beside it.
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
		return true // opening it says why
	}
	defer f.Close()
	var head [12]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && string(head[8:]) == "DUCK"
}

// literal writes a string.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// readers are the functions that read files, by the end of a file's name.
var readers = []struct{ suffix, function string }{
	{".parquet", "read_parquet"}, {".csv", "read_csv"}, {".tsv", "read_csv"}, {".csv.gz", "read_csv"}, {".tsv.gz", "read_csv"},
	{".json", "read_json"}, {".jsonl", "read_ndjson"}, {".ndjson", "read_ndjson"},
}

// OpenFolder opens the Parquet, CSV and JSON files of a folder as the tables of a database: each is a view, called like
// its file without the ending, in a database of its own among the temporary files, which Close of the handle removes.
// Folders in the folder, hidden files and files of other kinds are left out. So is a file that DuckDB cannot read, half a
// Parquet file or a CSV file in Latin-1: the warning "file-left-out" of the handle's exec.DB says which and why. A folder
// without a file that can be read is an error.
//
// The files are not copied: each statement reads them. DuckDB guesses the types of CSV and JSON columns when the view
// is made; where it guesses wrong, make a database with views of your own and use [Open] with Options.Files. o is as
// there; its Files are read beside the folder, by no view.
func OpenFolder(ctx context.Context, folder string, o Options) (_ *sql.DB, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	views, err := viewsOf(folder)
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
	c.made.left = left
	return sql.OpenDB(c), nil
}

// viewsOf are the files of a folder that are tables.
func viewsOf(folder string) (views []fileView, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("duckdb: opening a folder: %w", err)
	}
	names := map[string]string{} // of a view, the file
	for _, entry := range entries {
		file := entry.Name()
		i := slices.IndexFunc(readers, func(r struct{ suffix, function string }) bool {
			return strings.HasSuffix(strings.ToLower(file), r.suffix)
		})
		if i < 0 || entry.IsDir() || strings.HasPrefix(file, ".") {
			continue
		}
		name := file[:len(file)-len(readers[i].suffix)]
		if other := names[schema.Fold(name)]; other != "" {
			return nil, fmt.Errorf("duckdb: opening %s: %s and %s would both be the table %s", folder, other, file, name)
		}
		names[schema.Fold(name)] = file
		text := "CREATE VIEW %s AS SELECT * FROM %s(%s)"
		text = fmt.Sprintf(text, language.Quote(name), readers[i].function, literal(pattern(filepath.Join(folder, file))))
		views = append(views, fileView{file, text})
	}
	if len(views) == 0 {
		return nil, fmt.Errorf("duckdb: opening %s: it has no Parquet, CSV or JSON file", folder)
	}
	return views, nil
}

// fileView is a file of a folder and the statement that makes its view.
type fileView struct{ file, text string }

// write makes a database with the views of the files that DuckDB can read, and says of each other one why it is left out.
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

// reason is what DuckDB says of a file, in one line: the first one names the place, and a later one what is wrong there.
// Between them stands the content, which is not told.
func reason(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for _, line := range lines[1:] {
		if line = strings.TrimSpace(line); wrong.MatchString(line) {
			return strings.TrimSpace(lines[0]) + ": " + line
		}
	}
	return lines[0]
}

// wrong begins a line of DuckDB that says what is wrong with a file.
var wrong = regexp.MustCompile(`^(?:Invalid|Value|Expected|Error when|Could not|Malformed)\b`)

// pattern writes the path of one file for functions that take patterns.
func pattern(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
