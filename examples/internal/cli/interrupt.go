package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Interrupted returns a context that ends when the user presses Ctrl-C or asks the process to terminate. Its cause says
// which. From then on, and once the function is called, a signal ends the process as usual.
func Interrupted() (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			if s == os.Interrupt {
				end(errors.New("Ctrl-C"))
			} else {
				end(errors.New("a request to terminate"))
			}
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { end(nil) }
}
