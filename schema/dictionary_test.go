package schema_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
)

func folder(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func TestReadDictionary(t *testing.T) {
	id := schema.Column{Name: "id"}
	table := func(name string, columns ...schema.Column) schema.Table {
		return schema.Table{Name: name, Kind: schema.BaseTable, Columns: columns}
	}
	tests := []struct {
		why   string
		files fstest.MapFS
		want  []schema.Table
		notes []string
	}{
		{
			"the columns of the source, in its words",
			folder("Customers.csv", "Name,Attribute Business Name,Description,TYPE,PII,Entitlement,MANDATORY,PARTITION,PRIMARY\n"+
				"cust_id,Customer,\"one, and only one\",INTEGER,N,none,Y,N,Y\nssn,,,TEXT,Y,,,,\n",
				"_tables.csv", "table,description\nCUSTOMERS,who buys\n"),
			[]schema.Table{{
				Name: "Customers", Kind: schema.BaseTable, Description: "who buys", PrimaryKey: []string{"cust_id"},
				Columns: []schema.Column{
					{Name: "cust_id", Type: "INTEGER", NotNull: true, Title: "Customer", Description: "one, and only one"},
					{Name: "ssn", Type: "TEXT", Sensitive: true},
				},
			}}, nil,
		},
		{
			"other words, two keys, tables by file name",
			folder("b.CSV", "key,business_name,name\nPK,B,x\nprimary,,y\n,,z\n", "a.csv", "NAME\nid\n"),
			[]schema.Table{table("a", id), {
				Name: "b", Kind: schema.BaseTable, PrimaryKey: []string{"x", "y"},
				Columns: []schema.Column{{Name: "x", Title: "B"}, {Name: "y"}, {Name: "z"}},
			}}, nil,
		},
		{
			"what is no table is passed over",
			folder("t.csv", "name\nid\n", "notes.txt", "name\nid\n", "more/u.csv", "name\nid\n", ".csv", "name\nid\n"),
			[]schema.Table{table("t", id)}, nil,
		},
		{
			"slips are told with their line", folder("t.csv", "name,PII,primary\nid,maybe,perhaps\n,N,N\nID,N,N\n", "T.csv", "name\nid\n", "empty.csv", "",
				"other.csv", "column\nid\n", "_tables.csv", "table,description\nnone,nothing\n"),
			[]schema.Table{table("T", id)},
			[]string{
				`empty.csv: it names no column (in a column "name") and is passed over`,
				"other.csv: line 2 names no column", `other.csv: it names no column (in a column "name") and is passed over`,
				`t.csv: line 2: "maybe" is neither Y nor N`, `t.csv: line 2: "perhaps" is neither Y nor N`, "t.csv: line 3 names no column",
				`t.csv: line 4: the column "ID" is there already, and the first line counts`, "t.csv: another file has this table, and this one is passed over",
				`_tables.csv: line 2: no file has the table "none"`,
			},
		},
		{
			"a PII that nobody understands is kept back", folder("t.csv", "name,pii\nid,?\n"),
			[]schema.Table{table("t", schema.Column{Name: "id", Sensitive: true})}, []string{`t.csv: line 2: "?" is neither Y nor N`},
		},
		{
			"a file of a spreadsheet", folder("t.csv", "\uFEFFname,description\r\nid,\"caf\xe9\"\r\n"),
			[]schema.Table{table("t", schema.Column{Name: "id", Description: "café"})},
			[]string{"t.csv: a byte order mark was dropped", "t.csv: 1 bytes are not UTF-8 and were read as Windows-1252", "t.csv: its lines end in CR LF"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			s, notes, err := schema.ReadDictionary(tt.files)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, &schema.Schema{Tables: tt.want}, s)
			golden.Equal(t, tt.notes, notes, "notes")
		})
	}
}

type brokenFS struct{ fstest.MapFS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == "t.csv" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.Open(name)
}

func TestReadDictionaryErrors(t *testing.T) {
	for _, tt := range []struct {
		why   string
		files fs.FS
		want  error
		text  string
	}{
		{"no file", folder(), schema.ErrNoDictionary, "no CSV file"},
		{"descriptions alone", folder("_tables.csv", "table,description\nt,x\n"), schema.ErrNoDictionary, "no CSV file"},
		{"a file that cannot be opened", brokenFS{folder("t.csv", "name\nid\n")}, fs.ErrPermission, "t.csv"},
		{"a file that is too large", folder("t.csv", strings.Repeat("x", 64<<20+1)), nil, "t.csv: it is larger than"},
	} {
		_, _, err := schema.ReadDictionary(tt.files)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

// FuzzReadDictionary: whatever a file holds, there is a schema whose tables and columns have names of their own, or no
// schema.
func FuzzReadDictionary(f *testing.F) {
	f.Add("name,type,PII\nid,INTEGER,Y\n", "table,description\nt,x\n")
	f.Add("name\r\n\"id\nx", "\xff\x00table")
	f.Fuzz(func(t *testing.T, text, about string) {
		s, _, err := schema.ReadDictionary(folder("t.csv", text, "u.csv", about, "_tables.csv", about))
		if err != nil {
			if !errors.Is(err, schema.ErrNoDictionary) {
				t.Fatal(err)
			}
			return
		}
		for i := range s.Tables {
			seen := map[string]bool{}
			for _, c := range s.Tables[i].Columns {
				if name := schema.Fold(c.Name); name == "" || seen[name] {
					t.Errorf("the column %q is there twice, or has no name", c.Name)
				} else {
					seen[name] = true
				}
			}
		}
	})
}
