package duckdb

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// readers are the functions that read files, by the end of a file's name.
const readers = `.parquet read_parquet .csv read_csv .tsv read_csv .csv.gz read_csv .tsv.gz read_csv .json read_json
	.jsonl read_ndjson .ndjson read_ndjson .json.gz read_json .jsonl.gz read_ndjson .ndjson.gz read_ndjson`

// readerOf returns the end of a file's name by which a function reads it, as written, and the function.
func readerOf(name string) (end, function string) {
	words := strings.Fields(readers)
	for i := 0; i < len(words); i += 2 {
		if strings.HasSuffix(strings.ToLower(name), words[i]) {
			return name[len(name)-len(words[i]):], words[i+1]
		}
	}
	return "", ""
}

// unreadKinds are ends of names of files with rows that are not read.
var unreadKinds = guard.Set(`.xlsx .xls .ods .avro .orc .arrow .feather .sas7bdat .dta .sav .txt .gz .zip .zst .bz2 .xz .duckdb
	.db .sqlite .xml`)

// Bounds on what is looked at of a folder.
const (
	mostFolders = 8     // in each other
	mostFiles   = 5_000 // that are views, or parts of one
	mostUnread  = 20    // that a warning names
)

// fileView is a file, or a pattern of some, and the statement that makes its view.
type fileView struct{ file, text string }

var (
	// isPartition matches the folder of a hive partition.
	isPartition = regexp.MustCompile(`^[A-Za-z_][\w.-]*=`)
	// isPart matches a part of a file that a program wrote in several.
	isPart = regexp.MustCompile(`(?i)^(?:part|data|chunk)[-_.]?\d[\w-]*\.|-\d+-of-\d+\.`)
)

// folderReader finds the files of a folder that are tables.
type folderReader struct {
	root   string
	names  map[string]string // of a view, folded, the file
	views  []fileView
	unread []string // what is left out, and why
	files  int
	taken  map[string]bool // views of several files, by their folder and ending
	fault  error
}

// viewsOf are the files of a folder that are tables, and what is left out of it.
func viewsOf(root string) (views []fileView, unread []string, err error) {
	r := folderReader{root: root, names: map[string]string{}, taken: map[string]bool{}}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil && path == root {
			return err
		}
		return r.visit(path, entry, err)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("duckdb: opening a folder: %w", err)
	}
	if r.fault != nil {
		return nil, nil, r.fault
	}
	if len(r.views) == 0 {
		why := strings.Join(append([]string{root}, r.unread...), ": ")
		return nil, nil, fmt.Errorf("duckdb: opening %s: it has no Parquet, CSV or JSON file", why)
	}
	return r.views, r.unread, nil
}

// leave notes a file that is left out.
func (r *folderReader) leave(path, why string) {
	if len(r.unread) < mostUnread {
		r.unread = append(r.unread, fmt.Sprintf("the file %s is left out, since %s", r.short(path), why))
	}
}

func (r *folderReader) short(path string) string {
	return strings.TrimPrefix(path, r.root+string(filepath.Separator))
}

// visit takes what is in the folder, or in one of its folders.
func (r *folderReader) visit(path string, entry fs.DirEntry, err error) error {
	depth := strings.Count(r.short(path), string(filepath.Separator))
	hidden := path != r.root && strings.HasPrefix(filepath.Base(path), ".")
	isDir := entry != nil && entry.IsDir()
	switch {
	case err != nil:
		r.leave(path, "it cannot be opened")
	case isDir && (hidden || depth >= mostFolders):
		return filepath.SkipDir
	case hidden || isDir || !isFile(path, entry):
	default:
		r.file(path)
	}
	return nil
}

// isFile reports whether an entry is a file, or leads to one.
func isFile(path string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// file takes one file.
func (r *folderReader) file(path string) {
	name := filepath.Base(path)
	end, read := readerOf(name)
	if end == "" {
		if unreadKinds[strings.ToLower(filepath.Ext(name))] {
			r.leave(path, "files of this kind are not read: save it as CSV or Parquet")
		}
		return
	}
	if r.files++; r.files > mostFiles {
		if r.files == mostFiles+1 {
			r.leave(path, fmt.Sprintf("the folder has over %d files, of which the others are left out too", mostFiles))
		}
		return
	}
	switch above, hive := r.partitioned(path); {
	case hive:
		r.several(above, end, read, "**/*", ", hive_partitioning = true")
	case isPart.MatchString(name) && filepath.Dir(path) != r.root:
		r.several(filepath.Dir(path), end, read, "*", "")
	default:
		more := ""
		if end := strings.ToLower(end); end == ".csv" || end == ".tsv" {
			more = csvOptions(path)
		}
		r.add(path, r.named(strings.TrimSuffix(path, end)), read+"("+literal(pattern(path))+more+")")
	}
}

// partitioned returns the folder above the first partition on the way to a file.
func (r *folderReader) partitioned(path string) (above string, hive bool) {
	above = r.root
	for part := range strings.SplitSeq(r.short(filepath.Dir(path)), string(filepath.Separator)) {
		if isPartition.MatchString(part) {
			return above, true
		}
		above = filepath.Join(above, part)
	}
	return "", false
}

// several takes the files of one ending under a folder, which are one table.
func (r *folderReader) several(folder, end, read, under, more string) {
	if key := folder + "\x00" + end; !r.taken[key] {
		r.taken[key] = true
		files := filepath.Join(folder, under) + end
		text := literal(pattern(folder) + string(filepath.Separator) + under + end)
		from := read + "(" + text + ", union_by_name = true" + more + ")"
		r.add(files, cmp.Or(r.named(folder), filepath.Base(folder)), from)
	}
}

// named returns the name of the view of a path, which is the path in the folder.
func (r *folderReader) named(path string) string {
	if path == r.root {
		return ""
	}
	return strings.ReplaceAll(r.short(path), string(filepath.Separator), "_")
}

// add adds a view. Two files of the folder itself with one name are a fault; further down the second one is left out.
func (r *folderReader) add(path, name, from string) {
	other := r.names[schema.FoldCase(name)]
	switch {
	case other == "":
		r.names[schema.FoldCase(name)] = r.short(path)
		text := fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM %s", language.Quote(name), from)
		r.views = append(r.views, fileView{r.short(path), text})
	case filepath.Dir(path) == r.root && !strings.ContainsRune(other, filepath.Separator):
		fault := fmt.Errorf("duckdb: opening %s: %s and %s would both be the table %s", r.root, other, r.short(path), name)
		r.fault = cmp.Or(r.fault, fault)
	default:
		r.leave(path, fmt.Sprintf("%s is the table %s already", other, name))
	}
}

const mostHead = 64 << 10 // bytes of a CSV file that are looked at

// csvOptions are the options for what DuckDB does not find out of a CSV file by itself: UTF-16, the line "sep=;" of
// Excel, and lines with fewer fields than the first one. DuckDB refuses UTF-16 with the larger byte first by its name.
func csvOptions(path string) (options string) {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, mostHead))
	switch {
	case err != nil:
		return ""
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return ", encoding = 'utf-16'"
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return ", encoding = 'utf-16be'"
	}
	text, separators := strings.TrimPrefix(string(head), "\ufeff"), ",;\t|"
	if m := separatorLine.FindStringSubmatch(text); m != nil {
		options = ", skip = 1, delim = " + literal(m[1])
		text, separators = text[len(m[0]):], m[1]
	}
	var short []rune
	for _, separator := range separators {
		switch counts := fieldCounts(text, separator, len(head) == mostHead); {
		case isEven(counts): // DuckDB reads it as it is
			return options
		case hasShortLines(counts):
			short = append(short, separator)
		}
	}
	if len(short) > 0 {
		options = cmp.Or(options, ", delim = "+literal(string(short[0]))) + ", null_padding = true"
		if strings.Contains(text, `"`) { // DuckDB does not pad lines and read line breaks in quotes in several threads
			options += ", parallel = false"
		}
	}
	return options
}

// separatorLine matches the first line by which Excel says what separates fields.
var separatorLine = regexp.MustCompile(`^(?i:sep)=(.)\r?\n`)

// fieldCounts counts the fields of each line of a text; nil: it is not CSV with that separator. cut: the last line is
// not whole.
func fieldCounts(text string, separator rune, cut bool) (counts []int) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = separator, -1, true
	for {
		fields, err := r.Read()
		if err == io.EOF || err != nil && cut {
			break
		}
		if err != nil {
			return nil
		}
		counts = append(counts, len(fields))
	}
	if cut && len(counts) > 0 {
		counts = counts[:len(counts)-1]
	}
	return counts
}

// isEven reports whether all lines have one number of fields, more than one.
func isEven(counts []int) bool {
	return len(counts) > 1 && counts[0] > 1 && slices.Min(counts) == slices.Max(counts)
}

// hasShortLines reports whether some lines have fewer fields than the first one, and none has more.
func hasShortLines(counts []int) bool {
	if len(counts) < 2 {
		return false
	}
	least, most := slices.Min(counts[1:]), slices.Max(counts[1:])
	isTable := most == counts[0] || least > 1 // else it may be prose with a comma
	return isTable && least < counts[0] && most <= counts[0]
}
