// Package forms holds the JSON forms of each version, and a test that every version after it reads them and writes
// them back byte for byte.
//
// testdata/v0.1 has one file for each form, with every field set. The values mean nothing: a form is names, types and
// the texts of constants. A patch version adds fields, which are omitted when they are not set. A minor version before
// 1.0 that changes a form begins a folder of its own.
package forms
