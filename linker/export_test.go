package linker

// Component names the type of MapReduceResult.Components for tests.
type Component = component
