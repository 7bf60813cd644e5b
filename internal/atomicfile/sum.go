package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrDamaged says that an object is not the one that was written.
var ErrDamaged = errors.New(`the checksum does not match, so this is not what was written: restore it, or remove "sum" if you changed it yourself`)

const mark = `,"sum":"`

// Sealed adds a checksum to a JSON object that has a field: a last field "sum", the CRC-32 of what stands before it.
func Sealed(object []byte) []byte {
	object = bytes.TrimSuffix(bytes.TrimRight(object, "\n"), []byte("}"))
	return fmt.Appendf(bytes.Clone(object), mark+`%08x"}`, crc32.ChecksumIEEE(object))
}

// Unsealed returns the object that Sealed was given, or ErrDamaged. An object without a checksum is returned as it is: a
// person or an earlier version wrote it, or a crash cut it short.
func Unsealed(object []byte) ([]byte, error) {
	object = bytes.Trim(object, " \t\r\n")
	at := len(object) - len(mark+`00000000"}`)
	if at < 0 || !bytes.HasPrefix(object[at:], []byte(mark)) {
		return object, nil
	}
	whole := append(bytes.Clone(object[:at]), '}')
	if !bytes.Equal(Sealed(whole), object) {
		return nil, ErrDamaged
	}
	return whole, nil
}
