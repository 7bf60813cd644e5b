package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
)

// Fingerprint is a short text that stays the same as long as the structure of
// the database does: 32 hexadecimal digits.
//
// It covers the dialect, the functions, and of every table its name, kind,
// columns (name, type, NOT NULL, default, generated) and keys. It leaves out
// what changes without a change of structure: the version, the CREATE text,
// descriptions, profiles and row counts. Tables may come in any order, columns
// may not, because SELECT * depends on it.
//
// It serves as part of cache and journal keys, not as a proof against someone
// who wants two schemas to look alike to a third party.
func (s *Schema) Fingerprint() string {
	h := digest{sha256.New()}
	if s != nil {
		h.text(s.Dialect)
		h.texts(s.Functions)
		tables := slices.Clone(s.Tables)
		slices.SortStableFunc(tables, compareTables)
		h.number(len(tables))
		for i := range tables {
			h.table(&tables[i])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// compareTables orders tables by schema, then by name, byte by byte.
func compareTables(a, b Table) int {
	if c := strings.Compare(a.Schema, b.Schema); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// digest writes every text with its length before it, so that no two different
// lists of texts give the same bytes.
type digest struct{ hash.Hash }

func (h digest) table(t *Table) {
	h.text(t.Schema)
	h.text(t.Name)
	h.text(string(t.Kind))
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
	if b {
		h.number(1)
		return
	}
	h.number(0)
}
