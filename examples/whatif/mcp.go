package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
)

var mcpVerb = verb{
	name: "mcp", short: "the same answers as tools for agents",
	long: "Speaks the Model Context Protocol over standard input and output, as a program that an agent starts. Its tools are the questions of serve that need no state of cede: overview, why, ask, next, lint, diff, settle, drain and safe, with the same parameters and the same JSON. They read and change nothing. With -live they follow the cluster.",
	examples: []string{
		"mcp -live",
		"mcp -live -n NAMESPACE",
		"mcp -f cluster.json",
	},
	yes: "the agent ended it",
	own: true,
	flags: func(c *cobra.Command, o *options) {
		answerFlags(c, o)
	},
	check: func(_ *cobra.Command, o *options) error { return checkAnswers(o) },
	run: func(_ *cluster, o *options, std stdio) (result, error) {
		in := std.in
		std.in = nil // that is the agent, not the cluster
		switch {
		case in == nil:
			return result{}, errors.New("mcp speaks to an agent over standard input, and that is a terminal")
		case !o.reads(std) && len(o.files) == 0 && o.sample == "":
			return result{}, errors.New("mcp: name the cluster that agents are told about: -live, -f FILE or -sample NAME")
		}
		c, err := load(o, std)
		if err != nil {
			return result{}, err
		}
		ctx, stop := std.interrupted()
		defer stop()
		server, err := c.toolServer(ctx, o, std)
		if err != nil {
			return result{}, err
		}
		err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{std.out}})
		if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
			return result{}, fmt.Errorf("the agent cannot be understood: %w", err)
		}
		return result{status: cli.StatusYes}, nil
	},
}

// unclosed is a writer that others do not close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// forAgents is what agents are told of the tools together.
const forAgents = "Answers about preemption and quota in a cluster of Kueue or KAI, as its scheduler would decide now. Nothing is changed. " +
	"Begin with overview, then why. An outcome is Fits, Preempt (others yield), Wait (time alone helps), Gated, Impossible, Held (the scheduler does not consider it), " +
	"or Unknown: then the notes say what is not known, and it is neither yes nor no."

// toolServer is a server of tools about the cluster; with -live it follows it until the context ends.
func (c *cluster) toolServer(ctx context.Context, o *options, std stdio) (*mcp.Server, error) {
	handler, err := c.answering(ctx, o, std)
	if err != nil {
		return nil, err
	}
	list, err := tools()
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "cede", Title: "cede: who has to yield, and why", Version: cli.Version()}, &mcp.ServerOptions{Instructions: forAgents})
	for i := range list {
		server.AddTool(list[i].describe(), list[i].by(handler))
	}
	return server, nil
}
