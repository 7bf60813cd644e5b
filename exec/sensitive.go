package exec

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

var (
	secretForm = regexp.MustCompile(`^(?:` +
		`[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}|` + // hashes
		`\$(?:2[abxy]|1|5|6|argon2\w*|scrypt|pbkdf2[\w-]*)\$.+|\{S?SHA\d*\}.+|pbkdf2_sha\d+\$.+|` + // of passwords
		`(?:sk-|AIza|gsk_|hf_|xai-|gh[opsur]_|github_pat_|glpat-|xox[abpr]-)[\w-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{16}|` + // keys
		`eyJ[\w-]{8,}\.[\w.-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*)|` +
		`\d{3}-\d{2}-\d{4})$`) // social security
	cardForm = regexp.MustCompile(`^[3-6]\d{3}(?:[ -]?\d{2,6}){2,4}$`)
)

// secretValue reports whether a stored value looks like a secret.
func secretValue(v any) bool {
	switch v := v.(type) {
	case string:
		return secretForm.MatchString(v) || isCard(v)
	case int64:
		return isCard(strconv.FormatInt(v, 10))
	}
	return false
}

// isCard reports whether text is the number of a payment card: 13 to 19 digits with a check digit by Luhn.
func isCard(text string) bool {
	if len(text) < 13 || len(text) > 23 || !cardForm.MatchString(text) {
		return false
	}
	digits, sum := 0, 0
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' {
			continue // a blank or a dash
		}
		d := int(text[i] - '0')
		if digits%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		digits++
		sum += d
	}
	return digits >= 13 && digits <= 19 && sum%10 == 0
}

// secretValues reports whether four fifths of the values in a column of rows, NULL and empty ones aside, look like
// secrets.
func secretValues(rows [][]any, column int) bool {
	secret, all := 0, 0
	for _, row := range rows {
		if v := row[column]; v != nil && v != "" {
			all++
			if secretValue(v) {
				secret++
			}
			if all > 20 && secret == 0 {
				return false
			}
		}
	}
	return all > 0 && 5*secret >= 4*all
}

// hidden lists the columns that may not be read for their names alone.
func (db *DB) hidden(c *Catalog) (found []string) {
	named := db.policy
	named.Reveal = []string{"*"}
	for _, r := range c.Relations {
		for _, column := range r.Columns() {
			if r.Allowed() && r.Refused == nil && db.policy.Hides(r.Schema, r.Name, column) && named.AllowsColumn(r.Schema, r.Name, column) {
				found = append(found, r.Name+"."+column)
			}
		}
	}
	return found
}

// dropSecrets takes the columns out of a sample whose values look like secrets.
func (db *DB) dropSecrets(readable *schema.Schema, source schema.Table, t *result.Table) {
	in := readable.SchemaOf(&source)
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if !secretValues(t.Rows, i) || db.policy.Reveals(in, source.Name, t.Columns[i]) {
			continue
		}
		t.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
		for j := range t.Rows {
			t.Rows[j] = slices.Delete(t.Rows[j], i, i+1)
		}
	}
}
