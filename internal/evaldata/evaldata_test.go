package evaldata

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// The three ways to write a text, in a plain file and in a gzipped one.
func TestPayloads(t *testing.T) {
	const lines = `{"id":"a","engine":"sqlite","expect":"refuse","text":"DROP TABLE t","policy":{"deny_tables":["t"]}}
{"id":"b","engine":"sqlite","base64":"U0VMRUNU/w=="}
{"id":"c","engine":"prompt","where":"cell","generator":{"prefix":"<","repeat":"(","times":3,"middle":"1","close":")","suffix":">"}}
`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(lines))
	z.Close()
	dir := t.TempDir()
	t.Setenv("TEXTTOSQL_DATA", dir)
	testutil.OK(t, os.Mkdir(filepath.Join(dir, "security"), 0o755))
	for name, content := range map[string][]byte{
		"security/payloads.jsonl": []byte(lines), "security/payloads_resources.jsonl": nil,
		"security/payloads_engines.jsonl": nil,
		"lines.gz":                        packed.Bytes(),
	} {
		testutil.OK(t, os.WriteFile(Path(t, name), content, 0o600))
	}
	first := Payload{ID: "a", Engine: "sqlite", Expect: "refuse", Text: "DROP TABLE t"}
	first.Policy.DenyTables = []string{"t"}
	want := []Payload{
		first,
		{ID: "b", Engine: "sqlite", Text: "SELECT\xff"},
		{ID: "c", Engine: "prompt", Where: "cell", Text: "<(((1)))>"},
	}
	if diff := cmp.Diff(want, Payloads(t)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Collect(Lines[Payload](t, Path(t, "lines.gz")))); diff != "" {
		t.Errorf("gzipped (-want +got)\n%s", diff)
	}
}
