// Package enginetest has the tests of the root package through its public API, by subject: questions, batches,
// conversations, rows by user, policies, hostile content, outages.
package enginetest
