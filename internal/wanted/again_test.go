package wanted_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// withSysctls is the running host with more of them.
func withSysctls(pairs ...string) netstate.Host {
	h := running()
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		h.Sysctls[key] = netstate.Sysctl{Value: value, Scope: netstate.ScopeNamespace}
	}
	return h
}

// twice plans, carries the plan out on the model, and sees that nothing is left
// to do, by what was wanted and by asking again. It returns the plan.
func twice(t *testing.T, observed netstate.Host, text string) plan.Plan {
	t.Helper()
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h:\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	r := wanted.Request{Fabric: f, Host: "h", Observed: observed}
	state, err := wanted.Of(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Between(observed, state.Host)
	if err != nil {
		t.Fatal(err)
	}
	if r.Observed, err = plan.Apply(observed, p); err != nil {
		t.Fatal(err)
	}
	if rest, err := plan.Between(r.Observed, state.Host); err != nil || len(rest.Steps) > 0 {
		t.Errorf("left to do: %v\n%s", err, rest.Text(80))
	}
	again, err := wanted.Of(r)
	if err != nil {
		t.Fatal(err)
	}
	if more, err := plan.Between(r.Observed, again.Host); err != nil || len(more.Steps) > 0 {
		t.Errorf("wants more: %v\n%s", err, more.Text(80))
	}
	return p
}

func sets(p plan.Plan, key, value string) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.Kind == plan.Sysctl && s.Key == key && (value == "" || s.New == value)
	})
}

// TestForwarding: what the kernel sets along with it is wanted so.
func TestForwarding(t *testing.T) {
	h := withSysctls("net.ipv4.ip_forward=0", "net.ipv4.conf.all.forwarding=0", "net.ipv4.conf.eth0.forwarding=0", "net.ipv4.conf.docker0.forwarding=1", "net.ipv4.conf.all.accept_redirects=1")
	p := twice(t, h, "    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}\n    profiles: []\n    sysctl: {net.ipv4.ip_forward: 1}\n")
	if !sets(p, "net.ipv4.ip_forward", "1") || sets(p, "net.ipv4.conf.eth0.forwarding", "") {
		t.Error(p.Text(80))
	}
	h = withSysctls("net.ipv4.ip_forward=1", "net.ipv4.conf.eth0.forwarding=1", "net.ipv4.conf.all.accept_redirects=0")
	p = twice(t, h, "    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}\n    profiles: []\n    sysctl: {net.ipv4.ip_forward: 0}\n")
	if !sets(p, "net.ipv4.conf.all.accept_redirects", "0") {
		t.Errorf("it takes redirects again:\n%s", p.Text(80))
	}
}

// TestForwardingWithoutLRO: what the kernel switches off along with it, and leaves off, is a
// step of the plan, which can be rolled back.
func TestForwardingWithoutLRO(t *testing.T) {
	h := withSysctls("net.ipv4.ip_forward=0", "net.ipv4.conf.all.forwarding=0", "net.ipv4.conf.all.accept_redirects=1")
	ofLink(&h, "eth0", func(l *netstate.Link) { l.Device, l.Offloads = nil, map[string]bool{"lro": true, "gro": true} })
	const eth0 = "    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}\n    profiles: []\n"
	drops := func(p plan.Plan) bool {
		return slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
			return s.Kind == plan.Offload && s.Link == "eth0" && s.Key == "lro" && s.New == "off"
		})
	}
	if p := twice(t, h, eth0+"    sysctl: {net.ipv4.ip_forward: 1}\n"); !drops(p) {
		t.Errorf("a rollback would leave LRO off:\n%s", p.Text(80))
	}
	if p := twice(t, h, eth0); drops(p) {
		t.Errorf("nothing forwards:\n%s", p.Text(80))
	}
	h.Sysctls["net.ipv4.ip_forward"] = netstate.Sysctl{Value: "1", Scope: netstate.ScopeNamespace}
	if p := twice(t, h, eth0+"    sysctl: {net.ipv4.ip_forward: 1}\n"); drops(p) {
		t.Errorf("it forwards already:\n%s", p.Text(80))
	}
}

// TestFirstAddress: a link that gets its first address is hardened at once.
func TestFirstAddress(t *testing.T) {
	h := withSysctls("net.ipv4.conf.all.accept_redirects=0", "net.ipv4.conf.default.accept_redirects=1", "net.ipv4.conf.eth4.accept_redirects=1", "net.ipv4.conf.docker0.accept_redirects=0")
	p := twice(t, h, "    network: {ethernets: {eth4: {addresses: [10.4.0.1/24]}}, dummy-devices: {dm0: {addresses: [10.91.0.1/32]}}}\n    profiles: [security]\n")
	if !sets(p, "net.ipv4.conf.eth4.accept_redirects", "0") {
		t.Error(p.Text(80))
	}
	// The file keeps the default: the link that is made is hardened by itself.
	p = twice(t, h, "    network: {dummy-devices: {dm0: {addresses: [10.91.0.1/32]}}}\n    profiles: [security]\n    sysctl: {net.ipv4.conf.default.accept_redirects: 1}\n")
	if !sets(p, "net.ipv4.conf.dm0.accept_redirects", "0") {
		t.Error(p.Text(80))
	}
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth4: {addresses: [10.4.0.1/24]}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if host, _ := f.Host("h"); !slices.Contains(wanted.Sysctls(host), "net.ipv4.conf.eth4.accept_redirects") {
		t.Error("the setting of eth4 is not asked for")
	}
}

// TestContainersAreLeft: links that are not the file's follow a new default by
// themselves.
func TestContainersAreLeft(t *testing.T) {
	h := withSysctls("net.ipv4.conf.all.accept_redirects=0", "net.ipv4.conf.default.accept_redirects=1", "net.ipv4.conf.veth7.accept_redirects=1")
	h.SetLink(netstate.Link{Name: "veth7", Kind: "veth", MTU: 1500, Up: true, Master: "docker0"})
	p := twice(t, h, "    network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}\n    profiles: [security]\n")
	if !sets(p, "net.ipv4.conf.default.accept_redirects", "0") || sets(p, "net.ipv4.conf.veth7.accept_redirects", "") {
		t.Error(p.Text(80))
	}
}

// TestNumbersAsPrinted: a number is wanted as the kernel will print it.
func TestNumbersAsPrinted(t *testing.T) {
	for text, want := range map[string]string{"010": "8", "\"0x10\"": "16", "\" 12 \"": "12", "true": "true", "1_0": "1_0", "\"0b1\"": "0b1", "-0": "0"} {
		p := twice(t, withSysctls("net.ipv4.tcp_fin_timeout=60"), "    network: {ethernets: {eth0: {}}}\n    profiles: []\n    sysctl: {net.ipv4.tcp_fin_timeout: "+text+"}\n")
		if !sets(p, "net.ipv4.tcp_fin_timeout", want) {
			t.Errorf("%s is not %s:\n%s", text, want, p.Text(80))
		}
	}
}

// TestRouteOfADaemon: it is named when it goes with a link that becomes a port.
func TestRouteOfADaemon(t *testing.T) {
	h := running()
	for i := range h.Routes {
		if h.Routes[i].Protocol == "static" {
			h.Routes[i].Protocol = "bird"
		}
	}
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {}, eth4: {}}, bonds: {b1: {interfaces: [eth0, eth4], addresses: [10.0.0.1/24]}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	state, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: h})
	if err != nil {
		t.Fatal(err)
	}
	said(t, state.Left, "10.77.0.0/16 via 10.0.0.254 dev eth0 of bird goes with eth0")
}
