package formats

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

var update = flag.Bool("update", false, "write testdata's expected files anew")

// golden is an output as one text: each file below its path and mode, the
// warnings last.
func golden(out render.Output) string {
	var b strings.Builder
	for _, f := range out.Files {
		fmt.Fprintf(&b, "## %s %04o\n%s", f.Path, f.Mode, f.Text)
	}
	for _, w := range out.Warnings {
		fmt.Fprintf(&b, "## warning: %s\n", w)
	}
	return b.String()
}

func isGolden(t *testing.T, file string, out render.Output) {
	t.Helper()
	text := golden(out)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, file)), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func byPath(files []render.File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = f.Text
	}
	return all
}

// TestFiles renders each fabric in testdata in the formats of files that are
// changed in place, and once more over what that gave.
func TestFiles(t *testing.T) {
	for _, dir := range []string{"full", "settings"} {
		for _, format := range []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatIfupdown, render.FormatSysctl} {
			if dir == "full" && format == render.FormatSysctl {
				continue
			}
			in := input(t, "testdata/"+dir+"/fabric.yaml", "a")
			if dir == "settings" {
				in.SysctlReasons = map[string]string{"net.ipv4.tcp_rmem": "profile throughput: 2 x 10 Gbit/s over 9 ms"}
			}
			out := mustRender(t, format, in)
			isGolden(t, "testdata/"+dir+"/"+string(format)+".txt", out)
			in.Old = byPath(out.Files)
			again := mustRender(t, format, in)
			if diff := cmp.Diff(in.Old, byPath(again.Files)); diff != "" {
				t.Errorf("%s of %s over its own files (-first +second):\n%s", format, dir, diff)
			}
		}
	}
}

// TestFilesInPlace renders over files that somebody else wrote: what is not
// wanted otherwise stays, line by line.
func TestFilesInPlace(t *testing.T) {
	const host = `linerate: v1
hosts:
  a:
    reach: "local:"
    network:
      ethernets:
        eno1: {mtu: 9000}
        eno2: {mtu: 9000}
        eth0: {addresses: [192.0.2.6/24], routes: [{to: default, via: 192.0.2.1}]}
      bonds:
        bond0:
          interfaces: [eno1, eno2]
          mtu: 9000
          addresses: [10.0.0.2/24, 10.0.0.3/24]
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}
    sysctl: {net.ipv4.tcp_sack: 1, net.core.rmem_max: 67108864}
    absent: [bond9]
`
	for _, format := range []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatIfupdown, render.FormatSysctl} {
		in := inputOf(t, "host.yaml", host, "a")
		in.Old = parts(string(read(t, "testdata/inplace/"+string(format)+"-before.txt")))
		out := mustRender(t, format, in)
		isGolden(t, "testdata/inplace/"+string(format)+"-after.txt", out)
		after := map[string]string{}
		for path, text := range in.Old {
			after[path] = text
		}
		for path, text := range byPath(out.Files) {
			after[path] = text
		}
		in.Old = after
		for path, text := range byPath(mustRender(t, format, in).Files) {
			if diff := cmp.Diff(after[path], text); diff != "" {
				t.Errorf("%s: %s again (-first +second):\n%s", format, path, diff)
			}
		}
	}
}

// parts are the files of a golden text.
func parts(text string) map[string]string {
	all := map[string]string{}
	for _, part := range strings.Split("\n"+text, "\n## ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		path, _, _ := strings.Cut(head, " ")
		all[path] = strings.TrimSuffix(body, "\n") + "\n"
	}
	return all
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// input is a test fabric's host as the command renders it.
func input(t *testing.T, file, host string) render.Input {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return inputOf(t, file, string(text), host)
}

func inputOf(t *testing.T, file, text, host string) render.Input {
	t.Helper()
	f, err := fabric.Parse(file, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	h, _ := f.Host(host)
	s, err := f.State(host)
	if err != nil {
		t.Fatal(err)
	}
	return render.Input{Host: h, State: s}
}

func mustRender(t *testing.T, format render.Format, in render.Input) render.Output {
	t.Helper()
	out, err := Write(format, in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Peers 12g: what no file of a format can say is said, whatever the format.
func TestAbsentIsWarnedOf(t *testing.T) {
	const text = "linerate: v1\nhosts: {h: {network: {version: 2, ethernets: {eno1: {addresses: [192.0.2.10/24]}}}, absent: [bond9]}}\n"
	for _, format := range []render.Format{render.FormatKeyfile, render.FormatIfcfg, render.FormatIfupdown, render.FormatNetworkd, render.FormatNetplan} {
		out := mustRender(t, format, inputOf(t, "f.yaml", text, "h"))
		found := false
		for _, w := range out.Warnings {
			found = found || w.Where == "bond9" && w.Key == "absent"
		}
		if !found {
			t.Errorf("%s: %+v", format, out.Warnings)
		}
	}
}
