// Command kubescheduler is kube-scheduler with one plugin more: its preemption decides with
// cede. It takes the flags of kube-scheduler; config.yaml enables the plugin.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/cedesched/cede/examples/kubescheduler/plugin"
)

func main() { os.Exit(cli.Run(command())) }

// command is kube-scheduler's, with the plugin, its own version, and without a pair of flags of which one
// has no effect.
func command() *cobra.Command {
	c := app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if flags := c.Flags(); flags.Changed("version") && flags.Lookup("version").Value.String() != "false" {
			_, err := fmt.Fprintln(c.OutOrStdout(), version())
			return err
		} else if flags.Changed("config") && flags.Changed("kubeconfig") {
			return errors.New("--kubeconfig has no effect with --config: write clientConnection: {kubeconfig: ...} in the file")
		}
		return run(c, args)
	}
	return c
}

// version says which kube-scheduler and which cede this is, by what the program was built of.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "built without modules"
	}
	kube, cede := "unknown", info.Main.Version
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			kube = m.Version
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (cede == "" || cede == "(devel)") {
			cede = s.Value
		}
	}
	return fmt.Sprintf("kube-scheduler %s with cede %s", kube, cede)
}
