package postgres

// Without takes walls away until the function that it returns is called.
func Without(tree, locks bool) (back func()) {
	before := walls
	walls.tree, walls.locks = !tree, !locks
	return func() { walls = before }
}

// Path is the search path that facts with this array have.
func Path(array string) []string { return facts{path: array}.schemas() }

// Duration is how the guard reads a setting.
var Duration = duration
