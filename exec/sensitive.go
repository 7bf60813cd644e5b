package exec

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Names of columns that hold secrets: as one word of the name, as two words in a row, and, where a name is written
// without a mark between its words, as a part of it.
var (
	secretWords = words.Set("password passwords passwd passphrase passcode pwd secret secrets credential credentials apikey ssn cvv cvv2 cvc iban otp totp")
	secretPairs = words.Set("api key,access key,private key,secret key,encryption key,signing key,ssh key,license key,auth token,access token," +
		"refresh token,api token,session token,bearer token,reset token,csrf token,credit card,debit card,card number,card no,card num," +
		"social security,passport number,passport no,security answer,security code,security number")
	secretParts = []string{"password", "passwd", "passphrase", "apikey", "accesstoken", "authtoken", "refreshtoken", "privatekey", "secretkey", "creditcard", "cardnumber", "socialsecurity"}
	// about are last words of names of what is about a secret and none itself.
	about = words.Set("type kind brand at on date time day year status state count id ids set enabled changed updated created expires expiry expired length policy hint " +
		"required valid version attempts")
)

// secretName reports whether the name of a column says that it holds secrets.
func secretName(name string) bool {
	parts := words.OfName(name)
	if len(parts) == 0 || len(parts) > 1 && (about[parts[len(parts)-1]] || parts[0] == "is" || parts[0] == "has") {
		return false
	}
	for i, part := range parts {
		if secretWords[part] || i > 0 && secretPairs[parts[i-1]+" "+part] {
			return true
		}
	}
	return len(parts) == 1 && slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(parts[0], part) })
}

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

// conceal returns s with the columns marked Sensitive whose names say that they hold secrets, and those that show the
// values of one under another name, and warns of them. Where there are none it returns s itself.
func (db *DB) conceal(ctx context.Context, c *Catalog, s *schema.Schema, relation func(*schema.Table) *guard.Relation) *schema.Schema {
	secret := c.SpreadThroughViews(func(r *guard.Relation, column string) bool {
		return secretName(column) && !db.policy.Reveals(r.Schema, r.Name, column)
	})
	out := *s
	out.Tables = slices.Clone(s.Tables)
	var found []string
	for i := range out.Tables {
		t := &out.Tables[i]
		cloned := false
		for j, c := range t.Columns {
			if c.Sensitive || !(secretName(c.Name) || secret[relation(t)][c.Name]) || db.policy.Reveals(s.SchemaOf(t), t.Name, c.Name) {
				continue
			}
			if !cloned {
				t.Columns, cloned = slices.Clone(t.Columns), true
			}
			t.Columns[j].Sensitive = true
			found = append(found, t.Name+"."+c.Name)
		}
	}
	if len(found) == 0 {
		return s
	}
	WarnSensitive(ctx, found)
	return &out
}

// WarnSensitive adds the warning "sensitive-columns" to the span in ctx.
func WarnSensitive(ctx context.Context, columns []string) {
	shown := columns[:min(len(columns), 10)]
	more := ""
	if n := len(columns) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	trace.From(ctx).Warn("sensitive-columns", fmt.Sprintf(
		"columns that look like secrets are not sampled, profiled, matched or shown: %s%s; Policy.Reveal shows those that are none, Policy.DenyColumns keeps statements from reading the others",
		strings.Join(shown, ", "), more))
}

// dropSecrets takes the columns out of a sample whose values look like secrets.
func (db *DB) dropSecrets(source schema.Table, t *result.Table) {
	in := db.schemas.current.Load().SchemaOf(&source) // Sample has read the schema
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
