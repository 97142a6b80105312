package fabric

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

var update = flag.Bool("update", false, "write the expected errors of testdata/bad anew")

// TestParseBad reads every file of testdata/bad and compares its problems,
// each with its hint, with the .err file beside it.
func TestParseBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("find bad files: %v, %d found", err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text := read(t, file)
			f, err := Parse("fabric.yaml", text)
			var ps yamldoc.Problems
			if !errors.As(err, &ps) {
				t.Fatalf("Parse = %v, want Problems", err)
			}
			if diff := cmp.Diff(Fabric{}, f); diff != "" {
				t.Errorf("something came with the error:\n%s", diff)
			}
			var got strings.Builder
			for _, p := range ps {
				if p.Line < 1 || p.Column < 1 || strings.Contains(p.Error(), "\n") {
					t.Errorf("problem without a place or of several lines: %q", p.Error())
				}
				fmt.Fprintln(&got, p.Error())
				if p.Hint != "" {
					fmt.Fprintln(&got, "  hint: "+p.Hint)
				}
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".err"
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(read(t, golden)), got.String()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t *testing.T, file string) Fabric {
	t.Helper()
	f, err := Parse(file, read(t, file))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return f
}

func parseText(t *testing.T, text string) Fabric {
	t.Helper()
	f, err := Parse("fabric.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return f
}

func TestParseContract(t *testing.T) {
	f := parse(t, "testdata/good/contract.yaml")
	if len(f.Hosts) != 2 || f.Hosts[0].Name != "rbx" || f.Hosts[1].Name != "lim" {
		t.Fatalf("hosts = %v", f.Hosts)
	}
	rbx := f.Hosts[0]
	bond, ok := rbx.Network.Bond("bond1")
	if !ok {
		t.Fatal("bond1 was not read")
	}
	wantSet := []string{"mode", "xmit_hash_policy", "lacp_rate", "miimon"}
	if diff := cmp.Diff(wantSet, bond.Set); diff != "" {
		t.Errorf("options set (-want +got):\n%s", diff)
	}
	if got := bond.Options.Miimon; got != 100*time.Millisecond {
		t.Errorf("miimon = %v", got)
	}
	if rbx.Rate != 25e9 || rbx.Hardware.CPU.StreamRate != 30e9 || rbx.Cloud.VCPUs != 48 || rbx.Hardware.Cards["c0"].Price != 500 || rbx.Kernel != "5.15" {
		t.Errorf("host facts = %+v", rbx)
	}
	wantPaths := []Path{{From: "rbx", To: "lim", RTT: 8900 * time.Microsecond, Rate: 25e9, SwitchHash: "unknown", Declared: true}}
	if diff := cmp.Diff(wantPaths, f.Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	wantMeasure := Measure{Streams: []int{1, 2, 4, 8, 16}, Directions: flow.Directions(), Duration: 30 * time.Second, Ports: "chosen", Protocol: "tcp"}
	if diff := cmp.Diff(wantMeasure, f.Measure); diff != "" {
		t.Errorf("measure (-want +got):\n%s", diff)
	}
}

func TestParseSpellings(t *testing.T) {
	base := "linerate: v1\nhosts:\n  a:\n    reach: \"local:\"\n"
	for name, text := range map[string]string{
		"string":     `    sysctl: {net.ipv4.tcp_rmem: "4096  131072` + "\t" + `6291456"}`,
		"list":       `    sysctl: {net.ipv4.tcp_rmem: [4096, 131072, 6291456]}`,
		"slashes":    `    sysctl: {net/ipv4/tcp_rmem: 4096 131072 6291456}`,
		"block list": "    sysctl:\n      net.ipv4.tcp_rmem:\n        - 4096\n        - 131072\n        - 6291456",
	} {
		f := parseText(t, base+text+"\n")
		want := map[string]string{"net.ipv4.tcp_rmem": "4096 131072 6291456"}
		if diff := cmp.Diff(want, f.Hosts[0].Sysctl); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	f := parseText(t, "\xef\xbb\xbf"+strings.ReplaceAll(base+"    kernel: 5.10\nmeasure: {socket_buffer: 8Mi}\n", "\n", "\r\n"))
	if f.Hosts[0].Kernel != "5.10" {
		t.Errorf("kernel 5.10 was read as %q", f.Hosts[0].Kernel)
	}
	if f.Measure.SocketBuffer != 8<<20 {
		t.Errorf("socket buffer = %d", f.Measure.SocketBuffer)
	}
}

// TestParseAnchors shares one network between hosts by merge key.
func TestParseAnchors(t *testing.T) {
	f := parseText(t, `linerate: v1
hosts:
  a:
    network: &net
      version: 2
      ethernets: &eth {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], mtu: 9000}}
  b:
    network:
      <<: *net
      ethernets: *eth
      renderer: networkd
`)
	b := f.Hosts[1].Network
	if len(b.Ethernets) != 2 || len(b.Bonds) != 1 || b.Bonds[0].MTU != 9000 || b.Renderer != "networkd" {
		t.Errorf("merged network = %+v", b)
	}
	if strings.Contains(b.Source, "*") {
		t.Errorf("source holds aliases that lead nowhere:\n%s", b.Source)
	}
	if _, err := ParseNetwork("b", []byte(b.Source)); err != nil {
		t.Errorf("source does not parse: %v\n%s", err, b.Source)
	}
}

func TestParseTooLarge(t *testing.T) {
	_, err := Parse("big.yaml", make([]byte, yamldoc.MaxText+1))
	if err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("Parse of too much = %v", err)
	}
}

// TestParseHostile hands over what recursive parsers die of.
func TestParseHostile(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 1<<20),
		"braces":   strings.Repeat("{a: ", 1<<18),
		"dashes":   strings.Repeat("- ", 1<<20),
		"question": strings.Repeat("? ", 1<<18),
		"anchors":  strings.Repeat("&a ", 1<<18),
		"tags":     strings.Repeat("!!map ", 1<<18),
		"deep":     deep(1000),
		"nul":      "linerate: v1\x00",
		"long key": "linerate: v1\n" + strings.Repeat("k", 1<<16) + ": 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			if _, err := Parse(name, []byte(text)); err == nil {
				t.Error("was accepted")
			} else if len(err.Error()) > 1<<16 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func deep(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestParseThousandHosts reads a file of a size that a fleet has.
func TestParseThousandHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, `  h%d:
    network:
      version: 2
      ethernets: {ens2f0: {mtu: 9000}, ens2f1: {mtu: 9000}}
      bonds:
        bond1:
          interfaces: [ens2f0, ens2f1]
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}
          addresses: [10.%d.%d.1/30]
    hardware:
      links: {ens2f0: {speed: 25G}, ens2f1: {speed: 25G}}
`, i, i/250, i%250)
	}
	begin := time.Now()
	f := parseText(t, b.String())
	if len(f.Hosts) != 1000 || len(f.Paths) != 0 {
		t.Errorf("%d hosts, %d paths", len(f.Hosts), len(f.Paths))
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestNetworkReadsItself parses what Source says and expects the same network.
func TestNetworkReadsItself(t *testing.T) {
	for _, file := range []string{"testdata/good/contract.yaml", "testdata/good/many.yaml", "testdata/ovh.yaml"} {
		for _, h := range parse(t, file).Hosts {
			again, err := ParseNetwork(h.Name, []byte(h.Network.Source))
			if err != nil {
				t.Fatalf("%s of %s: %v", h.Name, file, err)
			}
			places := cmp.FilterPath(func(p cmp.Path) bool {
				return strings.HasSuffix(p.String(), "Line") || strings.HasSuffix(p.String(), "Column")
			}, cmp.Ignore())
			if diff := cmp.Diff(h.Network, again, compare, places); diff != "" {
				t.Errorf("%s of %s (-file +source):\n%s", h.Name, file, diff)
			}
		}
	}
}

// TestParseColons reads plain IPv6 addresses in every style; the YAML parser
// makes mappings of some.
func TestParseColons(t *testing.T) {
	for _, network := range []string{
		`{ethernets: {eth0: {addresses: [fd00::1/64, 10.0.0.1/24]}}}`,
		`{ethernets: {eth0: {addresses: ["fd00::1/64", 10.0.0.1/24]}}}`,
		"\n      ethernets:\n        eth0:\n          addresses:\n            - fd00::1/64\n            - 10.0.0.1/24",
		"\n      ethernets:\n        eth0:\n          addresses:\n            - fd00::1/64:\n                lifetime: 0\n            - 10.0.0.1/24: {label: x}",
		"\n      ethernets:\n        eth0:\n          addresses: [{\"fd00::1/64\": {lifetime: 0}}, 10.0.0.1/24]",
	} {
		f := parseText(t, "linerate: v1\nhosts:\n  a:\n    network: "+network+"\n")
		e, _ := f.Hosts[0].Network.Ethernet("eth0")
		if len(e.Addresses) != 2 || e.Addresses[0].String() != "fd00::1/64" || e.Addresses[1].String() != "10.0.0.1/24" {
			t.Errorf("addresses of %s = %v", network, e.Addresses)
		}
	}
}
