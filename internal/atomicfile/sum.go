package atomicfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// ErrDamaged says that a record is not the one that was written.
var ErrDamaged = errors.New(`the checksum does not match, so this is not what was written: restore it, or remove "sum" if you changed it yourself`)

// StoreError says that a reply or an answer is there and could not be stored.
type StoreError struct{ Err error }

// Error says why.
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *StoreError) Unwrap() error { return e.Err }

type noteKey struct{}

// WithNotes returns a context whose owner collects the errors of storing replies. A call then returns its reply without
// them.
func WithNotes(ctx context.Context, note func(*StoreError)) context.Context {
	return context.WithValue(ctx, noteKey{}, note)
}

// Note passes the error to the collector of ctx and reports whether there is one.
func (e *StoreError) Note(ctx context.Context) bool {
	note, ok := ctx.Value(noteKey{}).(func(*StoreError))
	if ok {
		note(e)
	}
	return ok
}

const (
	head = `{"v":`
	mark = `,"sum":"`
)

// Record returns v as a record of a file that a program reads later: a JSON object with a version in front and a
// checksum behind, without a line end. With the version 0 the object has a version of its own.
func Record(version int, v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // statements are full of < and >, and people read this
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return Sealed(version, text.Bytes()), nil
}

// Sealed is Record for a JSON object that has a field. The checksum is the CRC-32 of the text before it.
func Sealed(version int, object []byte) []byte {
	object = bytes.TrimSuffix(bytes.TrimSpace(object), []byte("}"))
	if version > 0 {
		object = append(fmt.Appendf(nil, head+"%d,", version), bytes.TrimPrefix(object, []byte("{"))...)
	}
	return fmt.Appendf(bytes.Clone(object), mark+`%08x"}`, crc32.ChecksumIEEE(object))
}

// Unsealed returns the object of a record and whether it has a checksum. A checksum that does not match is ErrDamaged.
func Unsealed(record []byte) (object []byte, sealed bool, err error) {
	record = bytes.Trim(record, " \t\r\n")
	at := len(record) - len(mark+`00000000"}`)
	if at < 0 || !bytes.HasPrefix(record[at:], []byte(mark)) {
		return record, false, nil
	}
	object = append(bytes.Clone(record[:at]), '}')
	if !bytes.Equal(Sealed(0, object), record) {
		return nil, true, ErrDamaged
	}
	return object, true, nil
}

// Read reads a record into v. old reports that it lacks the checksum or the version: a person or an earlier version
// wrote it. Such a record may have no field that v does not know: a changed name of "sum" or "v" is one.
func Read(record []byte, version int, v any) (old bool, err error) {
	object, sealed, err := Unsealed(record)
	if err != nil {
		return false, err
	}
	if sealed && version > 0 {
		if object, old, err = withoutVersion(object, version); err != nil {
			return false, err
		}
	}
	if err := json.Unmarshal(object, v); err != nil || sealed {
		return old, err
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.DisallowUnknownFields()
	return true, dec.Decode(v)
}

// withoutVersion takes the version out of an object; missing reports that it has none.
func withoutVersion(object []byte, version int) (rest []byte, missing bool, err error) {
	rest, found := bytes.CutPrefix(object, []byte(head))
	if !found {
		return object, true, nil
	}
	number, rest, _ := bytes.Cut(rest, []byte(","))
	if have, err := strconv.Atoi(string(number)); err != nil || have != version {
		return nil, false, fmt.Errorf("format version %s, this program reads %d", number, version)
	}
	return append([]byte("{"), rest...), false, nil
}

// IsCut reports whether the error of Read is about a record without its end, as a crash leaves it.
func IsCut(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input"
}

// OldNote says that a file has records of Read that are old; "": it has not.
func OldNote(file string, records []int) string {
	switch len(records) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: record %d has no checksum or no version: a person or an earlier version wrote it", file,
			records[0])
	}
	return fmt.Sprintf("%s: %d records, the first of them record %d, have no checksum or no version: "+
		"a person or an earlier version wrote them",
		file, len(records), records[0])
}
