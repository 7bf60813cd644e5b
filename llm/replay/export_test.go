package replay

// MissingError is for the tests.
type MissingError = missingError
