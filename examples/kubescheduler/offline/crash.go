package offline

import (
	"context"
	"fmt"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// crashes keeps what kube-scheduler panics with, in whichever goroutine: it trusts that the API server has refused objects that are
// not valid, and the input need not come from one.
var crashes struct {
	sync.Mutex
	first string
}

// catchCrashes has panics kept from now on, and the earlier ones forgotten. It is for the whole process.
var catchCrashes = func() func() {
	once := sync.OnceFunc(func() {
		utilruntime.ReallyCrash = false
		utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, value any) { crashed(value) }}
	})
	return func() {
		once()
		crashes.Lock()
		defer crashes.Unlock()
		crashes.first = ""
	}
}()

func crashed(value any) {
	crashes.Lock()
	defer crashes.Unlock()
	if crashes.first == "" {
		crashes.first = fmt.Sprint(value)
	}
}

// hasCrashed returns what kube-scheduler has panicked with; empty: it has not.
func hasCrashed() string {
	crashes.Lock()
	defer crashes.Unlock()
	return crashes.first
}
