package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// Fingerprint returns a short text that stays the same as long as the structure of the database does: 32 hexadecimal
// digits.
//
// It covers the dialect, the functions, and the name, kind, keys and columns (name, type, NOT NULL, default, generated)
// of every table. It leaves out the version, the CREATE text, descriptions, profiles and row counts. The order of
// tables does not matter. The order of columns matters, because SELECT * depends on it.
//
// It is meant for keys of caches and journals. It does not protect against an attacker who constructs two schemas with
// one fingerprint.
func (s *Schema) Fingerprint() string {
	h := digest{sha256.New()}
	if s != nil {
		tables := slices.Clone(s.Tables)
		slices.SortStableFunc(tables, func(a, b Table) int { return a.TableName().compare(b.TableName()) })
		h.add(s.Dialect, s.Functions, len(tables))
		for i := range tables {
			h.table(&tables[i])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

type digest struct{ hash.Hash }

func (h digest) table(t *Table) {
	h.add(t.Schema, t.Name, t.Kind, len(t.Columns))
	for _, c := range t.Columns {
		h.add(c.Name, c.Type, c.NotNull, c.Default, c.Generated)
	}
	h.add(t.PrimaryKey, len(t.ForeignKeys))
	for _, k := range t.ForeignKeys {
		h.add(k.Columns, k.RefSchema, k.RefTable, k.RefColumns)
	}
	h.add(len(t.Unique))
	for _, u := range t.Unique {
		h.add(u)
	}
}

// add writes each text after its length and each list after the number of its texts, so that two different lists of
// values never have the same bytes.
func (h digest) add(values ...any) {
	for _, v := range values {
		n := 0
		switch v := v.(type) {
		case int:
			n = v
		case bool:
			if v {
				n = 1
			}
		case string:
			n = len(v)
		case []string:
			n = len(v)
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
		switch v := v.(type) {
		case string:
			h.Write([]byte(v))
		case []string:
			for _, text := range v {
				h.add(text)
			}
		}
	}
}
