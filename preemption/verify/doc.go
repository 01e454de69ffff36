// Package verify judges decisions, of this library or of another scheduler, from the state, the request and the
// configuration alone. It shares no code with what decides: it judges by a slow reference model. It is made for tests
// and audits.
package verify
