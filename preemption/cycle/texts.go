package cycle

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	borrowingNames = enum.Names[Borrowing]{Type: "Borrowing", List: []string{"AsBuilt", "KEP83", "KEP83Lasting"}}
	outcomeNames   = enum.Names[HeadOutcome]{Type: "HeadOutcome", First: 1, List: []string{"Admit", "Preempt", "Gated", "Wait", "Inadmissible"}}
)

func (b Borrowing) String() string                   { return borrowingNames.String(b) }
func (b Borrowing) MarshalText() ([]byte, error)     { return borrowingNames.Marshal(b) }
func (b *Borrowing) UnmarshalText(text []byte) error { return borrowingNames.Unmarshal(text, b) }

func (o HeadOutcome) String() string                   { return outcomeNames.String(o) }
func (o HeadOutcome) MarshalText() ([]byte, error)     { return outcomeNames.Marshal(o) }
func (o *HeadOutcome) UnmarshalText(text []byte) error { return outcomeNames.Unmarshal(text, o) }
