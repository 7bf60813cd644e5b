package sqltext

// Dialect holds the lexical rules of one SQL engine.
//
// The zero Dialect is SQLite; every field is one difference from it. So a struct literal is enough for an engine
// without a constructor here. The rules decide only where a token ends and how a query may start. The engine decides
// whether a name or a function exists.
//
// T-SQL has no Dialect on purpose: its statements need no semicolon between them, so a lexer cannot separate two.
//
// A Dialect is a comparable value, and its methods only read it. It is safe for concurrent use.
type Dialect struct {
	Backslash           bool // \ escapes the next character in '…', and in "…" if that is a string
	EscapeStrings       bool // E'…' is a string in which \ escapes
	RawStrings          bool // r'…', b'…', '''…''' and """…""" are strings, as in GoogleSQL
	DollarQuotes        bool // $$…$$ and $tag$…$tag$ are strings
	UnicodeQuotes       bool // U&'…' is a string, U&"…" a name
	DoubleQuotedStrings bool // "…" is a string, not a name
	PlainBrackets       bool // [ and ] are punctuation (arrays), not the quotes of a name
	PlainBackticks      bool // ` is punctuation, not the quote of a name
	CaseSensitiveQuotes bool // "Name" and name are different names

	NestedComments     bool // a comment is still open after /* /* */
	HashComments       bool // # starts a comment that ends with the line
	DashNeedsBlank     bool // -- starts a comment only before a blank or the end: 1--1 is 2
	CarriageReturn     bool // a single carriage return ends a line comment
	ExecutableComments bool // /*!…*/, /*M!…*/ and /*+…*/ are code: the text check refuses them

	NoQuestionMark  bool // ? is an operator, not a placeholder
	NoColonName     bool // :name is not a placeholder (slices, casts and structs use the colon)
	NoAtName        bool // @name is not a placeholder: @ is an operator
	NumberedDollars bool // only $1 of the $ forms is a placeholder, $name is not

	BracketedQueries bool // a statement may start with (
	FromFirst        bool // a statement may start with FROM
	TableFirst       bool // a statement may be TABLE t, which reads all of t
	PivotFirst       bool // a statement may start with PIVOT, UNPIVOT, PIVOT_WIDER or PIVOT_LONGER
	DescribeFirst    bool // a statement may be DESCRIBE or SUMMARIZE of a table or of a query
}

// SQLite returns the rules of SQLite 3, the zero Dialect.
func SQLite() Dialect { return Dialect{} }

// PostgreSQL returns the rules of PostgreSQL with standard_conforming_strings on, its default. If that is off, set
// Backslash.
func PostgreSQL() Dialect {
	return Dialect{
		EscapeStrings: true, DollarQuotes: true, UnicodeQuotes: true,
		PlainBrackets: true, PlainBackticks: true, CaseSensitiveQuotes: true,
		NestedComments: true, CarriageReturn: true,
		NoQuestionMark: true, NoColonName: true, NoAtName: true, NumberedDollars: true,
		BracketedQueries: true, TableFirst: true,
	}
}

// MySQL returns the rules of MySQL and MariaDB with the default sql_mode. With NO_BACKSLASH_ESCAPES clear Backslash,
// with ANSI_QUOTES clear DoubleQuotedStrings. User variables (@x) count as placeholders, because they carry state from
// one statement to the next.
func MySQL() Dialect {
	return Dialect{
		Backslash: true, DoubleQuotedStrings: true, PlainBrackets: true,
		HashComments: true, DashNeedsBlank: true, ExecutableComments: true,
		BracketedQueries: true,
	}
}

// DuckDB returns the rules of DuckDB.
func DuckDB() Dialect {
	return Dialect{
		EscapeStrings: true, DollarQuotes: true, PlainBrackets: true, PlainBackticks: true,
		NestedComments: true, CarriageReturn: true, NoColonName: true, NoAtName: true,
		BracketedQueries: true, FromFirst: true, TableFirst: true, PivotFirst: true, DescribeFirst: true,
	}
}

// Trino returns the rules of Trino. Names in double quotes ignore case there.
func Trino() Dialect {
	return Dialect{
		UnicodeQuotes: true, PlainBrackets: true, PlainBackticks: true, CarriageReturn: true, NoColonName: true,
		BracketedQueries: true,
	}
}

// BigQuery returns the rules of GoogleSQL.
func BigQuery() Dialect {
	return Dialect{
		Backslash: true, RawStrings: true, DoubleQuotedStrings: true, PlainBrackets: true,
		HashComments: true, CarriageReturn: true, NoColonName: true,
		BracketedQueries: true, FromFirst: true,
	}
}
