package words

import (
	"regexp"
	"slices"
	"strings"
)

// What secrets look like: names of columns, and stored values. A column whose name is one of these may not be read, and
// one whose values are is not shown. Errors and traces are written without Tokens.

// Names of columns that hold secrets: as one word of the name, as two words in a row, and, where a name is written
// without a mark between its words, as a part of it.
var (
	secretWords = Set("password passwords passwd passphrase passcode pwd secret secrets credential credentials apikey " +
		"ssn cvv cvv2 cvc iban otp totp")
	secretPairs = Set("api key,access key,private key,secret key,encryption key,signing key,ssh key,license key,auth " +
		"token,access token," +
		"refresh token,api token,session token,bearer token,reset token,csrf token,credit card,debit card,card number,card " +
		"no,card num," +
		"social security,passport number,passport no,security answer,security code,security number")
	secretParts = []string{"password", "passwd", "passphrase", "apikey", "accesstoken", "authtoken", "refreshtoken",
		"privatekey", "secretkey", "creditcard", "cardnumber", "socialsecurity"}
	// about are last words of names of what is about a secret and none itself.
	about = Set("type kind brand at on date time day year status state count id ids set enabled changed updated created " +
		"expires expiry expired length policy hint " +
		"required valid version attempts")
)

// SecretName reports whether the name of a column says that it holds secrets.
func SecretName(name string) bool {
	parts := OfName(name)
	if len(parts) == 0 || len(parts) > 1 && (about[parts[len(parts)-1]] || parts[0] == "is" || parts[0] == "has") {
		return false
	}
	for i, part := range parts {
		if secretWords[part] || i > 0 && secretPairs[parts[i-1]+" "+part] {
			return true
		}
	}
	return len(parts) == 1 && slices.ContainsFunc(secretParts, func(part string) bool {
		return strings.Contains(parts[0], part)
	})
}

// Forms of keys and tokens of providers. The group is what may stay of one.
const (
	ProviderKeys = `(sk-|AIza|gsk_|hf_|xai-|gh[opsur]_|github_pat_|glpat-|xox[abpr]-|r8_|pplx-|nvapi-)[\w-]{8,}`
	CloudKeys    = `(AKIA|ASIA)[A-Z0-9]{16}`
	WebTokens    = `(eyJ)[\w-]{8,}\.[\w.-]+`
)

var (
	secretForm = regexp.MustCompile(`^(?:` + ProviderKeys + `|` + CloudKeys + `|` + WebTokens + `|` +
		`[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}|` + // hashes
		`\$(?:2[abxy]|1|5|6|argon2\w*|scrypt|pbkdf2[\w-]*)\$.+|\{S?SHA\d*\}.+|pbkdf2_sha\d+\$.+|` + // of passwords
		`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*)|\d{3}-\d{2}-\d{4})$`) // social security
	cardForm = regexp.MustCompile(`^[3-6]\d{3}(?:[ -]?\d{2,6}){2,4}$`)
)

// SecretValue reports whether a stored value, as text, looks like a secret.
func SecretValue(text string) bool { return secretForm.MatchString(text) || isCard(text) }

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
