// Command krew writes the manifest by which krew installs kubectl cede from a release: it reads the checksums that goreleaser
// wrote, as in krew -tag v0.1.0 < dist/checksums.txt > cede.yaml.
package main

import (
	"bufio"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/template"

	"github.com/cedesched/cede/examples/internal/cli"
)

func main() {
	flags := flag.NewFlagSet("krew", flag.ContinueOnError)
	tag := flags.String("tag", "", "the `TAG` of the release")
	switch err := cli.Parse(flags, os.Args[1:], "usage: krew -tag TAG < checksums.txt", os.Stdout, "", "-tag v0.1.0 < dist/checksums.txt"); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(2)
	}
	if err := manifest(*tag, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(2)
	}
}

// form is the manifest without what a release adds.
//
//go:embed cede.yaml
var form string

// archive is an archive of a release that has the program.
type archive struct {
	Name, OS, Arch, Sum string
}

// Program is the file in the archive, and Plugin what it becomes.
func (a archive) Program() string { return "whatif" + a.ending() }
func (a archive) Plugin() string  { return "kubectl-cede" + a.ending() }

func (a archive) ending() string {
	if a.OS == "windows" {
		return ".exe"
	}
	return ""
}

var (
	version = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	line    = regexp.MustCompile(`^([0-9a-f]{64})  (\S+)$`)
)

// manifest writes the manifest for a tag, with the sums of the archives that a list of checksums has, in its order.
func manifest(tag string, sums io.Reader, to io.Writer) error {
	if !version.MatchString(tag) {
		return fmt.Errorf("-tag %q: want a tag as in v0.1.0", tag)
	}
	name := regexp.MustCompile(`^cede_` + regexp.QuoteMeta(strings.TrimPrefix(tag, "v")) + `_([a-z]+)_([a-z0-9]+)\.(?:tar\.gz|zip)$`)
	var list []archive
	lines := bufio.NewScanner(sums)
	for lines.Scan() {
		found := line.FindStringSubmatch(lines.Text())
		if found == nil {
			return fmt.Errorf("%q is no checksum of a file", lines.Text())
		}
		if of := name.FindStringSubmatch(found[2]); of != nil {
			list = append(list, archive{found[2], of[1], of[2], found[1]})
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("the checksums have no archive of the programs of %s", tag)
	}
	return template.Must(template.New("cede.yaml").Parse(form)).Execute(to, struct {
		Tag      string
		Archives []archive
	}{tag, list})
}
