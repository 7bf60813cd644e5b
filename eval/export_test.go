package eval

// Recorded is for the tests.
type Recorded = recorded

// StoreStats says what a Store saved.
type StoreStats struct {
	Asked      int // executions asked for
	Executed   int // statements that ran: the distinct ones
	Again      int // statements that ran once more because their table was needed again
	Statements int // distinct statements known
}

// Stats returns the counts of the statements so far.
func (s *Store) Stats() StoreStats {
	st := StoreStats{Asked: int(s.asked.Load()), Executed: int(s.executed.Load()), Again: int(s.again.Load())}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.databases {
		d.mu.Lock()
		st.Statements += len(d.distinct)
		d.mu.Unlock()
	}
	return st
}
