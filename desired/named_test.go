package desired_test

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/desired"
	"github.com/linerate/linerate/fabric"
)

// TestA3NoProfilesNoSysctl: a file that names no profile wants no sysctl, and
// nothing is said of profiles; one that names a profile gets that one alone.
func TestA3NoProfilesNoSysctl(t *testing.T) {
	const network = "linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {mtu: 1400, addresses: [10.0.0.1/24]}}}\n"
	changed := func(more string, profiles []string) (keys []string, state desired.State) {
		f, err := fabric.Parse("f.yaml", []byte(network+more+"measure: {socket_buffer: 8Mi}\n"))
		if err != nil {
			t.Fatal(err)
		}
		observed := running()
		state, err = desired.Of(desired.Request{Fabric: f, Host: "h", Observed: observed, Profiles: profiles})
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
