package exec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// maxPolicy bounds the text of a policy, in bytes: some ten thousand names.
const maxPolicy = 1 << 20

// ReadPolicy reads a Policy from one JSON object: {"DenyColumns": ["customers.password"]}.
//
// The members are the fields of [Policy], spelt as in Go. Each is a list of names, except Rows, an object with the
// rules by table, and Fence, a string. A missing member is empty. ReadPolicy reads at most 1 MiB. It accepts a byte
// order mark and Windows-1252.
//
// Every mistake that could allow more than the author intended is an error that names the line or the member:
//
//   - text that is incomplete or not an object
//   - an unknown member
//   - a member, or a table of Rows, that occurs twice
//   - an entry that is not a name
//   - an empty AllowTables, which would allow every table
//
// ReadPolicy does not check whether the database has the names; [DB.Ready] does.
func ReadPolicy(r io.Reader) (Policy, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxPolicy+1))
	if err != nil {
		return Policy{}, fmt.Errorf("exec: reading a policy: %w", err)
	}
	if len(raw) > maxPolicy {
		return Policy{}, fmt.Errorf("exec: reading a policy: it is larger than %d bytes", maxPolicy)
	}
	text, _ := words.DecodeText(raw)
	d := json.NewDecoder(strings.NewReader(text))
	p, err := decodePolicy(d)
	if err == nil && strings.TrimSpace(text[d.InputOffset():]) != "" {
		err = errors.New("something stands behind the object")
	}
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON ends in the middle")
		}
		return Policy{}, fmt.Errorf("exec: reading a policy: line %d: %w", 1+strings.Count(text[:d.InputOffset()], "\n"), err)
	}
	if err := p.Validate(); err != nil {
		return Policy{}, fmt.Errorf("exec: reading a policy: %w", err)
	}
	return p, nil
}

func decodePolicy(d *json.Decoder) (p Policy, err error) {
	fields := map[string]any{
		"AllowTables": &p.AllowTables, "DenyTables": &p.DenyTables, "DenyColumns": &p.DenyColumns,
		"AllowFunctions": &p.AllowFunctions, "Reveal": &p.Reveal, "Shared": &p.Shared, "Rows": &rowRules{&p.Rows},
		"Settings": &p.Settings,
		"Fence":    &p.Fence,
	}
	switch open, err := d.Token(); {
	case err != nil:
		return p, err
	case open != json.Delim('{'):
		return p, errors.New(`want an object: {"DenyColumns": ["table.column"]}`)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return p, err
		}
		name := key.(string) // a decoder gives nothing else here
		list := fields[name]
		if list == nil {
			return p, fmt.Errorf("%q is unknown or given twice%s", name,
				cmp.Or(words.Like(name, slices.Collect(maps.Keys(fields))),
					"; the members are AllowTables, DenyTables, DenyColumns, AllowFunctions, Reveal, Rows, Shared, "+
						"Settings and Fence"))
		}
		delete(fields, name)
		switch err := d.Decode(list); {
		case errors.As(err, new(*json.UnmarshalTypeError)), err == nil && isNull(list):
			want := "a list of names"
			switch name {
			case "Rows":
				want = `an object of rules by table, none twice: {"orders": "tenant_id = :tenant"}`
			case "Fence":
				want = "a text"
			}
			return p, fmt.Errorf("%s: want %s", name, want)
		case err != nil:
			return p, err
		case name == "AllowTables" && len(p.AllowTables) == 0:
			return p, fmt.Errorf("%s is empty, which would allow every table; leave it out, or name tables", name)
		case name == "Settings" && len(p.Settings) == 0:
			return p, fmt.Errorf("%s is empty, which would require none; leave it out, or name settings", name)
		case (name == "Rows" || name == "Shared") && len(p.Rows)+len(p.Shared) == 0:
			return p, fmt.Errorf("%s is empty, which would be no rule; leave it out, or name tables", name)
		}
	}
	_, err = d.Token()
	return p, err
}

// isNull reports whether a member was null, which sets nothing.
func isNull(to any) bool {
	list, ok := to.(*[]string)
	return ok && *list == nil
}

// rowRules are the rules of a policy, no table twice.
type rowRules struct{ rules *map[string]string }

// UnmarshalJSON implements [json.Unmarshaler].
func (r *rowRules) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, _ := d.Token(); open != json.Delim('{') {
		return &json.UnmarshalTypeError{}
	}
	*r.rules = map[string]string{}
	for d.More() {
		table, _ := d.Token()
		rule, _ := d.Token()
		text, ok := rule.(string)
		if _, twice := (*r.rules)[table.(string)]; !ok || twice {
			return &json.UnmarshalTypeError{}
		}
		(*r.rules)[table.(string)] = text
	}
	return nil
}
