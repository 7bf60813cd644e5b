package pgstore

// VersionError is for the tests.
type VersionError = versionError
