package doubt

import (
	"testing"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Rules{}.Read("What are the names and the average ages of the singers who have not performed in France, "+
			"by country?", "")
	}
}

func BenchmarkAbout(b *testing.B) {
	d := Rules{List: defaultRules()}
	q := d.Read("What are the names of the singers who have performed in France?", "")
	t := &result.Table{Columns: []string{"name", "n"}, Rows: [][]any{{"Joe", int64(3)}, {"Jim", int64(4)}}}
	c := vote.Candidate{
		SQL: "SELECT T1.name, count(*) FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id WHERE T2.year > 1990 " +
			"GROUP BY T1.name ORDER BY count(*) DESC LIMIT 0",
	}
	b.ReportAllocs()
	for b.Loop() {
		d.About(q, c, t)
	}
}
