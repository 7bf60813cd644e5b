package session

// Earlier is an answered question of the same conversation, which a follow-up question may refer to.
type Earlier struct {
	Question string `json:"question"` // as it was asked
	SQL      string `json:"sql"`      // the statement that answered it
}
