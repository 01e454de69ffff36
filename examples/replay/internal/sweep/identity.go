package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"github.com/cedesched/cede/examples/internal/world"
)

// identify sets the IDs of the cells, and the name of the sweep. The ID of a cell is a hash of all that its result depends
// on: the trace or the quantiles that it is drawn from, its quotas, the settings of the world, the seed, the policy with the
// contents of its rules, and the version of the program.
func (s *Sweep) identify() error {
	of, err := version()
	if err != nil {
		return err
	}
	s.numbers = map[string]int{}
	worlds, policies := map[string]string{}, map[string]string{}
	all := sha256.New()
	for _, c := range s.Cells {
		source, _, err := world.ParseName(c.World)
		if err == nil && worlds[source] == "" {
			h := sha256.New()
			err = world.Contents(h, source, s.quotas, s.cluster, s.qos, isTrace(source))
			worlds[source] = string(h.Sum(nil))
		}
		if _, known := policies[c.Policy]; err == nil && !known {
			p := s.policies[c.Policy]
			policies[c.Policy], err = p.Contents()
		}
		if err != nil {
			return err
		}
		id := short(fmt.Appendf(nil, "%q %q %d %q %q %q", worlds[source], c.World, c.Seed, c.Policy, policies[c.Policy], of))
		s.numbers[id] = len(s.IDs)
		s.IDs = append(s.IDs, id)
		fmt.Fprintln(all, id)
	}
	s.Name = short(all.Sum(nil))
	return nil
}

// short is a hash that people can compare.
func short(of []byte) string {
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:12])
}

// version is the version of the program: the commit that it was built from, or if that is not all, the program itself.
var version = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		of := map[string]string{}
		for _, s := range info.Settings {
			of[s.Key] = s.Value
		}
		if of["vcs.revision"] != "" && of["vcs.modified"] == "false" {
			return of["vcs.revision"], nil
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return string(h.Sum(nil)), err
})
