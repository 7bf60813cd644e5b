package pgstore

import "time"

// VersionError is for the tests.
type VersionError = versionError

// BePatient sets how long calls may take, in all and when their caller has gone.
func BePatient(inAll, gone time.Duration) { patience, saving = inAll, gone }
