package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

var errNotKept = errors.New("the cluster was read from standard input, and its nodes were not kept: give it with -f FILE or -live")

// verbsServed are the verbs that are answered about the cluster, with parameters in place of flags.
func (c *cluster) verbsServed(o *options, std stdio) serve.Verbs {
	as := func(ctx context.Context, v *verb, set func(*options)) (any, error) {
		asks := *o
		asks.output = "json"
		set(&asks)
		return c.at(o, std).plainly(ctx, v, &asks, std)
	}
	notKept := func() bool {
		return std.in != nil && len(o.files) == 0 && !o.reads(std) || slices.Contains(o.files, "-")
	}
	onNodes := func(asks *options) { // which are read again
		asks.sample = cmp.Or(asks.sample, c.Sample)
		asks.now, asks.asked = c.asked(o, std), true
		asks.in = 0 // it is in that time
	}
	return serve.Verbs{
		Ask: func(ctx context.Context, q *serve.AskAsked) (any, error) {
			return as(ctx, &explainVerb, func(o *options) {
				o.request, o.queue, o.priority, o.count, o.flavor, o.name = q.Request, q.Queue, q.Priority, cmp.Or(q.Count, 1), q.Flavor, "new"
			})
		},
		Next: func(ctx context.Context, q *serve.NextAsked) (any, error) {
			return as(ctx, &nextVerb, func(o *options) {
				o.queue, o.namespace, o.cycles = q.Queue, q.Namespace, cmp.Or(q.Cycles, 5)
				o.quotas, o.policies = q.Quota, q.Policy
			})
		},
		Lint: func(ctx context.Context, q *serve.LintAsked) (any, error) {
			return as(ctx, &lintVerb, func(o *options) { o.rules = q.Rule })
		},
		Diff: func(ctx context.Context, q *serve.DiffAsked) (any, error) {
			return as(ctx, &diffVerb, func(o *options) { o.quotas, o.policies, o.priorities = q.Quota, q.Policy, q.Priority })
		},
		Settle: func(ctx context.Context, q *serve.SettleAsked) (any, error) {
			return as(ctx, &settleVerb, func(o *options) { o.quotas = q.Quota })
		},
		Safe: func(ctx context.Context, q *serve.SafeAsked) (any, error) {
			if q.Requests != "" && q.Requests != "new" {
				return nil, fmt.Errorf("requests %q: want new, or nothing", q.Requests)
			}
			if q.Pods != "" && q.Pods != "all" {
				return nil, fmt.Errorf("pods %q: want all, or nothing", q.Pods)
			}
			pods := q.Pod != "" || q.Pods != ""
			if pods && notKept() {
				return nil, errNotKept
			}
			return as(ctx, &safeVerb, func(o *options) {
				if o.pod, o.allPods = q.Pod, q.Pods != ""; pods {
					onNodes(o)
				}
				o.workload, o.queue, o.namespace, o.newOnly = q.Workload, q.Queue, q.Namespace, q.Requests == "new"
			})
		},
		Drain: func(ctx context.Context, q *serve.DrainAsked) (any, error) {
			if notKept() {
				return nil, errNotKept
			}
			return as(ctx, &drainVerb, func(o *options) {
				o.nodes = q.Node
				onNodes(o)
			})
		},
	}
}

// plainly is the answer of a verb as plain data.
func (c *cluster) plainly(ctx context.Context, v *verb, o *options, std stdio) (any, error) {
	std.out, std.err, std.screen = io.Discard, io.Discard, cli.Screen{}
	std.until = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	var r result
	err := c.checkNamespace(o.namespace)
	if err == nil && v.check != nil && v.name != explainVerb.name { // that of explain is about flags
		err = v.check(nil, o)
	}
	if err == nil {
		r, err = v.run(c, o, std)
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "-"))
	}
	return r.plain, nil
}
