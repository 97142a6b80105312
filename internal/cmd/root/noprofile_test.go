package root

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// noProfile is a fabric of one host with two links in one subnet.
func noProfile(more string) string {
	return "linerate: v1\nhosts:\n  a:\n    network:\n      ethernets:\n        ens1: {addresses: [10.1.0.1/24]}\n        ens2: {addresses: [10.1.0.2/24]}\n" + more
}

// sysctlLine is a key of a file of sysctl.d.
var sysctlLine = regexp.MustCompile(`(?m)^(net|kernel|vm|fs)\.[a-z0-9_.]+ =`)

// TestNoProfileNoSysctls (user A3): a file that names no profile says nothing of
// sysctls. `render` writes no file of them in any format, and `plan` has no step
// of one; what `source_rules` asks for are those of its links and no others.
func TestNoProfileNoSysctls(t *testing.T) {
	for name, tt := range map[string]struct {
		more string
		keys []string
	}{
		"nothing":     {"", nil},
		"no profiles": {"    profiles: []\n", nil},
		"source rules": {"    source_rules: [ens1, ens2]\n", []string{
			"net.ipv4.conf.ens1.arp_announce", "net.ipv4.conf.ens1.arp_ignore", "net.ipv4.conf.ens1.rp_filter",
			"net.ipv4.conf.ens2.arp_announce", "net.ipv4.conf.ens2.arp_ignore", "net.ipv4.conf.ens2.rp_filter",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			text := noProfile(tt.more)
			path := filepath.Join(t.TempDir(), "f.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, format := range formats.All() {
				if format == render.FormatSysctl { // asked for nothing but that, it has nothing to write
					continue
				}
				o := run(t, "", "render", path, "--to", string(format))
				if tt.keys == nil && (strings.Contains(o.stdout, "sysctl.d") || strings.Contains(o.stdout, "sysctl -w") || strings.Contains(o.stderr, "sysctl")) {
					t.Errorf("%s:\n%s%s", format, o.stdout, o.stderr)
				}
				for _, key := range sysctlLine.FindAllString(o.stdout, -1) {
					if !slices.Contains(tt.keys, strings.TrimSuffix(key, " =")) {
						t.Errorf("%s writes %s, which nobody asked for", format, key)
					}
				}
			}
			f, err := fabric.Parse("f.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			host, err := f.State("a")
			if err != nil {
				t.Fatal(err)
			}
			host.Sysctls = map[string]netstate.Sysctl{}
			for _, key := range slices.Concat([]string{"kernel.panic", "net.ipv4.conf.all.rp_filter", "net.core.rmem_max", "net.ipv4.conf.ens1.rp_filter"}, wanted.Sysctls(f.Hosts[0])) {
				host.Sysctls[key] = netstate.Sysctl{Value: "0"}
			}
			want, err := wanted.Of(wanted.Request{Fabric: f, Host: "a", Observed: host})
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Between(host, want.Host)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, s := range p.Steps {
				if s.Kind == plan.Sysctl {
					keys = append(keys, s.Key)
				}
			}
			slices.Sort(keys)
			if !slices.Equal(keys, tt.keys) {
				t.Errorf("the plan sets %v, want %v", keys, tt.keys)
			}
		})
	}
}
