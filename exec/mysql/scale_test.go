package mysql_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkVersion: what it costs to ask whether the schema of 10,000 tables changed.
func BenchmarkVersion(b *testing.B) {
	columns := strings.Repeat(", c%d INT", 19)
	numbers := make([]any, 19)
	for i := range numbers {
		numbers[i] = i
	}
	columns = fmt.Sprintf(columns, numbers...)
	for _, tables := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tables), func(b *testing.B) {
			pool, _ := open(b, "", "multiStatements=true")
			for n := 0; n < tables; n += 100 {
				var script strings.Builder
				for i := range 100 {
					fmt.Fprintf(&script, "CREATE TABLE t%d (id INT PRIMARY KEY%s) ENGINE=MyISAM;", n+i, columns)
				}
				exec1(b, pool, script.String())
			}
			conn := held(b, pool)
			if _, err := conn.Version(b.Context()); err != nil { // the first one reads all
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := conn.Version(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
