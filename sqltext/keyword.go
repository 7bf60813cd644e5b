package sqltext

// isReserved reports whether word, in upper case, is a keyword wherever it stands unquoted and without a dot beside it.
// Words that engines also allow as names (year, first, key, rows, …) are keywords only in their places; see
// parser.contextual.
func isReserved(word string) bool {
	switch word {
	case "ALL", "AND", "ANY", "AS", "ASC", "BETWEEN", "BY", "CASE", "COLLATE", "CROSS",
		"DESC", "DISTINCT", "ELSE", "END", "ESCAPE", "EXCEPT", "EXISTS", "FALSE", "FETCH", "FROM", "FULL",
		"GLOB", "GROUP", "HAVING", "ILIKE", "IN", "INNER", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN",
		"LATERAL", "LEFT", "LIKE", "LIMIT", "NATURAL", "NOT", "NOTNULL", "NULL", "OFFSET", "ON", "OR", "ORDER",
		"OUTER", "OVER", "PARTITION", "QUALIFY", "RECURSIVE", "REGEXP", "RIGHT", "RLIKE", "SELECT", "SIMILAR", "SOME",
		"THEN", "TRUE", "UNION", "USING", "VALUES", "WHEN", "WHERE", "WINDOW", "WITH",
		"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "INTERVAL", "DIV", "XOR", "STRAIGHT_JOIN":
		return true
	}
	return false
}

// isClauseWord reports whether the reserved word, in upper case, is no name to any engine. SQLite has tables named asc,
// left and offset.
func isClauseWord(word string) bool {
	switch word {
	case "ALL", "AND", "AS", "BETWEEN", "CASE", "COLLATE", "DISTINCT", "ELSE", "ESCAPE", "EXCEPT", "EXISTS", "FROM", "GROUP", "HAVING",
		"IN", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "LIMIT", "NOT", "NOTNULL", "NULL", "ON", "OR", "ORDER", "SELECT", "THEN",
		"UNION", "USING", "VALUES", "WHEN", "WHERE", "WITH":
		return true
	}
	return false
}

// needsQuotes reports whether a name that is this word, in upper case, means something else without its quotes, or
// nothing: an engine reserves the word, or takes it for a value.
func needsQuotes(word string) bool {
	if isReserved(word) {
		return true
	}
	switch word {
	case "ADD", "ALTER", "AUTOINCREMENT", "CAST", "CHECK", "COMMIT", "CONSTRAINT", "CREATE", "DEFAULT", "DEFERRABLE", "DELETE",
		"DROP", "FOREIGN", "INDEX", "INSERT", "NOTHING", "PRIMARY", "RAISE", "REFERENCES", "RETURNING", "SET", "TABLE", "TO",
		"TRANSACTION", "UNIQUE", "UPDATE",
		"CURRENT_USER", "SESSION_USER", "CURRENT_ROLE", "CURRENT_CATALOG", "CURRENT_SCHEMA", "LOCALTIME", "LOCALTIMESTAMP":
		return true
	}
	return false
}

// isNoFunction reports whether an opening bracket behind the keyword opens something else than arguments. LEFT( and
// RIGHT( do open arguments.
func isNoFunction(word string) bool {
	return isReserved(word) && word != "LEFT" && word != "RIGHT"
}

// endsTable reports whether word, behind a table in FROM, is no alias of it.
func endsTable(word string) bool {
	if isReserved(word) {
		return true
	}
	switch word {
	case "INDEXED", "TABLESAMPLE", "FOR", "FORCE", "USE", "IGNORE", "SET", "PIVOT", "UNPIVOT", "ASOF", "POSITIONAL", "ANTI", "SEMI", "RETURNING", "MINUS":
		return true
	}
	return false
}

// isAggregate reports whether the function, in upper case, makes one value of many rows in some engine.
func isAggregate(name string) bool {
	switch name {
	case "COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL", "GROUP_CONCAT", "STRING_AGG", "LISTAGG", "ARRAY_AGG",
		"JSON_AGG", "JSONB_AGG", "JSON_OBJECT_AGG", "JSONB_OBJECT_AGG", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT", "JSON_ARRAYAGG", "JSON_OBJECTAGG",
		"MEDIAN", "MODE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "STDEV", "VARIANCE", "VAR_POP", "VAR_SAMP",
		"PERCENTILE_CONT", "PERCENTILE_DISC", "CORR", "COVAR_POP", "COVAR_SAMP",
		"BOOL_AND", "BOOL_OR", "EVERY", "COUNTIF", "COUNT_IF", "ANY_VALUE", "APPROX_COUNT_DISTINCT", "LIST", "FIRST", "LAST":
		return true
	}
	return false
}
