package memory

import (
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
	"github.com/texttosql/texttosql/internal/fileerr"
)

// Lessons stores lessons. The zero Lessons stores them in memory, [OpenLessons] in a file. Set Database before the
// first use. Safe for concurrent use.
type Lessons struct {
	// Database names the database of the questions if a file serves several. Lessons of other databases are then not
	// used. "" means that lessons apply to every database that uses the file.
	Database string

	shelf LessonStore // of the learned ones; nil: in memory

	turns   turns
	mu      sync.Mutex     // of what follows; only turns.work lets a call change what was learned
	manual  []Lesson       // of a person; never written
	learned []Lesson       // as last read, never changed in place; an entry with a manual lesson's id holds its counts
	place   map[string]int // id -> index in learned
	version string         // of the text that learned was read from; "": the stored text may differ
	notes   []string
}

// LessonStore stores the text of learned lessons if a file does not fit, for example for processes on several
// machines: see [LessonsOn]. Lessons makes one call at a time; several processes may share a store. A question leaves a
// call that hangs as it leaves one of an AnswerStore.
type LessonStore interface {
	// String names the place in errors. It holds no secret.
	String() string
	// Read returns the text that was stored last, or nil, with its version. A version is never "" and belongs to one
	// text only. If the version equals have, Read may leave out the text.
	Read(have string) (text []byte, version string, err error)
	// Change calls change at most once with the stored text, nil if there is none. It stores the result completely or
	// not at all. No other Change runs at the same time, in any process. If change returns nil or an error, the
	// stored text stays; Change returns that error with its type.
	Change(change func(text []byte) ([]byte, error)) error
}

// OpenLessons reads a file of learned lessons, a JSON array of [Lesson], and files of manual lessons in the same
// form. The file at path need not exist yet. The manual files are read once and never written; the file at path has
// the counts of their lessons.
//
// Several processes may use one file. Each change is read, made and written under a lock (path + ".lock"), by a
// rename. So no count is lost, and a crash leaves the old file or the new one. Each learned lesson starts with a
// version, "v", and ends with a checksum, "sum"; manual lessons need neither.
//
// The error names a broken file, a lesson that is there twice, or a lesson that was changed after it was
// written. OpenLessons returns it, and so does each later use. A learned lesson without a checksum, from a person or
// an earlier version, is read once, with a note ([Lessons.Notes]), and rewritten. Lessons needs no Close.
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
		list, _, err := readLessons(file, raw)
		if err != nil {
			return nil, err
		}
		l.add(list)
	}
	return l, l.open()
}

// LessonsOn reads learned lessons from a LessonStore, in the form of [OpenLessons], and stores new ones there. A
// broken text is an error, here and at each later use. [Lessons.Add] adds manual lessons.
func LessonsOn(shelf LessonStore) (*Lessons, error) {
	l := &Lessons{shelf: shelf}
	return l, l.open()
}

// lessonsVersion is the version of a lesson as it is written.
const lessonsVersion = 1

// open reads the learned lessons, and rewrites them where one lacks a checksum or a version.
func (l *Lessons) open() error {
	err := l.load()
	if err != nil || len(l.notes) == 0 {
		return err
	}
	if err := l.update(func(*ledger) bool { return true }); err != nil {
		l.notes = append(l.notes, l.shelf.String()+": they stay as they are: "+err.Error())
	}
	return nil
}

// Notes returns facts about the learned lessons for an operator; nil if there are none. Engine.Ready
// reports them as warnings.
func (l *Lessons) Notes() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notes)
}

// readLessons reads a JSON array of lessons; nil is none. old are the numbers of those without a checksum or a version.
func readLessons(file string, raw []byte) (list []Lesson, old []int, err error) {
	if raw == nil {
		return nil, nil, nil
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, nil, &fileerr.Memory{File: file, Err: err}
	}
	list = make([]Lesson, len(texts))
	for i := range list {
		lacks, err := atomicfile.Read(texts[i], lessonsVersion, &list[i])
		if err == nil {
			err = list[i].valid()
		}
		if err != nil {
			return nil, nil, &fileerr.Memory{File: file, Lesson: i + 1, Err: err}
		}
		list[i].identify()
		if lacks {
			old = append(old, i+1)
		}
	}
	return list, old, nil
}

// readLearned reads the text of a shelf, which has each lesson once.
func (l *Lessons) readLearned(raw []byte) ([]Lesson, error) {
	list, old, err := readLessons(l.shelf.String(), raw)
	seen := map[string]bool{}
	for i, k := range list {
		if seen[k.ID] {
			return nil, &fileerr.Memory{File: l.shelf.String(), Lesson: i + 1,
				Err: errors.New("it is there twice: remove one of them")}
		}
		seen[k.ID] = true
	}
	note := atomicfile.OldNote(l.shelf.String(), old)
	if note != "" && !slices.Contains(l.notes, note) {
		l.notes = append(l.notes, note)
	}
	return list, err
}

// Add adds lessons of the program. They behave like lessons of a manual file: they stay in memory and are never
// written. An incomplete lesson is an error, and then no lesson is added.
func (l *Lessons) Add(lessons ...Lesson) error {
	lessons = slices.Clone(lessons)
	for i := range lessons {
		if err := lessons[i].valid(); err != nil {
			return &fileerr.Memory{File: "those that were given", Lesson: i + 1, Err: err}
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

// load reads the learned lessons, if they are others than before. Its caller holds turns.work.
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
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := l.readLearned(raw)
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
	if err == nil && f.read != nil && os.SameFile(info, f.read) && atomicfile.Stamp(info) == atomicfile.Stamp(f.read) &&
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
	f.read = nil // the next use reads the written text
	return atomicfile.Write(f.path, text, 0o600)
}

// all returns the lessons of this database, the best ones first.
func (l *Lessons) all() ([]Lesson, error) {
	if l == nil {
		return nil, nil
	}
	if err := l.turns.read(l.load); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
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
	l.turns.work.Lock()
	defer l.turns.work.Unlock()
	if l.shelf == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if book := l.book(); change(book) {
			l.set(book.list, "")
		}
		return nil
	}
	err := l.shelf.Change(func(raw []byte) ([]byte, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		list, err := l.readLearned(raw)
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
	if bad := (*fileerr.Memory)(nil); err == nil || errors.As(err, &bad) {
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
		line, err := atomicfile.Record(lessonsVersion, k)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), line...)
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

// Review returns the lessons with a confidence below .70, the best ones first. Prompts do not use them.
func (l *Lessons) Review() ([]Lesson, error) {
	return l.which(func(k Lesson) bool { return k.Band() == bandReview })
}

// PromotionReport returns the lessons that may go into a file of manual lessons (Lesson.Promotable), the best ones
// first.
func (l *Lessons) PromotionReport() ([]Lesson, error) { return l.which(Lesson.Promotable) }

func (l *Lessons) which(wanted func(Lesson) bool) ([]Lesson, error) {
	list, err := l.all()
	return slices.DeleteFunc(list, func(k Lesson) bool { return !wanted(k) }), err
}
