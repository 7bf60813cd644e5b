package session

import "github.com/texttosql/texttosql/schema"

// Parse reads a correction as a person writes it.
func Parse(text string, s *schema.Schema) (Correction, error) {
	return Correction{Kind: CorrectText, Text: text}.Resolve(s)
}
