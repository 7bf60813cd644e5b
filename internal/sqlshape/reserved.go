package sqlshape

import (
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// MaxStatement is the longest statement that the text check accepts, in bytes.
const MaxStatement = 100_000

// Reserved are keywords wherever they stand unquoted and without a dot beside them. Words that engines also allow as
// names (year, first, key, rows, …) are keywords only in their places.
var Reserved = words.Set(`
	ALL AND ANY AS ASC BETWEEN BY CASE COLLATE CROSS DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FROM FULL
	GLOB GROUP HAVING ILIKE IN INNER INTERSECT INTO IS ISNULL JOIN LATERAL LEFT LIKE LIMIT NATURAL NOT NOTNULL NULL
	OFFSET ON OR ORDER OUTER OVER PARTITION QUALIFY RECURSIVE REGEXP RIGHT RLIKE SELECT SIMILAR SOME THEN TRUE UNION
	USING VALUES WHEN WHERE WINDOW WITH
	CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP INTERVAL DIV XOR STRAIGHT_JOIN`)

// IsReserved reports whether word, in any case, is a keyword wherever it stands unquoted and without a dot beside it.
func IsReserved(word string) bool { return Reserved[strings.ToUpper(word)] }
