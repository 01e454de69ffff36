package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completion returns the verb that prints the script with which a shell completes this
// command line. kubectl completes a plugin by running kubectl_complete-NAME.
func completion(root *cobra.Command, std stdio) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	if std.plugin {
		shells = append(shells, "kubectl")
	}
	c := &cobra.Command{
		Use: "completion " + strings.Join(shells, "|"), Short: "the script for a shell that completes verbs and flags",
		Long:      "Prints the script with which a shell completes verbs, flags and their values.",
		Example:   fmt.Sprintf("source <(%s completion bash)\n%[1]s completion zsh > \"${fpath[1]}/_%[2]s\"\n%[1]s completion fish | source\n", std.name, root.Use),
		ValidArgs: shells, Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("completion: want one of %s", strings.Join(shells, ", "))
			}
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(std.out, true)
			case "zsh":
				return root.GenZshCompletion(std.out)
			case "fish":
				return root.GenFishCompletion(std.out, true)
			case "kubectl":
				if std.plugin {
					_, err := fmt.Fprintf(std.out, "#!/usr/bin/env sh\nexec %s __complete \"$@\"\n", std.name)
					return err
				}
			}
			return fmt.Errorf("completion %q: want one of %s", args[0], strings.Join(shells, ", "))
		},
	}
	if std.plugin {
		c.Example += fmt.Sprintf("%s completion kubectl > kubectl_complete-%s # on the PATH, executable: kubectl completes the plugin with it\n", std.name, strings.TrimPrefix(std.name, "kubectl "))
	}
	return c
}

// completeNames completes workloads and queues with those of the input that the command line names: its files, the cluster with
// -live or as a plugin of kubectl, else the sample.
func completeNames(c *cobra.Command, o *options, std stdio, argument bool) {
	complete := func(names func(*cluster) []string) cobra.CompletionFunc {
		return func(c *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
			if err := o.check(c); err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			quiet := std
			quiet.in = nil // a shell that completes has no input
			read, err := load(o, quiet)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			list := slices.DeleteFunc(names(read), func(name string) bool { return !strings.HasPrefix(name, begin) })
			return list, cobra.ShellCompDirectiveNoFileComp
		}
	}
	workloads := complete(func(c *cluster) []string { return pendingNames(c.Found.Pending) })
	queues := complete(func(c *cluster) []string { return slices.Concat(queueNames(c.State), localQueueNames(c.Found)) })
	for flag, names := range map[string]cobra.CompletionFunc{"workload": workloads, "queue": queues} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, names)
		}
	}
	if argument {
		c.ValidArgsFunction = workloads
	}
}
