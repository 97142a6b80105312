package profile_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/advise/profile"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// What a host needs to fill a long fat pipe, each value with its reason.
func Example() {
	host := netstate.Host{
		Kernel: netstate.Kernel{OS: "linux", Release: "6.1"}, Memory: 64 * unit.GiB,
		Links: []netstate.Link{{Name: "eth0", Speed: 10 * unit.Gbps, MTU: 9000, Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}}},
		Sysctls: map[string]netstate.Sysctl{
			"net.ipv4.tcp_rmem": {Value: "4096 131072 6291456"}, "net.ipv4.tcp_wmem": {Value: "4096 16384 4194304"},
			"net.ipv4.tcp_mem": {Value: "760000 1013000 1520000"},
		},
	}
	result := profile.Throughput(profile.Input{Host: host, Paths: []profile.Path{{To: "far", RTT: 20 * time.Millisecond}}})
	for _, s := range result.Settings {
		fmt.Printf("%s = %s\n  %s\n", s.Key, s.Value, s.Why)
	}
	// Output:
	// net.ipv4.tcp_rmem = 4096 131072 62914560
	//   10.0 Gbit/s (eth0) x 20ms to far = 23.8 MiB in flight, a quarter more for queues; 0.50 of a buffer can be window: 60 MiB for one stream
	// net.ipv4.tcp_wmem = 4096 16384 33554432
	//   10.0 Gbit/s (eth0) x 20ms to far = 23.8 MiB in flight, a quarter more for queues; 0.96 of a buffer can be in flight: 32 MiB for one stream
}
