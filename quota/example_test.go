package quota_test

import (
	"encoding/json"
	"fmt"

	"github.com/cedesched/cede/quota"
)

// An absent limit is no limit; a limit of zero is one.
func ExampleQuota() {
	text, err := json.Marshal(quota.Quota{Flavor: "h100", Resource: "gpu", Nominal: 8, BorrowingLimit: quota.AtMost(0)})
	fmt.Println(string(text), err)
	// Output:
	// {"flavor":"h100","resource":"gpu","nominal":8,"borrowingLimit":0} <nil>
}

// Of two shares the larger yields first: what is borrowed, divided by the weight.
func ExampleShare() {
	heavy := quota.Share{Ratio: 300, Weight: 3, Borrows: true}
	light := quota.Share{Ratio: 200, Weight: 1, Borrows: true}
	fmt.Println(heavy.Weighted(), light.Weighted(), heavy.Compare(light))
	// Output:
	// 100 200 -1
}
