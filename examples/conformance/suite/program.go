package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// maxAnswer bounds a line that a program writes.
const maxAnswer = 16 << 20

// program is a running program that is asked one question after the other.
type program struct {
	command *exec.Cmd
	stop    context.CancelFunc
	in      io.WriteCloser
	lines   chan line
}

type line struct {
	text []byte
	err  error
}

// start starts a program. What it writes to its standard error goes to stderr.
func start(args []string, stderr io.Writer) (*program, error) {
	ctx, stop := context.WithCancel(context.Background())
	p := &program{command: exec.CommandContext(ctx, args[0], args[1:]...), stop: stop, lines: make(chan line)}
	p.command.Stderr = stderr
	p.command.WaitDelay = time.Second // for what the program started and left behind
	var out io.ReadCloser
	var err error
	if p.in, err = p.command.StdinPipe(); err == nil {
		out, err = p.command.StdoutPipe()
	}
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	go p.read(ctx, out)
	return p, nil
}

// read hands over one line after the other, until the program is stopped or ends.
func (p *program) read(ctx context.Context, out io.Reader) {
	defer close(p.lines)
	in := bufio.NewScanner(out)
	in.Buffer(nil, maxAnswer)
	for in.Scan() {
		select {
		case p.lines <- line{text: append([]byte(nil), in.Bytes()...)}:
		case <-ctx.Done():
			return
		}
	}
	err := in.Err()
	if err == nil {
		err = io.EOF
	}
	select {
	case p.lines <- line{err: err}:
	case <-ctx.Done():
	}
}

// errLost says that the program cannot be asked on: it ended, or did not answer in time.
var errLost = errors.New("lost")

// ask asks a question and waits for its answer. An error that is [errLost] ends the program.
func (p *program) ask(q Asked, within time.Duration) (a Answered, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	wrote := make(chan error, 1)
	go func() {
		_, err := p.in.Write(append(text, '\n'))
		wrote <- err
	}()
	for {
		select {
		case err := <-wrote:
			if err != nil {
				return a, fmt.Errorf("%w: it reads no question: %v", errLost, err)
			}
			wrote = nil // and no more of it
		case l, open := <-p.lines:
			switch {
			case !open || l.err == io.EOF:
				return a, fmt.Errorf("%w: it ended", errLost)
			case l.err != nil:
				return a, fmt.Errorf("%w: %v", errLost, l.err)
			}
			if err := json.Unmarshal(l.text, &a); err != nil {
				return a, fmt.Errorf("its line is no answer: %w", err)
			}
			if a.ID != q.ID {
				return a, fmt.Errorf("%w: it answers %q, and was asked %q", errLost, a.ID, q.ID)
			}
			if a.Error == "" && a.Answer == nil {
				return a, errors.New("it has neither an answer nor an error")
			}
			return a, nil
		case <-timeout.C:
			return a, fmt.Errorf("%w: no answer within %v", errLost, within)
		}
	}
}

// end stops the program and waits until it has gone.
func (p *program) end() {
	p.in.Close()
	p.stop()
	_ = p.command.Wait() // it was told to go: how it went says nothing
	for range p.lines {  // until the reader has gone
	}
}
