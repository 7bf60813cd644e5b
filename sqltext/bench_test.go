package sqltext_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/sqltext"
)

// kilobyte is an ordinary statement of about 1,000 bytes.
var kilobyte = "SELECT T1.name, T2.title, count(*) AS n FROM singer AS T1 JOIN album AS T2 ON T1.id = T2.singer_id " +
	strings.Repeat("LEFT JOIN concert AS c ON c.year = 2014 AND c.place <> 'Paris' ", 11) +
	"WHERE T1.country IN ('France', 'Spain', 'Italy') AND T2.year BETWEEN 1990 AND 2000 AND T1.age > (SELECT avg(age) " +
	"FROM singer) " +
	"AND T1.name LIKE '%a%' /* of any kind */ GROUP BY T1.name, T2.title HAVING count(*) > 2 ORDER BY n DESC, " +
	"T1.name ASC LIMIT 10"

func BenchmarkCheck(b *testing.B) {
	d := sqltext.SQLite()
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Check(kilobyte); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	d := sqltext.SQLite()
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		for range d.Tokens(kilobyte) {
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	d := sqltext.SQLite()
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		d.Parse(kilobyte).Normalize()
	}
}

func BenchmarkComparisons(b *testing.B) {
	d := sqltext.SQLite()
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		d.Parse(kilobyte).Comparisons()
	}
}

func BenchmarkOutline(b *testing.B) {
	d := sqltext.SQLite()
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		d.Parse(kilobyte).Outline()
	}
}

func BenchmarkExtract(b *testing.B) {
	reply := "Sure! Here is the query:\n\n```sql\n" + kilobyte + ";\n```\n\nIt's what you asked for."
	b.SetBytes(int64(len(reply)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (replies.Extractor{}).Extract(reply); err != nil {
			b.Fatal(err)
		}
	}
}
