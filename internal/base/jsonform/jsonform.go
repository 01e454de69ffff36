// Package jsonform reads the JSON forms of states and records.
package jsonform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Read reads one JSON value. It fails on malformed JSON and anything after the value, and names the
// offset; and with a [fault.List] on unknown fields, fields that an object has twice, and values that
// cannot be read, each with its path.
func Read(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	switch syntax := (*json.SyntaxError)(nil); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("JSON ends early, at offset %d", len(data))
	case errors.As(err, &syntax):
		return fmt.Errorf("offset %d: %w", syntax.Offset, err)
	}
	end := decoder.InputOffset()
	if faults := faultsOf(data[:end], reflect.TypeOf(into), err != nil); len(faults) > 0 {
		return faults
	}
	if err != nil {
		return fmt.Errorf("offset %d: %w", end, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("offset %d: text after the JSON value", end)
	}
	return nil
}

// Parse is [Read] for the package of the given name, which the error begins with. It returns the zero
// value on an error.
func Parse[T any](owner string, data []byte) (T, error) {
	var read, none T
	if err := Read(data, &read); err != nil {
		return none, fmt.Errorf("%s: %w", owner, err)
	}
	return read, nil
}
