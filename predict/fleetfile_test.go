package predict

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
)

// fleetFile is a fabric file: hosts with bonds of two links in one subnet, and
// paths between hosts drawn at random.
func fleetFile(hosts, paths int) []byte {
	random := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n")
	for i := range hosts {
		fmt.Fprintf(&b, `  h%d:
    network:
      version: 2
      ethernets: {e0: {mtu: 9000}, e1: {mtu: 9000}}
      bonds:
        bond0:
          interfaces: [e0, e1]
          mtu: 9000
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100}
          addresses: [10.%d.%d.%d/8]
    hardware:
      links: {e0: {speed: 25G, card: c0}, e1: {speed: 25G, card: c0}}
      cards: {c0: {pcie: {generation: 3, lanes: 8, max_payload: 256}}}
    kernel: "6.1"
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456"}
`, i, i>>16, i>>8&255, i&255)
	}
	b.WriteString("paths:\n")
	seen := map[[2]int]bool{}
	for len(seen) < paths {
		x, y := random.IntN(hosts), random.IntN(hosts)
		if x == y || seen[[2]int{x, y}] || seen[[2]int{y, x}] {
			continue
		}
		seen[[2]int{x, y}] = true
		fmt.Fprintf(&b, "  - {between: [h%d, h%d], rtt: %dus, switch_hash: layer3+4}\n", x, y, 50+random.IntN(500))
	}
	return []byte(b.String())
}

func readFleet(t testing.TB, hosts, paths int) Fabric {
	t.Helper()
	f, err := fabric.Parse("fleet.yaml", fleetFile(hosts, paths))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ResolveAlone(); err != nil {
		t.Fatal(err)
	}
	known := Fabric{Hosts: make(map[string]netstate.Host), Paths: f.Paths}
	for _, h := range f.Hosts {
		if known.Hosts[h.Name], err = f.State(h.Name); err != nil {
			t.Fatal(err)
		}
	}
	return known
}

// BenchmarkFleetFile1k reads a file of 1,000 hosts and 5,000 paths.
func BenchmarkFleetFile1k(b *testing.B) {
	for range b.N {
		readFleet(b, 1000, 5000)
	}
}

// BenchmarkFleetMatrix1k predicts its pairs by themselves: 5 stream counts,
// 3 directions.
func BenchmarkFleetMatrix1k(b *testing.B) {
	f := readFleet(b, 1000, 5000)
	b.ResetTimer()
	for range b.N {
		if all, err := Matrix(f, fabric.Measure{}); err != nil || len(all) != 15*5000 {
			b.Fatalf("%d predictions, %v", len(all), err)
		}
	}
}

// BenchmarkFleetTogether1k predicts them all at once.
func BenchmarkFleetTogether1k(b *testing.B) {
	f := readFleet(b, 1000, 5000)
	b.ResetTimer()
	for range b.N {
		if _, err := Together(f, EveryPair(f, fabric.Measure{}, flow.Forward, 8)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPredict is one pair, 16 streams: chosen ports, and the kernel's.
func BenchmarkPredict(b *testing.B) {
	f := readFleet(b, 2, 1)
	four := testfabric.Bond{Ports: 4, Speed: 25e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 9000, Kernel: "6.1"}
	x, y := four, four
	x.Name, x.Addrs = "x", []string{"10.0.0.1/24"}
	y.Name, y.Addrs = "y", []string{"10.0.0.2/24"}
	wide := JoinedHosts(x.Host(), y.Host(), 0, "layer2+3")
	for _, c := range []struct {
		name string
		f    Fabric
		t    Traffic
	}{
		{"chosen", f, Traffic{From: "h0", To: "h1", Direction: flow.Forward, Streams: 16}},
		{"kernel", f, Traffic{From: "h0", To: "h1", Direction: flow.Forward, Streams: 16, Ports: PortsKernel}},
		{"kernel4links", wide, Traffic{From: "x", To: "y", Direction: flow.Forward, Streams: 16, Ports: PortsKernel}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := Predict(c.f, c.t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
