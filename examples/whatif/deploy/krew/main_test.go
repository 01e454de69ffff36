package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// release is what .goreleaser.yaml says of the archives.
type release struct {
	Builds []struct {
		ID     string   `json:"id"`
		Binary string   `json:"binary"`
		OS     []string `json:"goos"`
		Arch   []string `json:"goarch"`
	} `json:"builds"`
	Archives []struct {
		ID        string   `json:"id"`
		IDs       []string `json:"ids"`
		Name      string   `json:"name_template"`
		Formats   []string `json:"formats"`
		Overrides []struct {
			OS      string   `json:"goos"`
			Formats []string `json:"formats"`
		} `json:"format_overrides"`
		Files []string `json:"files"`
	} `json:"archives"`
}

// archives are the names of the archives of a version that goreleaser writes, by system and processor.
func archives(t *testing.T, version string) (names map[[2]string]string, checksums string) {
	t.Helper()
	var r release
	text, err := os.ReadFile("../../../../.goreleaser.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	build, archive := r.Builds[0], r.Archives[0]
	if build.ID != "whatif" || build.Binary != "whatif" || archive.ID != "programs" || !slices.Contains(archive.IDs, "whatif") || !slices.Contains(archive.Files, "LICENSE") {
		t.Fatalf("%+v, %+v", build, archive)
	}
	names = map[[2]string]string{}
	for _, system := range build.OS {
		format := archive.Formats[0]
		for _, o := range archive.Overrides {
			if o.OS == system {
				format = o.Formats[0]
			}
		}
		for _, arch := range build.Arch {
			var name bytes.Buffer
			if err := template.Must(template.New("").Parse(archive.Name)).Execute(&name, map[string]string{"Version": version, "Os": system, "Arch": arch}); err != nil {
				t.Fatal(err)
			}
			file := name.String() + "." + format
			names[[2]string{system, arch}] = file
			checksums += fmt.Sprintf("%064x  %s\n%064x  %s.sbom.json\n", len(names), file, 0, file)
		}
	}
	return names, checksums + strings.Repeat("a", 64) + "  cede-kube-scheduler_" + version + "_linux_amd64.tar.gz\n"
}

// plugin is a manifest of krew, all its fields.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		Homepage         string `json:"homepage"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			URI      string `json:"uri"`
			Sha256   string `json:"sha256"`
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			Files []struct {
				From string `json:"from"`
				To   string `json:"to"`
			} `json:"files"`
			Bin string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// The manifest is as krew's validate-krew-manifest and the rules of its index want it, and names the archives that goreleaser writes.
func TestManifest(t *testing.T) {
	names, checksums := archives(t, "1.2.3-rc.1")
	var out bytes.Buffer
	if err := manifest("v1.2.3-rc.1", strings.NewReader(checksums), &out); err != nil {
		t.Fatal(err)
	}
	var p plugin
	if err := yaml.UnmarshalStrict(out.Bytes(), &p); err != nil {
		t.Fatal(err, &out)
	}
	s := &p.Spec
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Metadata.Name != "cede" || s.Version != "v1.2.3-rc.1" {
		t.Errorf("%+v", p)
	}
	// Of the index: at most 50 characters, which do not name kubectl and end without a full stop; lines of at most 80.
	if d := s.ShortDescription; d == "" || len(d) > 50 || strings.ContainsAny(d, "\r\n") || strings.Contains(d, "kubectl") || strings.HasSuffix(d, ".") {
		t.Errorf("short description %q", d)
	}
	for text := range strings.Lines(s.Description) {
		if len(text) > 81 {
			t.Errorf("too wide: %s", text)
		}
	}
	for _, platform := range s.Platforms {
		on := [2]string{platform.Selector.MatchLabels["os"], platform.Selector.MatchLabels["arch"]}
		ending := map[bool]string{true: ".exe"}[on[0] == "windows"]
		if want := "https://github.com/cedesched/cede/releases/download/v1.2.3-rc.1/" + names[on]; platform.URI != want || len(platform.Selector.MatchLabels) != 2 {
			t.Errorf("%v: %s, want %s", on, platform.URI, want)
		}
		if want := regexp.MustCompile(`(?m)^([0-9a-f]{64})  ` + regexp.QuoteMeta(names[on]) + `$`).FindStringSubmatch(checksums); want == nil || platform.Sha256 != want[1] {
			t.Errorf("%v: sum %s, want %v", on, platform.Sha256, want)
		}
		if platform.Bin != "kubectl-cede"+ending || platform.Files[0].From != "whatif"+ending || platform.Files[0].To != platform.Bin || platform.Files[1].From != "LICENSE" || path.IsAbs(platform.Files[1].To) {
			t.Errorf("%v: %+v", on, platform)
		}
		delete(names, on)
	}
	if len(names) > 0 {
		t.Errorf("not for %v", names)
	}
}

func TestNoManifest(t *testing.T) {
	for tag, c := range map[string][2]string{
		"0.1.0":   {"", "want a tag as in v0.1.0"},
		"":        {"", "want a tag as in v0.1.0"},
		"v0.1.0":  {"", "no archive of the programs of v0.1.0"},
		"v0.2.0":  {strings.Repeat("0", 64) + "  cede_0.1.0_linux_amd64.tar.gz\n", "no archive of the programs of v0.2.0"},
		"v0.3.0":  {"x  cede_0.3.0_linux_amd64.tar.gz\n", "is no checksum of a file"},
		"v0.3.00": {strings.Repeat("0", 64) + "  cede_0.3.0_linux_amd64.tar.gz\n", "no archive"},
	} {
		var out bytes.Buffer
		if err := manifest(tag, strings.NewReader(c[0]), &out); err == nil || !strings.Contains(err.Error(), c[1]) || out.Len() > 0 {
			t.Errorf("%s: %v, %s", tag, err, &out)
		}
	}
}
