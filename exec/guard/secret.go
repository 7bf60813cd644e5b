package guard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
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
