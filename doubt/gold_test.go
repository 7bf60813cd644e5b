package doubt_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// wrongGolds are questions whose gold statement is wrong, or asks for less than the question.
var wrongGolds = map[string]bool{
	"Find the weight of the youngest dog.":                                  true, // of all pets
	"How much does the youngest dog weigh?":                                 true, // of all pets
	"What are the names and ids of every course with less than 2 sections?": true, // <= 2
	"List the last name of the owner owning the youngest dog.":              true, // max(age)
}

// TestGoldStatements: of the gold statements of Spider, BIRD and ClassicModels only wrong ones contradict their
// questions.
func TestGoldStatements(t *testing.T) {
	data := os.Getenv("TEXTTOSQL_DATA")
	if data == "" {
		t.Skip("TEXTTOSQL_DATA is not set: the questions are not public")
	}

	asked := 0
	for _, set := range [][2]string{{"spider_dev", "spider"}, {"bird_minidev", "bird"},
		{"classicmodels", "classicmodels"}} {
		file := testutil.Value(os.Open(filepath.Join(data, "questions", "questions_"+set[0]+".jsonl.gz")))(t)
		defer file.Close()
		lines := bufio.NewScanner(testutil.Value(gzip.NewReader(file))(t))
		databases := map[string]func(question, evidence, statement string) string{}
		for lines.Scan() {
			var q struct {
				DB                       string `json:"db_id"`
				Question, Evidence, Gold string
			}
			testutil.OK(t, json.Unmarshal(lines.Bytes(), &q))
			path := filepath.Join(data, "db", set[1], q.DB+".sqlite")
			if _, err := os.Stat(path); err != nil {
				continue
			}
			if databases[q.DB] == nil {
				databases[q.DB] = contradictionOf(t, path)
			}

			asked++
			if detail := databases[q.DB](q.Question, q.Evidence, q.Gold); detail != "" && !wrongGolds[q.Question] {
				t.Errorf("%s\n   %s\n   %s", q.Question, q.Gold, detail)
			}
		}
		testutil.OK(t, lines.Err())
	}
	t.Logf("%d gold statements", asked)
}

// contradictionOf returns the first contradiction of a statement over a database file.
func contradictionOf(t *testing.T, path string) func(question, evidence, statement string) string {
	pool := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro"))(t)
	t.Cleanup(func() { pool.Close() })
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	known := testutil.Value(db.Profile(t.Context(), testutil.Value(db.Schema(t.Context()))(t), exec.ProfileOptions{}))(t)
	values := (*snapshot.Snapshot)(nil).Words(known)
	query := func(sql string) *result.Table { rows, _ := db.Query(t.Context(), sql); return rows }
	return func(question, evidence, statement string) (detail string) {
		for _, f := range (doubt.Rules{}).Read(question, evidence).Contradictions(contradict.Answer{
			Statement: db.Language().Text.Parse(statement), Schema: known, Values: values, Table: query(statement), Query: query,
		}) {
			if f.Doubt > 0 {
				detail = cmp.Or(detail, f.Rule+": "+f.Detail)
			}
		}
		return detail
	}
}
