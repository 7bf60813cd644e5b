package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// Fingerprint is a short text that stays the same as long as the structure of the database does: 32 hexadecimal digits.
//
// It covers the dialect, the functions, and the name, kind, keys and columns (name, type, NOT NULL, default, generated)
// of every table. It leaves out the version, the CREATE text, descriptions, profiles and row counts. The order of
// tables does not matter; that of columns does, because SELECT * depends on it.
//
// It is meant for keys of caches and journals. It is no proof against someone who wants two schemas to have the same
// one.
func (s *Schema) Fingerprint() string {
	h := digest{sha256.New()}
	if s != nil {
		h.text(s.Dialect)
		h.texts(s.Functions)
		tables := slices.Clone(s.Tables)
		slices.SortStableFunc(tables, func(a, b Table) int { return a.TableName().compare(b.TableName()) })
		h.number(len(tables))
		for i := range tables {
			h.table(&tables[i])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// digest writes each text behind its length, so that two different lists of texts never give the same bytes.
type digest struct{ hash.Hash }

func (h digest) table(t *Table) {
	h.text(t.Schema)
	h.text(t.Name)
	h.text(t.Kind)
	h.number(len(t.Columns))
	for _, c := range t.Columns {
		h.text(c.Name)
		h.text(c.Type)
		h.flag(c.NotNull)
		h.text(c.Default)
		h.flag(c.Generated)
	}
	h.texts(t.PrimaryKey)
	h.number(len(t.ForeignKeys))
	for _, k := range t.ForeignKeys {
		h.texts(k.Columns)
		h.text(k.RefSchema)
		h.text(k.RefTable)
		h.texts(k.RefColumns)
	}
	h.number(len(t.Unique))
	for _, u := range t.Unique {
		h.texts(u)
	}
}

func (h digest) texts(list []string) {
	h.number(len(list))
	for _, s := range list {
		h.text(s)
	}
}

func (h digest) text(s string) {
	h.number(len(s))
	h.Write([]byte(s))
}

func (h digest) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func (h digest) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	h.number(n)
}
