package recorded_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

var reveal = exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}

// TestInspectData reads every database of the evaluation data.
func TestInspectData(t *testing.T) {
	files, err := filepath.Glob(evaldata.Path(t, "db", "*", "*.sqlite"))
	if err != nil || len(files) < 22 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := testutil.Value(openAt(t, file, reveal).Schema(t.Context()))(t)
			if len(s.Tables) == 0 {
				t.Error("no tables")
			}
			for _, table := range s.Tables {
				if len(table.Columns) == 0 || strings.HasPrefix(table.Name, "sqlite_") {
					t.Errorf("%s has %d columns", table.Name, len(table.Columns))
				}
				for _, key := range table.ForeignKeys {
					target, ok := s.Lookup(key.RefSchema, key.RefTable)
					if !ok || len(key.Columns) != len(key.RefColumns) {
						t.Errorf("%s: key %+v leads nowhere", table.Name, key)
						continue
					}
					for _, name := range key.RefColumns {
						if _, ok := target.Column(name); !ok {
							t.Errorf("%s: key %+v: no column %s", table.Name, key, name)
						}
					}
				}
			}
		})
	}
}

// TestInspectChinook holds the numbers of a schema that everybody knows.
func TestInspectChinook(t *testing.T) {
	s := testutil.Value(openAt(t, evaldata.Path(t, "db", "chinook", "Chinook_Sqlite.sqlite"),
		reveal).Schema(t.Context()))(t)
	keys, columns := 0, 0
	for _, table := range s.Tables {
		keys += len(table.ForeignKeys)
		columns += len(table.Columns)
	}
	if len(s.Tables) != 11 || columns != 64 || keys != 11 {
		t.Errorf("%d tables, %d columns, %d foreign keys, want 11, 64, 11", len(s.Tables), columns, keys)
	}
	employee, _ := s.Lookup("", "employee")
	want := []schema.ForeignKey{{Columns: []string{"ReportsTo"}, RefTable: "Employee", RefColumns: []string{"EmployeeId"}}}
	golden.Equal(t, want, employee.ForeignKeys)
	playlist, _ := s.Lookup("", "PlaylistTrack")
	golden.Equal(t, []string{"PlaylistId", "TrackId"}, playlist.PrimaryKey)
}

// TestProfileData profiles every database of the evaluation data and compares
// counts with what SQLite itself says.
func TestProfileData(t *testing.T) {
	files, err := filepath.Glob(evaldata.Path(t, "db", "*", "*.sqlite"))
	if err != nil || len(files) < 22 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			db := openAt(t, file, reveal)
			s, err := db.Schema(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s, err = db.Profile(t.Context(), s, exec.ProfileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d := db.Dialect()
			for _, table := range s.Tables {
				for _, c := range table.Columns {
					name := d.Language().Quote(c.Name)
					got, err := db.Query(t.Context(),
						"SELECT count(*), count(*) - count("+name+"), count(DISTINCT "+name+" COLLATE BINARY), min("+name+
							" COLLATE BINARY) FROM "+d.Language().Quote(table.Name))
					if err != nil {
						t.Fatal(err)
					}
					p := c.Profile
					if p == nil || !p.Complete {
						t.Fatalf("%s.%s: %+v", table.Name, c.Name, p)
					}
					long := p.Min == nil && p.Nulls < p.Sampled
					have := []any{p.Sampled, p.Nulls, p.Distinct, p.Min}
					if long { // cut values may count as one
						have[2], have[3] = got.Rows[0][2], got.Rows[0][3]
					}
					golden.Equal(t, got.Rows[0], have, table.Name, ".", c.Name)
				}
			}
		})
	}
}
