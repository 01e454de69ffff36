// Package jsonform reads the JSON forms of states and records.
package jsonform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Read reads one JSON value. It fails on malformed JSON, unknown fields and anything after
// the value, and names the offset or field.
func Read(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return fmt.Errorf("JSON ends early, at offset %d", len(data))
		}
		return fmt.Errorf("offset %d: %w", decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("offset %d: text after the JSON value", decoder.InputOffset())
	}
	return nil
}
