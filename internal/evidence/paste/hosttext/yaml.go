package hosttext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// netplan's sections and the kinds of links in them.
var netplanKinds = map[string]string{"ethernets": "", "bonds": "bond", "vlans": "vlan", "bridges": "bridge", "tunnels": "tunnel"}

func inNetplan(n *yamldoc.Node, _ []string) bool {
	for _, p := range n.Pairs {
		if _, ok := netplanKinds[p.Key]; ok && p.Value != nil && p.Value.Kind == yamldoc.MappingNode {
			return true
		}
	}
	return false
}

func (r *documentReader) netplan(n *yamldoc.Node) {
	for _, section := range n.Pairs {
		kind, ok := netplanKinds[section.Key]
		if !ok || section.Value == nil {
			continue
		}
		for _, d := range section.Value.Pairs {
			if d.Value == nil {
				continue
			}
			name, at := d.Key, r.lineAt(d.Line)
			if set := value(d.Value, "set-name"); set != "" {
				name = set
			}
			kind := kind
			if own := map[string]string{"bond": "ovs-bond", "bridge": "ovs-bridge"}[kind]; own != "" && fabric.ByOVS(d.Value) {
				kind = own
			}
			r.declare(name, "format", "netplan", at)
			r.declare(name, "kind", kind, at)
			r.copy(name, d.Value, map[string]string{"mtu": "mtu", "gateway4": "gateway", "link": "below", "id": "id", "macaddress": "mac", "dhcp4": "dhcp"})
			r.copy(name, d.Value.Get("match"), map[string]string{"macaddress": "mac", "name": "match"})
			r.ports(name, d.Value.Get("interfaces"), "")
			r.addresses(name, d.Value.Get("addresses"))
			for _, route := range items(d.Value.Get("routes"), "to") {
				if text := route.Text; text == "default" || text == "0.0.0.0/0" {
					r.gateway(name, d.Value.Get("routes"), route)
				}
			}
			parameters := d.Value.Get("parameters")
			switch {
			case kind == "ovs-bond":
				r.copy(name, parameters, map[string]string{"mode": "bond_mode"})
				r.copy(name, d.Value.Get("openvswitch"), map[string]string{"lacp": "lacp"})
			case kind == "bond" && parameters != nil:
				r.options(name, parameters, bondopt.Netplan)
			}
		}
	}
}

// gateway declares the gateway of the default route of a list.
func (r *documentReader) gateway(name string, routes, to *yamldoc.Node) {
	for _, route := range routes.Items {
		if route.Get("to") == to {
			r.copy(name, route, map[string]string{"via": "gateway"})
		}
	}
}

// addresses declares those of a list, of texts or of mappings of the address alone.
func (r *documentReader) addresses(name string, list *yamldoc.Node) {
	if list == nil {
		return
	}
	for _, a := range list.Items {
		at := r.line(a)
		switch {
		case a.Kind == yamldoc.ScalarNode:
			r.declare(name, "address", a.Text, at)
		case a.Get("ip") != nil:
			r.declare(name, "address", withBits(value(a, "ip"), value(a, "prefix-length")), r.line(a.Get("ip")))
		case a.Get("address") != nil:
			r.declare(name, "address", value(a, "address"), at)
		case len(a.Pairs) == 1:
			r.declare(name, "address", a.Pairs[0].Key, at)
		}
	}
}

// options declares a bond's options of a mapping; lists are joined.
func (r *documentReader) options(name string, n *yamldoc.Node, f bondopt.Format) {
	if n == nil {
		return
	}
	for _, p := range n.Pairs {
		if p.Value == nil {
			continue
		}
		text := p.Value.Text
		if p.Value.Kind == yamldoc.SequenceNode {
			var all []string
			for _, item := range items(p.Value, "") {
				all = append(all, item.Text)
			}
			text = strings.Join(all, ",")
		}
		if text != "" {
			r.namedOption(name, f, p.Key, text, r.lineAt(p.Line))
		}
	}
}

func isNmstate(n *yamldoc.Node, path []string) bool {
	return value(n, "name") != "" && value(n, "type") != "" && (n.Get("link-aggregation") != nil || n.Get("state") != nil || n.Get("ipv4") != nil ||
		n.Get("ethernet") != nil || n.Get("bridge") != nil || len(path) > 0 && path[len(path)-1] == "interfaces")
}

func (r *documentReader) nmstate(n *yamldoc.Node) {
	name, at := value(n, "name"), r.line(n.Get("name"))
	r.declare(name, "format", "nmstate", at)
	kind := value(n, "type")
	if kind != "ethernet" {
		r.declare(name, "kind", kind, r.line(n.Get("type")))
	}
	r.copy(name, n, map[string]string{"mtu": "mtu", "mac-address": "mac", "controller": "master"})
	r.copy(name, n.Get("vlan"), map[string]string{"base-iface": "below", "id": "id"})
	r.addresses(name, n.Get("ipv4").Get("address"))
	r.addresses(name, n.Get("ipv6").Get("address"))
	lag := n.Get("link-aggregation")
	r.copy(name, lag, map[string]string{"mode": "mode"})
	r.options(name, lag.Get("options"), bondopt.Nmstate)
	r.ports(name, anyOf(lag, "port", "ports", "slaves"), "name")
	r.ports(name, anyOf(n.Get("bridge"), "port", "ports"), "name")
	if ports := anyOf(n.Get("bridge"), "port", "ports"); kind == "ovs-bridge" && ports != nil {
		for _, port := range ports.Items {
			if lag := port.Get("link-aggregation"); lag != nil {
				bond := value(port, "name")
				r.declare(bond, "kind", "ovs-bond", r.line(port))
				if mode := value(lag, "mode"); mode == "lacp" { // LACP, in the mode that Open vSwitch takes by itself
					r.declare(bond, "lacp", "active", r.line(lag.Get("mode")))
				} else {
					r.copy(bond, lag, map[string]string{"mode": "bond_mode"})
				}
				r.ports(bond, anyOf(lag, "port", "ports"), "name")
			}
		}
	}
}

// talosNames are options that Talos spells in a way of its own.
var talosNames = map[string]string{"bondmode": "mode", "hashpolicy": "xmit_hash_policy", "adlacpactive": "lacp_active", "numpeernotif": "num_grat_arp", "tlblogicallb": "tlb_dynamic_lb",
	"arpiptargets": "arp_ip_target", "nsip6targets": "ns_ip6_target", "peernotifydelay": "peer_notif_delay"}

// talosOptions declares options in Talos' spelling: xmitHashPolicy, lacpRate.
func (r *documentReader) talosOptions(name string, n *yamldoc.Node) {
	if n == nil {
		return
	}
	for _, p := range n.Pairs {
		if p.Value == nil || p.Value.Kind != yamldoc.ScalarNode {
			continue
		}
		flat := strings.ToLower(p.Key)
		option := talosNames[flat]
		for _, o := range bondopt.Options() {
			if strings.ReplaceAll(o.Name, "_", "") == flat {
				option = o.Name
			}
		}
		if option != "" {
			r.namedOption(name, bondopt.Iproute2, option, p.Value.Text, r.lineAt(p.Line))
		}
	}
}

// isTalosLink is a link of the old machine configuration.
func isTalosLink(n *yamldoc.Node, path []string) bool {
	return n.Get("interface") != nil && value(n, "interface") != "" && (n.Get("bond") != nil || slices.Contains(path, "machine"))
}

func (r *documentReader) talosLink(n *yamldoc.Node) {
	name, at := value(n, "interface"), r.line(n.Get("interface"))
	r.declare(name, "format", "talos", at)
	r.copy(name, n, map[string]string{"mtu": "mtu", "dhcp": "dhcp"})
	r.addresses(name, n.Get("addresses"))
	if bond := n.Get("bond"); bond != nil {
		r.declare(name, "kind", "bond", r.line(bond))
		r.talosOptions(name, bond)
		r.ports(name, bond.Get("interfaces"), "")
	}
}

// isTalosBond is a BondConfig, or a link's specification.
func isTalosBond(n *yamldoc.Node, _ []string) bool {
	return value(n, "kind") == "BondConfig" || n.Get("bondMaster") != nil
}

func (r *documentReader) talosBond(n *yamldoc.Node) {
	name := value(n, "name")
	if name == "" {
		name = r.fileBond()
	}
	at := r.line(n)
	r.declare(name, "format", "talos", at)
	r.declare(name, "kind", "bond", at)
	r.copy(name, n, map[string]string{"mtu": "mtu", "hardwareAddr": "mac"})
	r.talosOptions(name, n)
	r.talosOptions(name, n.Get("bondMaster"))
	r.ports(name, n.Get("links"), "")
	r.addresses(name, n.Get("addresses"))
}

var bondInName = piece.Compile(`bond[\w.]*?\d+`)

// fileBond is the bond that a document leaves to its file's name to say.
func (s *sink) fileBond() string {
	if m := bondInName.FindString(s.Segment.Path + " " + s.Segment.Command); m != "" {
		return m
	}
	return s.bondName()
}

// isHarvester is a management interface of the installer's configuration, or the
// uplink of a VlanConfig.
func isHarvester(n *yamldoc.Node, _ []string) bool {
	return n.Get("bond_options") != nil || n.Get("bondOptions") != nil && (n.Get("nics") != nil || n.Get("linkAttributes") != nil)
}

func (r *documentReader) harvester(n *yamldoc.Node) {
	name, at := "mgmt-bo", r.line(n) // both names are the product's own
	if n.Get("bondOptions") != nil {
		name = "bo"
	}
	r.declare(name, "format", "harvester", at)
	r.declare(name, "kind", "bond", at)
	r.options(name, n.Get("bond_options"), bondopt.Nmstate)
	r.talosOptions(name, n.Get("bondOptions"))
	r.ports(name, n.Get("interfaces"), "name")
	r.ports(name, n.Get("nics"), "")
	r.copy(name, n, map[string]string{"mtu": "mtu", "gateway": "gateway"})
	r.copy(name, n.Get("linkAttributes"), map[string]string{"mtu": "mtu"})
}

// isCloudInit is a link of the first version of cloud-init's network configuration.
func isCloudInit(n *yamldoc.Node, _ []string) bool {
	kind := value(n, "type")
	return value(n, "name") != "" && (n.Get("bond_interfaces") != nil || n.Get("subnets") != nil || n.Get("params") != nil || kind == "physical")
}

func (r *documentReader) cloudInit(n *yamldoc.Node) {
	name, at := value(n, "name"), r.line(n.Get("name"))
	r.declare(name, "format", "cloud-init", at)
	if kind := value(n, "type"); kind != "physical" {
		r.declare(name, "kind", kind, at)
	}
	r.copy(name, n, map[string]string{"mtu": "mtu", "mac_address": "mac", "vlan_link": "below", "vlan_id": "id"})
	r.ports(name, anyOf(n, "bond_interfaces", "bridge_interfaces"), "")
	if params := n.Get("params"); params != nil {
		for _, p := range params.Pairs {
			if option, ok := strings.CutPrefix(strings.ReplaceAll(p.Key, "_", "-"), "bond-"); ok && p.Value != nil && p.Value.Kind == yamldoc.ScalarNode {
				r.namedOption(name, bondopt.Iproute2, strings.ReplaceAll(option, "-", "_"), p.Value.Text, r.lineAt(p.Line))
			}
		}
	}
	r.addresses(name, n.Get("subnets"))
}
