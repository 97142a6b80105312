package wanted_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/profile"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/unit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestExamples lays the articles' fabrics over hosts as they come, and compares
// what is wanted, why, and the plan with the golden file beside each.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("examples: %v, %d found", err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := fabric.Parse(filepath.Base(file), text)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, h := range f.Hosts {
				tell(t, &got, f, h.Name)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// tell writes what one host would become, and checks that it stays so.
func tell(t *testing.T, w *strings.Builder, f fabric.Fabric, name string) {
	t.Helper()
	declared, err := f.State(name)
	if err != nil {
		t.Fatal(err)
	}
	observed := bare(declared)
	request := wanted.Request{Fabric: f, Host: name, Observed: observed}
	state, err := wanted.Of(request)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	steps, err := plan.Between(observed, state.Host)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	fmt.Fprintf(w, "# %s\n", name)
	for _, s := range steps.Explain(state.Reasons).Steps {
		fmt.Fprintf(w, "%s\n", s.Change())
		if s.By != "" {
			fmt.Fprintf(w, "    by %s", s.By)
			if s.Why != "" {
				fmt.Fprintf(w, ": %s", s.Why)
			}
			fmt.Fprintln(w)
		}
	}
	for _, l := range state.Left {
		fmt.Fprintf(w, "left: %s\n", l)
	}
	for _, l := range state.Warnings {
		fmt.Fprintf(w, "warning: %s\n", l)
	}
	settles(t, request, steps)
}

// settles carries the plan out on the model and asks again: nothing is left to
// change.
func settles(t *testing.T, r wanted.Request, steps plan.Plan) {
	t.Helper()
	after, err := plan.Apply(r.Observed, steps)
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	r.Observed = after
	again, err := wanted.Of(r)
	if err != nil {
		t.Fatalf("of the host as it became: %v", err)
	}
	more, err := plan.Between(after, again.Host)
	if err != nil {
		t.Fatalf("between: %v", err)
	}
	if len(more.Steps) > 0 {
		t.Errorf("more to change afterwards:\n%s", more.Text(80))
	}
}

// bare is a Linux host with the physical links of a declared one, and nothing
// set up but the kernel's defaults.
func bare(declared netstate.Host) netstate.Host {
	h := netstate.Host{
		Name: declared.Name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0-32-amd64"}, Memory: 64 * unit.GiB,
		MPTCP: &netstate.MPTCP{Subflows: 2}, Sysctls: map[string]netstate.Sysctl{},
		Links: []netstate.Link{{Name: "lo", Kind: "loopback", MTU: 65536, Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}}},
	}
	if declared.Kernel.Release != "" {
		h.Kernel.Release = declared.Kernel.Release
	}
	for i, l := range declared.Links {
		if l.Kind != "" {
			continue
		}
		mac := l.MAC
		if mac.IsZero() {
			mac = flow.MAC{2, 0, 0, 0, 0, byte(i + 1)}
		}
		h.Links = append(h.Links, netstate.Link{
			Name: l.Name, Index: i + 2, MTU: 1500, MaxMTU: 9600, MAC: mac, PermanentMAC: mac, Speed: l.Speed, Carrier: true,
			Offloads: map[string]bool{"gro": true, "tso": true}, Qdiscs: []netstate.Qdisc{{Kind: "mq", Parent: "root", Handle: "0:"}},
			Device: &netstate.Device{Rings: &netstate.Rings{Rx: 512, Tx: 512, RxMax: 4096, TxMax: 4096}, Fixed: []string{"lro"}},
		})
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		h.Rules = append(h.Rules, netstate.Rule{Priority: 32766, Table: 254, Family: family})
	}
	h.Rules = append(h.Rules, netstate.Rule{Priority: 0, Table: 255, Family: "ipv4"}, netstate.Rule{Priority: 32767, Table: 253, Family: "ipv4"})
	defaults(&h)
	return h
}

// kernelSysctls are the defaults of a Linux 6.1.
var kernelSysctls = map[string]string{
	"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304", "net.ipv4.tcp_mem": "760000 1013000 1520000",
	"net.core.rmem_max": "212992", "net.core.wmem_max": "212992", "net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_moderate_rcvbuf": "1",
	"net.ipv4.tcp_sack": "1", "net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_adv_win_scale": "1", "net.ipv4.tcp_slow_start_after_idle": "1",
	"net.ipv4.tcp_no_metrics_save": "0", "net.core.netdev_budget": "300", "net.core.netdev_budget_usecs": "8000", "net.core.netdev_max_backlog": "1000",
	"net.ipv4.tcp_syncookies": "1", "net.ipv4.ip_forward": "0", "net.ipv6.conf.all.forwarding": "0", "net.ipv4.conf.all.forwarding": "0",
	"net.ipv4.icmp_echo_ignore_broadcasts": "1", "net.ipv6.icmp.echo_ignore_multicast": "0", "net.ipv4.icmp_ignore_bogus_error_responses": "1",
	"kernel.randomize_va_space": "2", "kernel.panic": "0", "net.mptcp.enabled": "1", "net.ipv4.tcp_reordering": "3",
	"net.ipv4.fib_multipath_hash_policy": "0", "net.ipv6.fib_multipath_hash_policy": "0",
}

// kernelConf are the defaults of a link's own, and of all's and default's.
var kernelConf = map[string]map[string]string{
	"ipv4": {"accept_source_route": "0", "accept_redirects": "1", "secure_redirects": "1", "send_redirects": "1", "log_martians": "0",
		"rp_filter": "0", "arp_ignore": "0", "arp_announce": "0"},
	"ipv6": {"accept_source_route": "0", "accept_redirects": "1"},
}

func defaults(h *netstate.Host) {
	for key, value := range kernelSysctls {
		h.Sysctls[key] = netstate.Sysctl{Value: value, Scope: netstate.ScopeOf(key)}
	}
	links := []string{"all", "default"}
	for _, l := range h.Links {
		links = append(links, l.Name)
	}
	for family, names := range kernelConf {
		for _, link := range links {
			for name, value := range names {
				h.Sysctls[netstate.LinkSysctl(family, link, name)] = netstate.Sysctl{Value: value, Scope: netstate.ScopeNamespace}
			}
		}
	}
	for _, key := range profile.Keys(h.Links) {
		if _, ok := h.Sysctls[key]; !ok && !strings.Contains(key, "bridge-nf") {
			h.Sysctls[key] = netstate.Sysctl{Value: "0", Scope: netstate.ScopeOf(key)}
		}
	}
}

// TestRequestIsLeftAlone holds Of to not changing what it is given.
func TestRequestIsLeftAlone(t *testing.T) {
	text, err := os.ReadFile("testdata/cross-region.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.Parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := f.State(f.Hosts[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	observed := bare(declared)
	before, _ := json.Marshal(observed)
	if _, err := wanted.Of(wanted.Request{Fabric: f, Host: declared.Name, Observed: observed, Exact: true}); err != nil {
		t.Fatal(err)
	}
	after, _ := json.Marshal(observed)
	if !bytes.Equal(before, after) {
		t.Errorf("the observed host changed:\n%s\n%s", before, after)
	}
	if !slices.ContainsFunc(observed.Links, func(l netstate.Link) bool { return l.Name == "ens2f0" }) {
		t.Error("the example has no ens2f0")
	}
}
