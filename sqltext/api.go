package sqltext

type Reason string

const (
	ReasonEmpty       Reason = "empty"
	ReasonTooLong     Reason = "too-long"
	ReasonNotUTF8     Reason = "not-utf8"
	ReasonTruncated   Reason = "truncated"
	ReasonRefusal     Reason = "refusal"
	ReasonNoSQL       Reason = "no-sql"
	ReasonSeveral     Reason = "several-statements"
	ReasonBrokenJSON  Reason = "broken-json"
	ReasonNotReadOnly Reason = "not-read-only"
	ReasonRefused     Reason = "refused" // the one statement fails the text check; Unwrap gives the *RefusedError
)

type ReplyError struct {
	Reason Reason
	Detail string
	Err    error
}

func (e *ReplyError) Error() string {
	return "sqltext: no candidate in the reply (" + string(e.Reason) + "): " + e.Detail
}
func (e *ReplyError) Unwrap() error { return e.Err }

type Extractor struct {
	Dialect Dialect
	Valid   func(sql string) bool // nil: the text check and the shape of the text decide
}

type Extraction struct {
	SQL   string
	Step  string
	Notes []string
}

func (x Extractor) Extract(reply string) (Extraction, error) { return Extraction{SQL: reply}, nil }

// QuestionTemplate: lower case, literals and numbers -> ?, no punctuation.
func QuestionTemplate(question string, literals []string) string { return question }

// Words: lower-case words (letters, digits, inner apostrophe and hyphen cut) of a text.
func Words(s string) []string { return nil }

// SplitName: words of an identifier, lower case: camelCase, snake_case, digits.
func SplitName(name string) []string { return nil }

// Stem: light English stem (plurals), lower case.
func Stem(word string) string { return word }

// CleanText: security.md §11.4.
func CleanText(s string) string { return s }
