// Package testsuite makes and uses test suites: seeded variations of a database
// on which a right statement stays right and a wrong one shows.
package testsuite
