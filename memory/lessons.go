package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/atomicfile"
)

// Lessons keeps lessons. The zero Lessons keeps them in memory, [OpenLessons] in a file. Set Database before the first
// use. Safe for concurrent use.
type Lessons struct {
	// Database names the database that is asked, where a file serves several: lessons of another one are not seen. "":
	// what is learned holds for every database that uses the file.
	Database string

	shelf Shelf // of the learned ones; nil: in memory

	mu      sync.Mutex
	manual  []Lesson       // of a person; never written
	learned []Lesson       // as last read, never changed in place; those of a manual lesson's id hold what was counted of it
	place   map[string]int // id -> index in learned
	version string         // of the text that learned was read from; "": another one may be there
}

// Shelf keeps the text of learned lessons where a file does not do, such as for processes of several machines: [LessonsOn].
// Lessons call it one call at a time; processes may share what it keeps.
type Shelf interface {
	// String names the place in errors. It holds no secret.
	String() string
	// Read returns the text that was kept last, nil of none, with a version that is never "" and that no other text has had
	// here. Where that is have, the text may be left out.
	Read(have string) (text []byte, version string, err error)
	// Change gives change the text that is kept, nil of none, at most once, and keeps what it returns, as a whole or not at all.
	// No other Change works meanwhile, in any process. Where change returns nil or an error, nothing is kept; the error is
	// that of Change, under its own type.
	Change(change func(text []byte) ([]byte, error)) error
}

// LessonError says what is wrong with a file of lessons. Nothing is written to such a file.
type LessonError struct {
	File   string // name of the file; "" for a lesson of Lessons.Add
	Lesson int    // number of the lesson, from 1; 0: the file itself
	Err    error  // what is wrong
}

// Error names the file, the lesson and the fault, and says what to do.
func (e *LessonError) Error() string {
	if e.Lesson == 0 {
		return fmt.Sprintf("memory: %s is no file of lessons, repair or move it: %v", e.File, e.Err)
	}
	return fmt.Sprintf("memory: lesson %d of %s: %v", e.Lesson, e.File, e.Err)
}

// Unwrap returns what is wrong.
func (e *LessonError) Unwrap() error { return e.Err }

// OpenLessons reads a file of learned lessons, a JSON array of [Lesson], and files of lessons that a person wrote, in
// the same form. The file at path need not exist yet. The manual files are read once and never written: what is
// counted of their lessons stands in the file at path.
//
// Several processes may use one file. Each change is read, made and written under a lock (path + ".lock"), by a
// rename, so no count is lost, and a crash leaves the old file or the new one. Each learned lesson is written with a
// checksum as its last field, "sum", which those of a person need not have. A file that is broken, or has a lesson that
// was changed after it was written, is a *[LessonError], here and at each later use. There is nothing to close.
func OpenLessons(path string, manual ...string) (*Lessons, error) {
	l := &Lessons{}
	if path != "" {
		l.shelf = &fileShelf{path: path}
	}
	for _, file := range manual {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("memory: lessons: %w", err)
		}
		list, err := readLessons(file, raw)
		if err != nil {
			return nil, err
		}
		l.add(list)
	}
	return l, l.load()
}

// LessonsOn reads learned lessons that a shelf keeps, in the form of [OpenLessons], and keeps there what is learned. A text
// that is broken is a *[LessonError], here and at each later use. Lessons of a person are given by [Lessons.Add].
func LessonsOn(shelf Shelf) (*Lessons, error) {
	l := &Lessons{shelf: shelf}
	return l, l.load()
}

// readLessons reads a JSON array of lessons; nil is none.
func readLessons(file string, raw []byte) ([]Lesson, error) {
	if raw == nil {
		return nil, nil
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, &LessonError{File: file, Err: err}
	}
	list := make([]Lesson, len(texts))
	for i := range list {
		text, err := atomicfile.Unsealed(texts[i])
		if err == nil {
			dec := json.NewDecoder(bytes.NewReader(text))
			dec.DisallowUnknownFields() // a slip of the pen, or a newer version's: it must not get lost
			err = dec.Decode(&list[i])
		}
		if err == nil {
			err = list[i].valid()
		}
		if err != nil {
			return nil, &LessonError{File: file, Lesson: i + 1, Err: err}
		}
		list[i].identify()
	}
	return list, nil
}

// Add gives lessons that the program has, as those of a manual file: they are kept in memory and never written. A
// lesson that is incomplete is a *[LessonError], and none is added.
func (l *Lessons) Add(lessons ...Lesson) error {
	lessons = slices.Clone(lessons)
	for i := range lessons {
		if err := lessons[i].valid(); err != nil {
			return &LessonError{File: "those that were given", Lesson: i + 1, Err: err}
		}
		lessons[i].identify()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(lessons)
	return nil
}

// add keeps manual lessons, each id once.
func (l *Lessons) add(lessons []Lesson) {
	l.manual = slices.Clip(l.manual)
	for _, m := range lessons {
		m.manual()
		if at := slices.IndexFunc(l.manual, func(o Lesson) bool { return o.ID == m.ID }); at < 0 {
			l.manual = append(l.manual, m)
		}
	}
}

// load reads the learned lessons, if they are others than before.
func (l *Lessons) load() error {
	if l.shelf == nil {
		return nil
	}
	raw, version, err := l.shelf.Read(l.version)
	if err != nil {
		return fmt.Errorf("memory: lessons: %w", err)
	}
	if version == l.version {
		return nil
	}
	list, err := readLessons(l.shelf.String(), raw)
	if err != nil {
		return err
	}
	l.set(list, version)
	return nil
}

func (l *Lessons) set(list []Lesson, version string) {
	l.learned, l.version, l.place = list, version, make(map[string]int, len(list))
	for i := range list {
		l.place[list[i].ID] = i
	}
}

// fileShelf is a file, changed under its lock by a rename.
type fileShelf struct {
	path    string
	read    fs.FileInfo // of the file as Read saw it last; nil: none, or it was changed here since
	version int         // counts what Read saw
}

func (f *fileShelf) String() string { return f.path }

func (f *fileShelf) Read(have string) ([]byte, string, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.read = nil
		f.version++
		return nil, strconv.Itoa(f.version), nil
	}
	if err == nil && f.read != nil && os.SameFile(info, f.read) && info.Size() == f.read.Size() && info.ModTime().Equal(f.read.ModTime()) &&
		have == strconv.Itoa(f.version) {
		return nil, have, nil
	}
	if err != nil {
		return nil, "", err
	}
	raw, err := os.ReadFile(f.path)
	f.read = info
	f.version++
	return raw, strconv.Itoa(f.version), err
}

func (f *fileShelf) Change(change func([]byte) ([]byte, error)) error {
	unlock, err := atomicfile.Lock(f.path)
	if err != nil {
		return err
	}
	defer unlock()
	raw, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := change(raw)
	if err != nil || text == nil {
		return err
	}
	f.read = nil // what was written is read at the next use
	return atomicfile.Write(f.path, text, 0o600)
}

// all returns the lessons of this database, the best ones first.
func (l *Lessons) all() ([]Lesson, error) {
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	list := make([]Lesson, 0, len(l.manual)+len(l.learned))
	mine := map[string]bool{}
	for _, m := range l.manual {
		mine[m.ID] = true
		list = append(list, l.counted(m))
	}
	for _, k := range l.learned {
		if !mine[k.ID] && k.Source != sourceManual {
			list = append(list, k)
		}
	}
	list = slices.DeleteFunc(list, func(k Lesson) bool { return k.Database != "" && k.Database != l.Database })
	slices.SortFunc(list, better)
	return list, nil
}

// counted is a manual lesson with what was counted of it.
func (l *Lessons) counted(m Lesson) Lesson {
	at, ok := l.place[m.ID]
	if !ok {
		return m
	}
	k := l.learned[at]
	if k.Source != sourceManual { // learned first, promoted since
		k.Confidence = m.Confidence
	}
	k.Source, k.Priority, k.Scope, k.Text = sourceManual, m.Priority, m.Scope, m.Text
	return k
}

// update changes lessons under the lock of their shelf. change returns false where it changed nothing.
func (l *Lessons) update(change func(*ledger) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shelf == nil {
		if book := l.book(); change(book) {
			l.set(book.list, "")
		}
		return nil
	}
	err := l.shelf.Change(func(raw []byte) ([]byte, error) {
		list, err := readLessons(l.shelf.String(), raw)
		if err != nil {
			return nil, err
		}
		l.set(list, "")
		book := l.book()
		if !change(book) {
			return nil, nil
		}
		return book.text()
	})
	if bad := (*LessonError)(nil); err == nil || errors.As(err, &bad) {
		return err
	}
	return fmt.Errorf("memory: keeping lessons: %w", err)
}

// book is the lessons, to be changed.
func (l *Lessons) book() *ledger {
	book := &ledger{database: l.Database, list: slices.Clone(l.learned), manual: map[string]Lesson{}}
	for _, m := range l.manual {
		book.manual[m.ID] = l.counted(m)
	}
	return book
}

// text is the list in the form of the file.
func (b *ledger) text() ([]byte, error) {
	text := []byte("[")
	for i, k := range b.list {
		line, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), atomicfile.Sealed(line)...)
	}
	return append(text, "\n]\n"...), nil
}

// ledger is the lessons while they are changed.
type ledger struct {
	database string
	list     []Lesson
	manual   map[string]Lesson // by id; those that are not in list yet
	outcome  LearnResult       // of the question at work
	at       time.Time
	changed  bool
}

// find returns the lesson of that id to be changed; nil if there is none.
func (b *ledger) find(id string) *Lesson {
	m, manual := b.manual[id]
	at := slices.IndexFunc(b.list, func(k Lesson) bool { return k.ID == id })
	switch {
	case at < 0 && !manual:
		return nil
	case at < 0:
		b.list, at = append(b.list, m), len(b.list)
	case manual:
		b.list[at] = m
	}
	delete(b.manual, id) // from here on the list has it
	return &b.list[at]
}

// All returns all lessons of the database, the best ones first.
func (l *Lessons) All() ([]Lesson, error) { return l.all() }

// Review returns the lessons whose confidence is below .70, which are not applied, the best ones first.
func (l *Lessons) Review() ([]Lesson, error) {
	return l.which(func(k Lesson) bool { return k.Band() == bandReview })
}

// PromotionReport returns the lessons that may go into a file of manual lessons (Lesson.Promotable), the best ones first.
func (l *Lessons) PromotionReport() ([]Lesson, error) { return l.which(Lesson.Promotable) }

func (l *Lessons) which(wanted func(Lesson) bool) ([]Lesson, error) {
	list, err := l.all()
	return slices.DeleteFunc(list, func(k Lesson) bool { return !wanted(k) }), err
}
