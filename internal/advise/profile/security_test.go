package profile

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/netstate"
)

// hardened is what the kernel's defaults lack.
var hardened = map[string]string{
	"kernel.panic":                       "30",
	"net.ipv4.tcp_syncookies":            "",
	"net.ipv4.conf.all.accept_redirects": "0", "net.ipv4.conf.default.accept_redirects": "0", "net.ipv4.conf.eth0.accept_redirects": "0",
	"net.ipv6.conf.all.accept_redirects": "0", "net.ipv6.conf.default.accept_redirects": "0", "net.ipv6.conf.eth0.accept_redirects": "0",
	"net.ipv4.conf.all.send_redirects": "0", "net.ipv4.conf.default.send_redirects": "0", "net.ipv4.conf.eth0.send_redirects": "0",
	"net.ipv4.conf.all.rp_filter": "1", "net.ipv4.conf.default.rp_filter": "1",
	"net.ipv4.conf.all.log_martians": "1", "net.ipv4.conf.default.log_martians": "1",
	"net.ipv6.icmp.echo_ignore_multicast": "1",
}

func with(changes map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{hardened, changes} {
		for k, v := range m {
			if all[k] = v; v == "" {
				delete(all, k)
			}
		}
	}
	return all
}

func TestSecurity(t *testing.T) {
	twoHomes := host("6.1", 1e9)
	twoHomes.Links = append(twoHomes.Links, netstate.Link{Name: "eth1", Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.1/24")}})
	twoHomes.Sysctls["net.ipv4.conf.eth1.rp_filter"] = netstate.Sysctl{Value: "1"}
	leased := host("6.1", 1e9)
	leased.Links = append(leased.Links, netstate.Link{Name: "eth1"})
	none := map[string]string{"net.ipv4.conf.all.rp_filter": "", "net.ipv4.conf.all.log_martians": "", "net.ipv4.conf.default.log_martians": "",
		"net.ipv4.conf.default.rp_filter": "2", "net.ipv4.conf.eth0.rp_filter": "2"}
	router := with(none)
	for _, k := range []string{"all", "default", "eth0"} {
		delete(router, "net.ipv4.conf."+k+".send_redirects")
	}
	kubernetes := host("6.1", 1e9)
	kubernetes.Owners = []string{"Kubernetes"}
	for _, family := range []string{"iptables", "ip6tables"} {
		kubernetes.Sysctls["net.bridge.bridge-nf-call-"+family] = netstate.Sysctl{Value: "0"}
	}
	bridged := map[string]string{"net.bridge.bridge-nf-call-iptables": "1", "net.bridge.bridge-nf-call-ip6tables": "1"}
	for k, v := range router {
		bridged[k] = v
	}
	for name, tt := range map[string]struct {
		in   Input
		want map[string]string
		left []string
	}{
		"plain":         {Input{Host: host("6.1", 1e9)}, with(nil), []string{"tcp_tw_recycle"}},
		"syncookies":    {Input{Host: host("6.1", 1e9, "net.ipv4.tcp_syncookies=0")}, with(map[string]string{"net.ipv4.tcp_syncookies": "1"}), nil},
		"stricter":      {Input{Host: host("6.1", 1e9, "net.ipv4.tcp_syncookies=2", "kernel.panic=-1", "net.ipv6.conf.all.accept_source_route=-1", "net.ipv4.conf.all.rp_filter=2")}, with(map[string]string{"kernel.panic": "", "net.ipv4.conf.all.rp_filter": ""}), nil},
		"older kernel":  {Input{Host: host("4.18", 1e9, "-net.ipv6.icmp.echo_ignore_multicast")}, with(map[string]string{"net.ipv6.icmp.echo_ignore_multicast": ""}), []string{"net.ipv6.icmp.echo_ignore_multicast: this kernel has none"}},
		"namespace":     {Input{Host: host("6.1", 1e9), InNamespace: true}, with(map[string]string{"kernel.panic": ""}), []string{"kernel.panic: it is the whole machine's"}},
		"own":           {Input{Host: host("6.1", 1e9), Own: map[string]bool{"kernel.panic": true, "net.ipv4.conf.all.rp_filter": true}}, with(map[string]string{"kernel.panic": "", "net.ipv4.conf.all.rp_filter": ""}), nil},
		"multihomed":    {Input{Host: twoHomes}, with(none), []string{"rp_filter = 1: eth0, eth1 have addresses", "log_martians = 1: eth0, eth1 have addresses"}},
		"leased":        {Input{Host: leased, Leased: []string{"eth1"}}, with(none), []string{"rp_filter = 1: eth0, eth1 have addresses"}},
		"said so":       {Input{Host: host("6.1", 1e9), Roles: []string{"multihomed"}}, with(none), []string{"the file says that the host is multihomed"}},
		"router":        {Input{Host: host("6.1", 1e9), Roles: []string{"router"}}, router, []string{"send_redirects = 0: the file says that the host is a router"}},
		"forwarding":    {Input{Host: host("6.1", 1e9, "net.ipv4.ip_forward=1")}, router, []string{"net.ipv4.ip_forward = 0: the host forwards already (net.ipv4.ip_forward is 1), and its traffic would stop"}},
		"forwards IPv6": {Input{Host: host("6.1", 1e9, "net.ipv6.conf.all.forwarding=1")}, router, []string{"net.ipv6.conf.all.forwarding = 0: the host forwards already"}},
		"kubernetes":    {Input{Host: kubernetes}, bridged, []string{"Kubernetes runs here"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := Security(tt.in)
			if diff := cmp.Diff(tt.want, values(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, want := range tt.left {
				if !mentions(r.Left, want) {
					t.Errorf("%q is not in %q", want, r.Left)
				}
			}
			settled(t, Security, tt.in, r)
		})
	}
}

// TestEveryKeyHasItsTwin holds each IPv4 key of the list to a word on IPv6, and
// each key to a reason.
func TestEveryKeyHasItsTwin(t *testing.T) {
	for _, h := range hardenings() {
		six := h.family == "ipv6" || strings.HasPrefix(h.name, "net.ipv6.") || strings.Contains(h.name, "ip6tables")
		if h.why == "" || !six && h.twin == "" {
			t.Errorf("%s %s: why %q, twin %q", h.family, h.name, h.why, h.twin)
		}
		if len(h.spare) > 0 && h.instead == "" {
			t.Errorf("%s: spared without a word", h.name)
		}
	}
}

// TestArticle holds the list to the article's: every key of its section
// "Security" is judged here.
func TestArticle(t *testing.T) {
	text, err := os.ReadFile("testdata/article-security.txt")
	if err != nil {
		t.Fatal(err)
	}
	judged := append(securityKeys(nil), "net.ipv4.conf.all.rp_filter")
	count := 0
	for _, line := range strings.Split(string(text), "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		count++
		if !slices.Contains(judged, key) {
			t.Errorf("%s=%s of the article is not judged", key, value)
		}
	}
	if count != 19 {
		t.Errorf("the article's list has %d keys here", count)
	}
}

func TestObsolete(t *testing.T) {
	if Obsolete("net.ipv4.tcp_tw_recycle") == "" || Obsolete("net.ipv4.tcp_rmem") != "" {
		t.Error("the table of obsolete keys answers wrongly")
	}
	if _, ok := ByName("speed"); ok {
		t.Error("a profile that is none was found")
	}
}
