package main

import (
	"fmt"
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
