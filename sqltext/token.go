package sqltext

// Kind says what a Token is.
type Kind uint8

// The kinds of tokens.
const (
	Space        Kind = iota // blanks and line ends
	Comment                  // with its marks; a line comment without its line end
	Word                     // keyword or unquoted name
	QuotedName               // name in quotes, with them
	String                   // string literal, with quotes and prefix
	Number                   // numeric literal, without sign
	Blob                     // x'…', with prefix and quotes
	Placeholder              // ?, ?1, :name, @name, $1, as the dialect has them
	Operator                 // operator, punctuation, or a character that no other kind takes
	Unterminated             // string, name or comment that is still open where the text ends
)

// String returns the name of k in lower case, as in "quoted name".
func (k Kind) String() string {
	names := [...]string{"space", "comment", "word", "quoted name", "string", "number", "blob", "placeholder", "operator", "unterminated"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Token is one piece of a text.
type Token struct {
	Kind Kind
	Text string // as written; shares memory with the text
	Pos  int    // byte offset in the text
}
