package wanted_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
)

// TestA3NoProfilesNoSysctl: a file that names no profile wants no sysctl, and
// nothing is said of profiles; one that names a profile gets that one alone.
func TestA3NoProfilesNoSysctl(t *testing.T) {
	const network = "linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {mtu: 1400, addresses: [10.0.0.1/24]}}}\n"
	changed := func(more string, profiles []string) (keys []string, state wanted.State) {
		f, err := fabric.Parse("f.yaml", []byte(network+more+"measure: {socket_buffer: 8Mi}\n"))
		if err != nil {
			t.Fatal(err)
		}
		observed := running()
		state, err = wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed, Profiles: profiles})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range state.Host.SysctlKeys() {
			if state.Host.Sysctls[key] != observed.Sysctls[key] {
				keys = append(keys, key)
			}
		}
		return keys, state
	}
	for _, more := range []string{"", "    profiles: []\n", "    roles: [router]\n"} {
		keys, state := changed(more, nil)
		if len(keys) > 0 {
			t.Errorf("%q: sysctls %v are wanted, and no profile is named", more, keys)
		}
		if text := strings.Join(state.Left, "\n"); strings.Contains(text, "profile") {
			t.Errorf("%q: profiles are spoken of:\n%s", more, text)
		}
	}
	if keys, _ := changed("    profiles: [throughput]\n", nil); strings.Contains(strings.Join(keys, " "), "kernel.panic") || len(keys) == 0 {
		t.Errorf("throughput sets %v", keys)
	}
	if keys, _ := changed("", []string{"security"}); !strings.Contains(strings.Join(keys, " "), "kernel.panic") {
		t.Errorf("security, asked for by the request, sets %v", keys)
	}
	if keys, _ := changed("    profiles: [security]\n", []string{}); len(keys) > 0 {
		t.Errorf("no profile, asked for by the request, sets %v", keys)
	}
}

// TestA2PlanSetsWhatTheFileSays: what carries traffic is one thing, what the file
// itself writes of a link another: the settings of a link that is left out, or that
// `use` does not name, are wanted as the file says, and no others change.
func TestA2PlanSetsWhatTheFileSays(t *testing.T) {
	for _, more := range []string{"", "    use: [eth4]\n"} {
		state := must(t, "    reach: ssh://root@10.0.0.1\n    network: {ethernets: {eth0: {mtu: 1400, addresses: [10.0.0.1/24]}, eth4: {}}}\n"+more, false)
		if got := link(t, state, "eth0").MTU; got != 1400 {
			t.Errorf("%q: MTU %d of eth0", more, got)
		}
		was := running()
		for _, name := range []string{"eth1", "bond0", "docker0"} {
			is, _ := was.Link(name)
			if got := link(t, state, name); got.MTU != is.MTU || len(got.Addresses) != len(is.Addresses) {
				t.Errorf("%q: %s, which the file does not name, would be %+v", more, name, got)
			}
		}
	}
}

// TestA1AddressesOfLo: lo is named for its addresses; those that are everyone's
// stay, also where nothing else is to stay.
func TestA1AddressesOfLo(t *testing.T) {
	file := "    network: {ethernets: {lo: {addresses: [10.9.0.1/32]}}}\n"
	observed := running()
	observed.SetLink(netstate.Link{Name: "lo", Kind: "loopback", MTU: 65536, Up: true, Carrier: true, Addresses: prefixes("127.0.0.1/8", "::1/128", "10.9.0.7/32")})
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h:\n"+file))
	if err != nil {
		t.Fatal(err)
	}
	state, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := link(t, state, "lo"); !slices.Equal(got.Addresses, prefixes("127.0.0.1/8", "::1/128", "10.9.0.1/32")) || got.MTU != 65536 {
		t.Errorf("lo would be %+v", got)
	}
}
