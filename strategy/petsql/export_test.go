package petsql

// Parts names the type of REp.Without for tests.
type Parts = parts
