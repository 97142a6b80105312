package main

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/advise/profile"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// kernelDefaults are a 64 GiB host's (Linux 6.1), of the keys whose default is not 0.
var kernelDefaults = map[string]string{
	"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304", "net.ipv4.tcp_mem": "760000 1013000 1520000",
	"net.core.rmem_max": "212992", "net.core.wmem_max": "212992", "net.core.netdev_budget": "300", "net.core.netdev_budget_usecs": "8000",
	"net.core.netdev_max_backlog": "1000", "net.ipv4.tcp_slow_start_after_idle": "1", "net.ipv4.tcp_syncookies": "1", "net.ipv4.tcp_window_scaling": "1",
	"net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_sack": "1", "net.ipv4.tcp_adv_win_scale": "1", "net.ipv4.tcp_timestamps": "1", "net.ipv4.icmp_echo_ignore_broadcasts": "1",
	"net.ipv4.icmp_ignore_bogus_error_responses": "1", "kernel.randomize_va_space": "2", "net.ipv4.conf.all.secure_redirects": "1",
	"net.ipv4.conf.default.secure_redirects": "1",
}

// profilesPage is what each profile sets on one host, with the reasons.
func profilesPage() string {
	host := netstate.Host{
		Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, Memory: 64 * unit.GiB,
		Links: []netstate.Link{
			{Name: "lo", Kind: "loopback", Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}},
			{Name: "eth0", Speed: 25 * unit.Gbps, MTU: 9000, Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("2001:db8::1/64")}},
		},
		Sysctls: make(map[string]netstate.Sysctl),
	}
	for _, key := range profile.Keys(host.Links) {
		host.Sysctls[key] = netstate.Sysctl{Value: "0"}
		if v, ok := kernelDefaults[key]; ok {
			host.Sysctls[key] = netstate.Sysctl{Value: v}
		}
	}
	in := profile.Input{Host: host, Paths: []profile.Path{{To: "far", RTT: 8900 * time.Microsecond, Rate: 25 * unit.Gbps}}}
	var b strings.Builder
	b.WriteString("# Sysctl profiles\n\n" + madeBy + `A fabric file names them (` + "`profiles: [throughput, security]`" + `), ` + "`plan`" + ` shows what they would change on
your host, and why. A file without the key sets none. They are computed, not copied: here for a host of Linux 6.1 with 64 GiB, one
link of 25 Gbit/s, a path of 8.9 ms, and the kernel's defaults.
[What inspect says of values that are there already](sysctls.md).
`)
	for _, name := range [...]string{"throughput", "security"} {
		compute, _ := profile.ByName(name)
		result := compute(in)
		fmt.Fprintf(&b, "\n## %s\n\n| key | value | why |\n|---|---|---|\n", name)
		for _, s := range result.Settings {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", s.Key, s.Value, cell(s.Why))
		}
		for _, left := range result.Left {
			fmt.Fprintf(&b, "\nLeft: %s\n", cell(left))
		}
	}
	return b.String()
}
