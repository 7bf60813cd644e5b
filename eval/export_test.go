package eval

// For the tests.
type (
	Recorded   = recorded
	StoreStats = storeStats
)
