package sqltext

import (
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// clauseWords are the reserved words that are no name to any engine. SQLite has tables named asc, left and offset.
var clauseWords = words.Set(`
	ALL AND AS BETWEEN CASE COLLATE DISTINCT ELSE ESCAPE EXCEPT EXISTS FROM GROUP HAVING IN INTERSECT INTO IS ISNULL
	JOIN LIMIT NOT NOTNULL NULL ON OR ORDER SELECT THEN UNION USING VALUES WHEN WHERE WITH`)

// quotedWords are the words beside the reserved ones that, as a name without quotes, mean something else or nothing: an
// engine reserves the word, or takes it for a value.
var quotedWords = words.Set(`
	ADD ALTER AUTOINCREMENT CAST CHECK COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE DROP FOREIGN INDEX INSERT
	NOTHING PRIMARY RAISE REFERENCES RETURNING SET TABLE TO TRANSACTION UNIQUE UPDATE
	CURRENT_USER SESSION_USER CURRENT_ROLE CURRENT_CATALOG CURRENT_SCHEMA LOCALTIME LOCALTIMESTAMP`)

// tableEnds are the words beside the reserved ones that are no alias behind a table in FROM.
var tableEnds = words.Set(`
	INDEXED TABLESAMPLE FOR FORCE USE IGNORE SET PIVOT UNPIVOT ASOF POSITIONAL ANTI SEMI RETURNING MINUS`)

// behindQuery are the words that go on with a query behind one in brackets.
var behindQuery = words.Set("UNION EXCEPT INTERSECT MINUS ORDER LIMIT OFFSET FETCH FOR")

// aggregates are the functions that make one value of many rows in some engine.
var aggregates = words.Set(`
	COUNT SUM AVG MIN MAX TOTAL GROUP_CONCAT STRING_AGG LISTAGG ARRAY_AGG JSON_AGG JSONB_AGG JSON_OBJECT_AGG
	JSONB_OBJECT_AGG JSON_GROUP_ARRAY JSON_GROUP_OBJECT JSON_ARRAYAGG JSON_OBJECTAGG MEDIAN MODE STDDEV STDDEV_POP
	STDDEV_SAMP STDEV VARIANCE VAR_POP VAR_SAMP PERCENTILE_CONT PERCENTILE_DISC CORR COVAR_POP COVAR_SAMP BOOL_AND
	BOOL_OR EVERY COUNTIF COUNT_IF ANY_VALUE APPROX_COUNT_DISTINCT LIST FIRST LAST`)

// dangling are the keywords with which no statement can end.
var dangling = words.Set(`
	SELECT FROM WHERE AND OR NOT ON JOIN LEFT RIGHT INNER OUTER FULL CROSS NATURAL BY GROUP ORDER HAVING LIMIT OFFSET
	UNION EXCEPT INTERSECT IN LIKE GLOB ILIKE REGEXP BETWEEN IS AS CASE WHEN THEN ELSE DISTINCT USING WITH VALUES OVER
	PARTITION ESCAPE COLLATE EXISTS`)

// isNoFunction reports whether an opening bracket behind the keyword opens something else than arguments. LEFT( and
// RIGHT( do open arguments.
func isNoFunction(word string) bool {
	return sqlshape.Reserved[word] && word != "LEFT" && word != "RIGHT"
}
