// Package sampling has the types of samples of tables that exec and exec/guard share. Users find them in exec.
package sampling

// Options says which rows of a table are read.
type Options struct {
	Columns []string // the columns to read, as the table writes them; none: only count. exec.DB.Sample chooses them itself
	Rows    int      // most rows to read, 1 or more
	Count   int64    // most rows to count; 0: no count
	Spread  bool     // read rows from all over a long table instead of its first ones
	Seed    uint64   // where Spread begins in each part of the table
	Cut     int      // texts and blobs are cut to this many characters or bytes; 0: as stored
}

// Rows is some rows of a table.
type Rows struct {
	Rows         [][]any // one value for each of Options.Columns, in their order
	Count        int64   // number of rows of the table; 0 if they were not counted
	CountAtLeast bool    // the table has more rows than Count
	Complete     bool    // Rows are all rows of the table
}

// Truncate leaves the first characters of each text, and the first bytes of each blob; 0: all of them. SampleRows does
// it where the engine did not: not every type can be cut in SQL.
func Truncate(rows [][]any, most int) {
	if most == 0 {
		return
	}
	for _, row := range rows {
		for i, v := range row {
			switch v := v.(type) {
			case string:
				if len(v) > most {
					r := []rune(v)
					row[i] = string(r[:min(most, len(r))])
				}
			case []byte:
				row[i] = v[:min(most, len(v))]
			}
		}
	}
}
