package formats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/unitfile"
)

// corpus is a file of other projects' tests (netplan's generator tests, cloud-init's
// renderers); they are under licences of their own and no part of this project.
func corpus(t *testing.T, name string) []byte {
	t.Helper()
	file := filepath.Join(cmp.Or(os.Getenv("LINERATE_CORPORA"), "../../../shared/corpora"), name)
	if _, err := os.Stat(file); err != nil {
		t.Skip("real outputs are missing: ../shared/corpora/" + name)
	}
	return read(t, file)
}

// netplanCase is a case of netplan's own generator tests.
type netplanCase struct {
	Test, YAML string
	Fail       bool
	Confs      map[string]string
	Networkd   map[string]string
}

// alike are cases that say the same in other words, with what they differ in.
var alike = map[string]string{
	"test_dummies.TestNetworkd.test_basic":                   "a next hop that is the device's own address is none",
	"test_ethernets.TestNetworkd.test_eth_match_name_rename": "the file has the device's new name",
}

// outside are words of cases about what this program is not for: a case that fails
// for what is wrong in one of these is not counted.
var outside = []string{"wifi", "tunnel", "auth", "modem", "openvswitch", "ovs", "vxlan", "wireguard", "nm_devices", "nm-devices", "veth", "sriov", "vrf", "infiniband", "passthrough",
	"security", "gsm", "dbus", "embedded", "regulatory", "dummy", "sit", "gre", "ssid", "macsec", "ip6"}

// TestCorporaNetplan reads every input of netplan's generator tests, writes the valid
// ones for systemd-networkd, and holds that against what netplan itself must write.
func TestCorporaNetplan(t *testing.T) {
	text := corpus(t, "netplan/cases.json")
	var cases []netplanCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	var valid, refused, compared, same, said, silent, wrong, taken int
	for _, c := range cases {
		files := map[string]string{"/etc/netplan/a.yaml": c.YAML}
		for name, conf := range c.Confs {
			files["/etc/netplan/"+strings.TrimSuffix(path.Base(name), ".yaml")+".yaml"] = conf
		}
		found, err := Read(render.FormatNetplan, files)
		if c.Fail {
			if slices.ContainsFunc(outside, func(w string) bool { return strings.Contains(strings.ToLower(c.Test), w) }) {
				continue
			}
			wrong++
			if err == nil && len(found.Unread) == 0 {
				taken++
				t.Logf("taken though netplan refuses it: %s", short(c.Test))
			}
			continue
		}
		valid++
		if err != nil {
			if !errors.Is(err, render.ErrEmpty) {
				refused++
				t.Logf("refused: %s: %v", short(c.Test), err)
			}
			continue
		}
		if len(c.Networkd) == 0 {
			continue
		}
		file, err := fabric.Parse("f.yaml", found.FabricFile("h"))
		if err != nil {
			t.Errorf("%s: %v", c.Test, err)
			continue
		}
		host, _ := file.Host("h")
		state, err := file.State("h")
		if err != nil {
			t.Errorf("%s: %v", c.Test, err)
			continue
		}
		out, err := Write(render.FormatNetworkd, render.Input{Host: host, State: state})
		if errors.Is(err, render.ErrEmpty) && len(found.Unread) > 0 {
			continue // all of it is somebody else's, and named
		}
		if err != nil {
			refused++
			t.Logf("not written: %s: %v", short(c.Test), err)
			continue
		}
		compared++
		lost := missing(unitFacts(c.Networkd), unitFacts(byPath(out.Files)))
		switch {
		case len(lost) == 0 || alike[short(c.Test)] != "":
			same++
		case len(out.Warnings)+len(found.Unread) > 0:
			said++
		default:
			silent++
			t.Logf("silently otherwise: %s: lacks %s, has %s", short(c.Test), strings.Join(lost, "; "), strings.Join(missing(unitFacts(byPath(out.Files)), unitFacts(c.Networkd)), "; "))
		}
	}
	t.Logf("row: netplan: %d valid inputs, %d refused (%.1f %%); %d written for networkd and compared: %d say all that netplan says, %d differ with a warning, %d silently", valid, refused, 100*float64(refused)/float64(valid), compared, same, said, silent)
	t.Logf("row: netplan: %d inputs that it refuses, of the kinds that are read here: %d taken without a word", wrong, taken)
	if silent+taken > 0 || float64(refused) > 0.01*float64(valid) || valid < 400 {
		t.Errorf("%d silently otherwise, %d of %d valid ones refused, %d invalid ones taken", silent, refused, valid, taken)
	}
}

func short(test string) string {
	parts := strings.Split(test, ".")
	return strings.Join(parts[max(len(parts)-3, 0):], ".")
}

// missing are the facts of the first that the second has not.
func missing(want, have map[string]bool) []string {
	var lost []string
	for fact := range want {
		if !have[fact] {
			lost = append(lost, fact)
		}
	}
	sort.Strings(lost)
	return lost
}

// unitFacts are what unit files say of bonds, VLANs, MTUs, MACs, addresses, routes,
// rules and leases, in one spelling. Devices go by the name of their file, without its
// number and netplan's prefix.
func unitFacts(files map[string]string) map[string]bool {
	facts := map[string]bool{}
	for file, text := range files {
		base := path.Base(file)
		suffix := path.Ext(base)
		if !slices.Contains([]string{".netdev", ".network"}, suffix) {
			continue
		}
		device := strings.TrimSuffix(base, suffix)
		for _, prefix := range []string{"10-netplan-", "20-", "10-"} {
			device = strings.TrimPrefix(device, prefix)
		}
		add := func(words ...string) { facts[device+" "+strings.Join(words, " ")] = true }
		for _, s := range unitfile.Read(text, nil) {
			unitFact(s, add)
		}
	}
	return facts
}

func unitFact(s unitfile.Section, add func(...string)) {
	switch s.Name {
	case "NetDev", "Bond", "VLAN":
		for _, a := range s.Keys {
			for _, value := range strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' }) {
				add(s.Name, a.Key, oneSpelling(a.Key, value))
			}
		}
	case "Link", "Network":
		for _, a := range s.Keys {
			switch a.Key {
			case "MTUBytes", "Bond", "VLAN", "Bridge", "PrimarySlave", "IPv6MTUBytes", "ActivationPolicy", "MACAddress", "Address":
				add(a.Key, oneSpelling(a.Key, a.Value))
			case "Gateway":
				add("Route", "Destination=default Gateway="+oneSpelling("", a.Value))
			case "DHCP":
				if a.Value != "no" {
					add(a.Key, a.Value)
				}
			}
		}
	case "Address":
		add("Address", oneSpelling("Address", s.Get("Address")))
	case "Route", "RoutingPolicyRule":
		var words []string
		for _, a := range s.Keys {
			value := oneSpelling(a.Key, a.Value)
			if a.Key == "Destination" && (value == "0.0.0.0/0" || value == "::/0") {
				value = "default"
			}
			if a.Key == "Scope" && s.Get("Type") == "local" {
				continue // host, networkd's own for it
			}
			words = append(words, a.Key+"="+value)
		}
		if s.Name == "Route" && s.Get("Destination") == "" {
			words = append(words, "Destination=default")
		}
		sort.Strings(words)
		add(s.Name, strings.Join(words, " "))
	case "DHCP", "DHCPv4", "DHCPv6":
		for _, a := range s.Keys {
			if a.Key == "RouteMetric" || a.Key == "UseRoutes" {
				add("DHCP", a.Key, oneSpelling(a.Key, a.Value))
			}
		}
	}
}

// oneSpelling is a value in one spelling: addresses and networks as netip has them,
// booleans as yes and no, durations of milliseconds and seconds in milliseconds.
func oneSpelling(key, value string) string {
	lower := strings.ToLower(value)
	switch lower {
	case "true", "yes", "on":
		return "yes"
	case "false", "no", "off":
		return "no"
	}
	if p, err := netip.ParsePrefix(lower); err == nil {
		if key == "Destination" || key == "From" || key == "To" {
			p = p.Masked()
		}
		return p.String()
	}
	if a, err := netip.ParseAddr(lower); err == nil {
		if key == "Destination" || key == "From" || key == "To" {
			return netip.PrefixFrom(a, a.BitLen()).String()
		}
		return a.String()
	}
	if strings.HasSuffix(key, "Sec") {
		if ms, ok := strings.CutSuffix(lower, "ms"); ok {
			return ms
		}
		if n, err := strconv.Atoi(strings.TrimSuffix(lower, "m")); err == nil && strings.HasSuffix(lower, "m") {
			return strconv.Itoa(n * 60000)
		}
		if s := strings.TrimSuffix(lower, "s"); s != "" && strings.Trim(s, "0123456789") == "" {
			return s + "000"
		}
	}
	return lower
}

// otherwise are facts that cloud-init's files of a format do not have, or have
// otherwise, where its netplan file has them; with the reason.
var otherwise = []struct{ format, host, fact, why string }{
	{"expected_sysconfig_opensuse", "", " route ", "cloud-init writes no routes for SUSE"},
	{"expected_network_manager", "bond_v2", "bond0 mtu 9000", "the profile has no MTU"},
	{"expected_networkd", "v1_ipv4_and_ipv6_static", "iface0 mtu 9000", "the file has 8999"},
	{"expected_sysconfig_rhel", "ipv6_slaac", "dhcp6 true", "the file has advertisements alone, for which cloud-init's netplan says dhcp6"},
	{"expected_", "v2-mixed-routes", "fe80::dc00:ff:fe20:188/128", "cloud-init takes 64 bits of an address without a length, netplan all of them"},
	{"expected_", "v2-mixed-routes-reversed", "fe80::dc00:ff:fe20:188/128", "as before"},
	{"expected_network_manager", "", "99 mtu 2222", "the profile has no MTU"},
	{"expected_network_manager", "", "101 mtu 1500", "the profile has no MTU"},
	{"expected_eni", "ipv6_slaac", "dhcp6 true", "the file has advertisements alone, for which cloud-init's netplan says dhcp6"},
}

// TestCorporaCloudInit reads what cloud-init writes for one host in each of its
// formats: they say the same addresses, gateways and bonds.
func TestCorporaCloudInit(t *testing.T) {
	text := corpus(t, "cloud-init/network_configs.json")
	var hosts map[string]map[string]json.RawMessage
	if err := json.Unmarshal(text, &hosts); err != nil {
		t.Fatal(err)
	}
	formats := []struct {
		key    string
		format render.Format
		name   func(string) string
	}{
		{"expected_netplan", render.FormatNetplan, func(string) string { return "/etc/netplan/50-cloud-init.yaml" }},
		{"yaml_v2", render.FormatNetplan, func(string) string { return "network-config" }},
		{"yaml_v1", render.FormatNetplan, func(string) string { return "network-config" }},
		{"yaml", render.FormatNetplan, func(string) string { return "network-config" }},
		{"expected_sysconfig_rhel", render.FormatIfcfg, func(n string) string { return "/etc/sysconfig/network-scripts/" + n }},
		{"expected_sysconfig_opensuse", render.FormatIfcfg, func(n string) string { return "/etc/sysconfig/network/" + n }},
		{"expected_network_manager", render.FormatKeyfile, func(n string) string { return "/etc/NetworkManager/system-connections/" + n }},
		{"expected_networkd", render.FormatNetworkd, func(n string) string { return "/etc/systemd/network/" + n }},
		{"expected_eni_ip_cmd", render.FormatIfupdown, func(string) string { return "/etc/network/interfaces" }},
		{"expected_eni_route_cmd", render.FormatIfupdown, func(string) string { return "/etc/network/interfaces" }},
	}
	all, silent := map[string]int{}, 0
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		reference := map[string]bool{}
		for _, f := range formats {
			raw, there := hosts[name][f.key]
			if !there {
				continue
			}
			files := map[string]string{}
			var one string
			var several map[string]string
			if json.Unmarshal(raw, &one) == nil {
				files[f.name("10-x.network")] = one
			} else if json.Unmarshal(raw, &several) == nil {
				for file, text := range several {
					files[f.name(file)] = text
				}
			}
			found, err := Read(f.format, files)
			if err != nil {
				t.Errorf("%s of %s: %v", f.key, name, err)
				continue
			}
			facts := hostFacts(found)
			all[f.key]++
			if len(reference) == 0 && strings.HasPrefix(f.key, "yaml") || f.key == "expected_netplan" {
				reference = facts // what cloud-init is given, where it writes no netplan
				continue
			}
			lost := slices.DeleteFunc(missing(reference, facts), func(fact string) bool {
				for _, o := range otherwise {
					if strings.HasPrefix(f.key, o.format) && (o.host == "" || o.host == name) && strings.Contains(fact, o.fact) {
						return true
					}
				}
				return false
			})
			if len(lost) > 0 {
				if len(found.Unread) == 0 {
					silent++
				}
				t.Logf("%s of %s lacks %s (unread: %v)", f.key, name, strings.Join(lost, "; "), found.Unread)
			}
		}
	}
	var words []string
	for _, f := range formats {
		words = append(words, fmt.Sprintf("%s %d", strings.TrimPrefix(f.key, "expected_"), all[f.key]))
	}
	t.Logf("row: cloud-init: %d hosts, files read: %s; %d lack silently what the host's netplan file says", len(hosts), strings.Join(words, ", "), silent)
	if silent > 0 {
		t.Errorf("%d lack silently what the host's netplan file says", silent)
	}
}

// hostFacts are a host's addresses, next hops, leases, bonds with their modes and
// ports, and VLANs.
func hostFacts(found render.Found) map[string]bool {
	facts := map[string]bool{}
	network := found.Keys.Get("network")
	for _, section := range network.Pairs {
		if section.Value.Kind != yamldoc.MappingNode {
			continue
		}
		for _, d := range section.Value.Pairs {
			d.Key = strings.TrimPrefix(d.Key, "cloud-init-") // a profile by MAC has its file's name
			for _, key := range []string{"dhcp4", "dhcp6", "mtu", "id", "link"} {
				if n := d.Value.Get(key); n != nil && n.Text != "false" {
					facts[d.Key+" "+key+" "+strings.TrimPrefix(n.Text, "cloud-init-")] = true
				}
			}
			if list := d.Value.Get("addresses"); list != nil {
				for _, item := range list.Items {
					address := item.Text
					if len(item.Pairs) > 0 {
						address = item.Pairs[0].Key
					}
					if p, err := netip.ParsePrefix(address); err == nil {
						facts[d.Key+" address "+p.String()] = true
					}
				}
			}
			if list := d.Value.Get("routes"); list != nil {
				for _, item := range list.Items {
					to, via := item.Get("to"), item.Get("via")
					if to != nil && via != nil {
						text := to.Text
						if text == "0.0.0.0/0" || text == "::/0" {
							text = "default"
						}
						facts[d.Key+" route "+oneSpelling("Destination", text)+" via "+oneSpelling("", via.Text)] = true
					}
				}
			}
			if section.Key == "bonds" {
				if mode := d.Value.Get("parameters").Get("mode"); mode != nil {
					facts[d.Key+" mode "+mode.Text] = true
				}
			}
		}
	}
	return facts
}
