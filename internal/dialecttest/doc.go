// Package dialecttest has the tests that our own dialects share beside the suite of exec/exectest: rules about rows,
// fences, hidden rows, stacks of views, values as text, plans, benchmarks. Tests of modules of engines import it, and
// no other code.
package dialecttest
