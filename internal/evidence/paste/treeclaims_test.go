package paste

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// walker goes through a tree of genieparser: what a dict is about is told by the keys
// above it, and what "oper_key" means by the command.
type walker struct {
	command string
	outside map[string]bool
	out     []claim
}

func treeClaims(command string, tree map[string]any, outside map[string]bool) []claim {
	w := &walker{command: command, outside: outside}
	w.walk("switch", tree)
	return w.out
}

func (w *walker) add(about, field, want string) {
	if want != "" && about != "" {
		w.out = append(w.out, claim{about, field, want})
	}
}

// scalars are the fields of a dict by what it is about, as those of the claims.
func (w *walker) scalars(kind string) map[string]string {
	partner := strings.Contains(w.command, "Neighbor")
	side := map[bool]string{true: "partner ", false: "actor "}[partner]
	switch kind {
	case "switch":
		return map[string]string{"system_id_mac": "system", "lb_algo_type": "hash", "load_balance_cfg": "hash", "non_ip": "hash non_ip", "ipv4": "hash ipv4", "ipv6": "hash ipv6",
			"destinationport": "answer", "dest_port": "answer"}
	case "channel":
		return map[string]string{"protocol": "protocol", "oper_status": "state", "lacp_mode": "mode", "min_active_link": "min_links", "lb_method": "hash",
			"inoctets": "count in_bytes", "outoctets": "count out_bytes", "inucastpkts": "count in_packets", "outucastpkts": "count out_packets"}
	case "port":
		m := map[string]string{"bundled": "bundled", "oper_key": side + "key", "port_num": side + "port", "port_state": side + "state", "partner_id": "partner system", "key": "actor key",
			"lacp_in_pkts": "count in_lacp", "lacp_out_pkts": "count out_lacp", "inoctets": "count in_bytes", "outoctets": "count out_bytes", "inucastpkts": "count in_packets", "outucastpkts": "count out_packets",
			"aggregatable": side + "aggregating", "collecting": side + "collecting", "distributing": side + "distributing", "defaulted": side + "defaulted", "expired": side + "expired", "timeout": side + "rate",
			"lacp-mux-state": "flag", "tx": "count out_lacp", "rx": "count in_lacp", "mux": "flag", "buckets": "buckets", "load": "buckets", "lacp_pkts": ""}
		if partner || strings.HasSuffix(w.command, "Internal") {
			m["activity"] = side + "mode"
		} else {
			m["activity"] = "mode"
		}
		if strings.HasSuffix(w.command, "Summary") || strings.HasSuffix(w.command, "Auto") {
			m["flags"] = "flag"
		}
		if w.command == "ShowBundle" {
			m["state"] = "flag"
		}
		return m
	case "partner":
		return map[string]string{"state": "partner state", "key": "partner key", "collecting": "partner collecting", "distributing": "partner distributing"}
	}
	return nil
}

func (w *walker) walk(about string, tree map[string]any) {
	kind, name, _ := strings.Cut(about, " ")
	known := w.scalars(kind)
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		v := tree[key]
		switch v := v.(type) {
		case map[string]any:
			switch {
			case key == "counters" || key == "in" || key == "out" || kind == "port" && key == "port_channel":
				if key == "port_channel" {
					continue
				}
				w.counts(about, key, v)
			case key == "partner" && kind == "port":
				w.partner(about, v)
			case aChannel.MatchString(strings.ReplaceAll(key, " ", "")):
				w.add("channel "+strings.ReplaceAll(key, " ", ""), "there", "yes")
				w.walk("channel "+strings.ReplaceAll(key, " ", ""), v)
				if m, ok := v["members"].(map[string]any); ok {
					w.members("channel "+key, m)
				}
			case v["device"] != nil && one(v["device"]) != "Local":
				w.outside["ports of another chassis"] = true
			case w.command == "ShowEtherchannelProtocol" && key != "group":
				w.walk("channel Po"+key, v)
			case physical.MatchString(key):
				w.add("port "+key, "there", "yes")
				w.walk("port "+key, v)
			case key == "load_balance" && kind == "channel":
				w.add(about, "hash", one(v["hash_type"]))
			case key == "local_information" && kind == "port":
				w.side(name, "actor ", v)
			case key == "partner_information" && kind == "port":
				w.side(name, "partner ", v)
			default:
				w.walk(about, v)
			}
		case []any:
			for _, x := range v {
				if m, ok := x.(map[string]any); ok {
					w.junos(m)
				}
			}
			if field := known[key]; field != "" && len(v) > 0 {
				w.add(about, field, strings.Join(texts(v), " "))
			}
		default:
			w.scalar(about, key, v, known)
		}
	}
	if head, ok := tree["lag-lacp-header"].(map[string]any); ok {
		for _, x := range tree["lag-lacp-protocol"].([]any) {
			w.add("port "+one(x.(map[string]any)["name"]), "channel", one(head["aggregate-name"]))
		}
	}
}

func (w *walker) scalar(about, key string, v any, known map[string]string) {
	field, ok := known[key]
	if !ok {
		w.outside[key] = true
		return
	}
	if field == "" {
		return
	}
	want := one(v)
	switch {
	case strings.HasSuffix(field, "system"):
		want = macOr(want)
	case field == "protocol":
		want = protocolOf(want)
	case field == "state":
		if want != "up" && want != "down" {
			w.outside[key] = true
			return
		}
	case strings.HasSuffix(field, "mode"):
		if want = strings.ToLower(want); want == "auto" { // a letter in lower case, which the state's bits do not say
			w.outside[key] = true
			return
		}
	case field == "buckets":
		want = strings.TrimPrefix(want, "0x")
	case strings.HasSuffix(field, " rate"):
		want = map[string]string{"Short": "fast", "Long": "slow"}[want]
	case strings.HasSuffix(field, "key"), strings.HasSuffix(field, " port"), strings.HasSuffix(field, "state"):
		want = piece.NumberText(want)
	case field == "answer":
		want = short(want)
	case field == "hash" && strings.Contains(want, " ("):
		want = strings.Trim(want[strings.Index(want, " ("):], " ()")
	}
	w.add(about, field, want)
}

// members are the ports of a channel as a set.
func (w *walker) members(about string, all map[string]any) {
	w.add(about, "members", set(slices.Collect(maps.Keys(all))))
}

func (w *walker) counts(about, key string, v map[string]any) {
	for name, n := range v {
		field := map[string]string{"lacp_in_pkts": "count in_lacp", "lacp_out_pkts": "count out_lacp", "octets": "count " + key + "_bytes", "ucast_pkts": "count " + key + "_packets"}[name]
		if field == "" {
			w.outside[name] = true
			continue
		}
		w.add(about, field, one(n))
	}
}

// partner is the other end's part of a port, as IOS-XR's trees have it.
func (w *walker) partner(about string, v map[string]any) {
	_, mac, _ := strings.Cut(one(v["system_id"]), ",")
	if mac = piece.MacText(mac); mac != "00:00:00:00:00:00" { // nobody is heard
		w.add(about, "partner system", mac)
	}
	for key, field := range w.scalars("partner") {
		want := one(v[key])
		switch {
		case strings.HasSuffix(field, "key"):
			want = piece.NumberText(want)
		case strings.HasSuffix(field, "state"):
			want = lacpBits(want, xrLetters+"DE")
		}
		w.add(about, field, want)
	}
	for key := range v {
		if key != "system_id" && w.scalars("partner")[key] == "" {
			w.outside["partner "+key] = true
		}
	}
}

// side is one end of a port as `show etherchannel detail` has it.
func (w *walker) side(name, side string, v map[string]any) {
	if ports, ok := v["port"].(map[string]any); ok {
		for port, fields := range ports {
			w.side(port, side, fields.(map[string]any))
		}
		return
	}
	for key, field := range map[string]string{"oper_key": "key", "port_number": "port", "port_state": "state"} {
		w.add("port "+name, side+field, piece.NumberText(one(v[key])))
	}
	w.add("port "+name, side+"system", piece.MacText(one(v["dev_id"])))
	if f := one(v["flags"]); len(f) >= 2 {
		w.add("port "+name, side+"mode", map[bool]string{true: "active", false: "passive"}[f[1] == 'A'])
		w.add("port "+name, side+"rate", map[bool]string{true: "fast", false: "slow"}[f[0] == 'F'])
	}
}

// junos is one end of a member, or its machines' states.
func (w *walker) junos(m map[string]any) {
	name := one(m["name"])
	if mux := one(m["lacp-mux-state"]); mux != "" {
		w.add("port "+name, "flag", mux)
		return
	}
	side := strings.ToLower(one(m["lacp-role"]))
	if side == "" {
		w.outside[fmt.Sprint(slices.Sorted(maps.Keys(m)))] = true
		return
	}
	for key, field := range map[string]string{"lacp-aggregation": "aggregating", "lacp-synchronization": "in sync", "lacp-collecting": "collecting", "lacp-distributing": "distributing", "lacp-defaulted": "defaulted",
		"lacp-expired": "expired", "lacp-activity": "mode", "lacp-timeout": "rate"} {
		w.add("port "+name, side+" "+field, strings.ToLower(one(m[key])))
	}
}

var physical = piece.Compile(`^(?:[A-Z][A-Za-z]*\d+(?:/\d+)+|[A-Z][a-z]+[A-Za-z]*Ethernet\d[\d/]*|Ethernet\d[\d/]*|[A-Z][A-Za-z]+GigE?\d[\d/]*|Gi\d+|(?:xe|ge|et)-\S+)$`)

var aChannel = piece.Compile(`^(?i:po|port-channel|bundle-ether)\d+$`)
