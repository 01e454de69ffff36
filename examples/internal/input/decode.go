package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	v2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// asV1 makes the decoder of the next encoding/json read what that of today reads, in the same
// way. The other options of v1 are about kinds of values that no object has.
var asV1 = v2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), v2.MatchCaseInsensitiveNames(true),
	v1.MatchCaseSensitiveDelimiter(true), v1.MergeWithLegacySemantics(true))

// Unmarshal is [json.Unmarshal] with one pass over the data in place of two or three. What into
// points to is zero before. Data that the fast decoder refuses goes to encoding/json, whose answer
// counts: its errors, and what it reads in spite of them.
func Unmarshal(data []byte, into any) error {
	if v2.Unmarshal(data, into, asV1) == nil {
		return nil
	}
	reflect.ValueOf(into).Elem().SetZero()
	return json.Unmarshal(data, into)
}

// Decode reads a part of an object, and says where in it which value is wrong. null in place of a field is
// the absent field, as in the API; as an item of a list it is wrong. What into points to is zero before.
func Decode(name string, data json.RawMessage, into any) error {
	if len(data) == 0 {
		return nil
	}
	err := Unmarshal(data, into)
	if err == nil {
		if at, found := nullItem(data); found {
			return fmt.Errorf("%s: null is no item of a list", strings.TrimPrefix(name+at, "."))
		}
		return nil
	}
	path, cause := locate(data, reflect.TypeOf(into).Elem(), err)
	path = strings.TrimPrefix(name+path, ".")
	var mismatch *json.UnmarshalTypeError
	if errors.As(cause, &mismatch) {
		return fmt.Errorf("%s: want %s, found %s", path, describeType(mismatch.Type), mismatch.Value)
	}
	var noTime *time.ParseError
	if errors.As(cause, &noTime) {
		return fmt.Errorf("%s: %q is not a time", path, noTime.Value)
	}
	if strings.HasPrefix(cause.Error(), "Time.UnmarshalJSON") {
		return fmt.Errorf("%s: want a time, as text", path)
	}
	return fmt.Errorf("%s: %w", path, cause)
}
