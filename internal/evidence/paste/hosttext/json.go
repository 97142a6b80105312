package hosttext

import (
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

func isJSONLink(n *yamldoc.Node, _ []string) bool { return value(n, "ifname") != "" }

// jsonLink reads a link of `ip -j`.
func (r *documentReader) jsonLink(n *yamldoc.Node) {
	at := r.line(n.Get("ifname"))
	subject := "link " + value(n, "ifname")
	put := func(n *yamldoc.Node, keys map[string]string) {
		if n == nil {
			return
		}
		for _, p := range n.Pairs {
			if key := keys[p.Key]; key != "" && p.Value != nil && p.Value.Kind == yamldoc.ScalarNode && p.Value.Text != "" {
				r.Set(subject, key, p.Value.Text, r.lineAt(p.Line))
			}
		}
	}
	r.Set(subject, "there", "yes", at)
	put(n, map[string]string{"mtu": "mtu", "qdisc": "qdisc", "operstate": "state", "master": "master", "address": "mac", "permaddr": "perm_mac",
		"link": "below", "txqlen": "qlen", "parentdev": "bus", "num_tx_queues": "tx_queues", "num_rx_queues": "rx_queues", "gso_max_size": "gso_max_size"})
	var flags []string
	for _, f := range items(n.Get("flags"), "") {
		flags = append(flags, f.Text)
	}
	r.ipFlags(subject, strings.Join(flags, ","), at)
	info := n.Get("linkinfo")
	put(info, map[string]string{"info_kind": "kind"})
	kind := value(info, "info_kind")
	if data := info.Get("info_data"); data != nil && kind == "bond" {
		r.jsonBond(subject, data)
		r.jsonBond(subject, data.Get("ad_info"))
	} else if data != nil {
		put(data, map[string]string{"id": "id", "port": "dstport", "link": "dev"})
	}
	put(info.Get("info_slave_data"), slaveKeys)
	stats := anyOf(n, "stats64", "stats")
	for _, way := range []string{"rx", "tx"} {
		if counts := stats.Get(way); counts != nil {
			for _, p := range counts.Pairs {
				key := strings.TrimSuffix(p.Key, "_errors")
				if key == "over" {
					key = "overrun"
				}
				if p.Value != nil && piece.Digits.MatchString(p.Value.Text) {
					r.Set(subject, way+"_"+key, p.Value.Text, r.lineAt(p.Line))
				}
			}
		}
	}
	for _, a := range items(n.Get("addr_info"), "local") {
		bits := ""
		for _, info := range n.Get("addr_info").Items {
			if info.Get("local") == a {
				bits = value(info, "prefixlen")
			}
		}
		r.address(subject, withBits(a.Text, bits), r.line(a))
	}
}

// jsonBond reads a bond's options, some of which ip -j names shorter than in text.
func (r *documentReader) jsonBond(subject string, data *yamldoc.Node) {
	if data == nil {
		return
	}
	short := map[string]string{"aggregator": "ad_aggregator", "num_ports": "ad_num_ports", "actor_key": "ad_actor_key", "partner_key": "ad_partner_key",
		"partner_mac": "ad_partner_mac", "peer_notify_delay": "peer_notif_delay", "ad_lacp_rate": "lacp_rate", "ad_lacp_active": "lacp_active"}
	for _, p := range data.Pairs {
		key := p.Key
		if short[key] != "" {
			key = short[key]
		}
		if p.Value != nil && p.Value.Kind == yamldoc.ScalarNode && (bondKeys[key] || short[p.Key] != "") {
			r.Set(subject, key, p.Value.Text, r.lineAt(p.Line))
		}
	}
}

func isJSONRoute(n *yamldoc.Node, _ []string) bool {
	return value(n, "dst") != "" && (n.Get("dev") != nil || n.Get("nexthops") != nil || n.Get("gateway") != nil || n.Get("lladdr") != nil) ||
		value(n, "priority") != "" && value(n, "table") != "" && value(n, "src") != ""
}

// jsonRoute reads a route, a rule or a neighbour of `ip -j`: as the row that ip
// prints of it.
func (r *documentReader) jsonRoute(n *yamldoc.Node) {
	at := r.line(n)
	var row []string
	add := func(n *yamldoc.Node, keys ...string) {
		for i := 0; i+1 < len(keys); i += 2 {
			if v := value(n, keys[i]); v != "" {
				row = append(row, keys[i+1], v)
			}
		}
	}
	switch {
	case n.Get("priority") != nil && n.Get("dst") == nil:
		add(n, "src", "from", "table", "lookup", "fwmark", "fwmark", "iif", "iif")
		at.Text = value(n, "priority") + ": " + strings.Join(row, " ")
		readRules(r.sink, []piece.Line{at})
	case n.Get("lladdr") != nil || n.Get("state") != nil && n.Get("state").Kind == yamldoc.SequenceNode:
		subject := "neighbour " + value(n, "dst")
		add(n, "dev", "link", "lladdr", "mac")
		for i := 0; i+1 < len(row); i += 2 {
			r.Set(subject, row[i], row[i+1], at)
		}
	default:
		row = append(row, value(n, "dst"))
		add(n, "gateway", "via", "dev", "dev", "prefsrc", "src", "protocol", "proto", "metric", "metric", "table", "table")
		if hops := n.Get("nexthops"); hops != nil {
			for _, hop := range hops.Items {
				row = append(row, "nexthop")
				add(hop, "gateway", "via", "dev", "dev", "weight", "weight")
			}
		}
		if kind := value(n, "type"); routeTypes[kind] {
			row = append([]string{kind}, row...)
		}
		r.route(row, at)
	}
}

func isTeamConfig(n *yamldoc.Node, _ []string) bool {
	return value(n, "runner", "name") != "" && (n.Get("device") != nil || n.Get("ports") != nil || n.Get("link_watch") != nil)
}

// teamConfig reads teamd's configuration.
func (r *documentReader) teamConfig(n *yamldoc.Node) {
	name := value(n, "device")
	if name == "" {
		name = r.teamName()
	}
	at := r.line(n)
	r.declare(name, "format", "teamd", at)
	r.declare(name, "kind", "team", at)
	runner := n.Get("runner")
	r.copy(name, runner, map[string]string{"name": "runner", "active": "active", "fast_rate": "fast_rate", "min_ports": "min_ports",
		"agg_select_policy": "agg_select_policy"})
	var hash []string
	for _, w := range items(runner.Get("tx_hash"), "") {
		hash = append(hash, w.Text)
	}
	if len(hash) > 0 {
		r.declare(name, "tx_hash", strings.Join(hash, " "), r.line(runner.Get("tx_hash")))
	}
	r.copy(name, runner.Get("tx_balancer"), map[string]string{"name": "tx_balancer"})
	if ports := n.Get("ports"); ports != nil {
		for _, p := range ports.Pairs {
			r.addPort(name, p.Key, r.lineAt(p.Line))
		}
	}
}

func isTeamState(n *yamldoc.Node, _ []string) bool {
	return n.Get("setup") != nil && (n.Get("team_device") != nil || value(n, "setup", "runner_name") != "")
}

// teamState reads `teamdctl NAME state dump`.
func (r *documentReader) teamState(n *yamldoc.Node) {
	name := value(n, "team_device", "ifinfo", "ifname")
	if name == "" {
		name = r.teamName()
	}
	at := r.line(n)
	put := func(subject, key, text string) {
		if text != "" {
			r.Set(subject, key, text, at)
		}
	}
	team := "link " + name
	put(team, "kind", "team")
	put(team, "runner", value(n, "setup", "runner_name"))
	put(team, "active_slave", value(n, "runner", "active_port"))
	put(team, "lacp_rate", lacpRates[value(n, "runner", "fast_rate")])
	ports := n.Get("ports")
	if ports == nil {
		return
	}
	for _, p := range ports.Pairs {
		at = r.lineAt(p.Line)
		subject := "link " + p.Key
		r.Port(name, p.Key, at)
		put(subject, "carrier", map[string]string{"true": "yes", "false": "no"}[value(p.Value, "link", "up")])
		put(subject, "speed", value(p.Value, "link", "speed"))
		put(subject, "duplex", value(p.Value, "link", "duplex"))
		if value(p.Value, "link_watches", "up") == "false" && value(p.Value, "link", "up") == "true" {
			put(subject, "watch_failed", "yes")
		}
		put(subject, "aggregator_id", value(p.Value, "runner", "aggregator", "id"))
		put(subject, "selected", map[string]string{"true": "yes", "false": "no"}[value(p.Value, "runner", "selected")])
		put(subject, "lacp_state", value(p.Value, "runner", "state"))
		put(subject, "actor_state", value(p.Value, "runner", "actor_lacpdu_info", "state"))
		put(subject, "partner_state", value(p.Value, "runner", "partner_lacpdu_info", "state"))
		put(subject, "partner_system_mac", value(p.Value, "runner", "partner_lacpdu_info", "system"))
		put(subject, "partner_key", value(p.Value, "runner", "partner_lacpdu_info", "key"))
	}
}
