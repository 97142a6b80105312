package paste

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// rowClaims are the fields of a row of ntc-templates.
func rowClaims(command string, row map[string]any, outside map[string]bool) (out []claim) {
	used := map[string]bool{}
	get := func(key string) string {
		used[key] = true
		return one(row[key])
	}
	about := ""
	add := func(field, want string) {
		if want != "" && about != "" {
			out = append(out, claim{about, field, want})
		}
	}
	members := func(names []string) {
		var each []string
		for _, n := range names {
			if !slices.Contains(each, n) {
				each = append(each, n)
			}
		}
		if len(each) > 0 {
			add("members", set(each))
		}
	}
	switch {
	case row["local_interface"] != nil && (row["neighbor_name"] != nil || row["neighbor"] != nil || row["neighbor_interface"] != nil):
		out = lldpClaims(row, used)
	case row["bundle_name"] != nil:
		about = "channel " + get("bundle_name")
		names := texts(row["member_interface"])
		used["member_interface"], used["group"] = true, true
		members(names)
		if p := protocolOf(get("bundle_protocol")); len(names) > 0 {
			add("protocol", p)
		}
		flags := get("bundle_status")
		if row["member_interface_status"] != nil || row["bundle_protocol"] != nil {
			add("state", map[bool]string{true: "up", false: "down"}[strings.Contains(flags, "U")])
		} else if flags != "" {
			used["bundle_status"] = true
		}
		if s := get("bundle_protocol_state"); strings.HasPrefix(s, "a") || strings.HasPrefix(s, "p") {
			add("mode", map[bool]string{true: "active", false: "passive"}[s[0] == 'a'])
		}
		for _, f := range [][2]string{{"mode", "mode"}, {"rate", "rate"}} {
			add(f[1], strings.ToLower(get(f[0])))
		}
		perMember := map[string]string{"member_interface_status": "flag", "mux_state": "flag", "bundled": "bundled"}
		channel := about
		for key, field := range perMember {
			used[key] = used[key] || row[key] != nil
			if key == "mux_state" && row["bundled"] != nil { // PAN-OS: another machine's word
				continue
			}
			values := texts(row[key])
			for i, v := range values {
				if i < len(names) && len(values) == len(names) {
					about = "port " + names[i]
					add(field, v)
				}
			}
		}
		about = channel
		for key, field := range map[string]string{"partner_key": "partner key", "partner_system_mac": "partner system", "local_key": "actor key", "local_system_mac": "actor system"} {
			if v := get(key); v != "" && len(names) > 0 {
				about = "port " + names[0]
				add(field, macOr(v))
			}
		}
	case row["po_name"] != nil:
		about = "channel " + get("po_name")
		used["interfaces"] = true
		members(texts(row["interfaces"]))
	case row["lagtype"] != nil:
		about = "channel lag " + strings.TrimSpace(get("lagnameshort"))
		add("protocol", map[bool]string{true: "lacp", false: "static"}[get("lagtype") == "dynamic"])
		members(ports(get("portlist") + " " + get("portlistcont")))
	case row["port1"] != nil:
		about = "channel trunk " + get("id")
		var names []string
		for _, n := range strings.Split("1 2 3 4 5 6 7 8", " ") {
			if p := get("port" + n); p != "" {
				names = append(names, p)
				link, state := get("link"+n), get("state"+n)
				out = append(out, claim{"port " + p, "bundled", piece.YesNo[link == "active" && strings.HasPrefix(state, "Forward")]})
			}
		}
		members(names)
	case row["member_port"] != nil:
		about = "port " + get("member_port")
		add("partner state", lacpBits(strings.Trim(get("remote_flag"), "{}"), comwareLetters))
		add("channel", strings.NewReplacer("Bridge-Aggregation", "BAGG", "Route-Aggregation", "RAGG").Replace(get("aggregate_interface")))
		add("flag", strings.Trim(get("local_flag"), "{}"))
		add("actor key", get("local_oper_key"))
		add("partner key", get("remote_oper_key"))
		add("partner port", get("remote_port_number"))
		add("actor port", get("local_port_number"))
		_, mac, _ := strings.Cut(get("remote_system_id"), ", ")
		if mac != "0000-0000-0000" { // nobody is heard
			add("partner system", piece.MacText(mac))
		}
		add("count in_lacp", get("received_packets"))
		add("count out_lacp", get("sent_packets"))
	case row["local_interfaces"] != nil:
		about = "channel " + get("interface")
		used["local_interfaces"], used["remote_interfaces"] = true, true
		members(texts(row["local_interfaces"]))
		add("protocol", protocolOf(get("aggregation_mode")))
	case row["local_port"] != nil && row["trunk"] != nil:
		about = "port " + get("local_port")
		add("description", strings.TrimSpace(get("int_name")))
		add("channel", get("trunk"))
		about = "channel " + get("trunk")
		add("protocol", map[bool]string{true: "lacp", false: "static"}[strings.Contains(get("trunk_type"), "LACP")])
	case row["slaves"] != nil:
		about = "channel " + get("name")
		add("protocol", map[string]string{"802.3ad": "lacp", "balance-xor": "static", "balance-rr": "static"}[get("mode")])
		names := strings.Split(get("slaves"), ",")
		members(names)
	case row["lag_name"] != nil || row["up_count"] != nil:
		about = "channel lag-" + get("lag_id")
		add("state", get("opr"))
		add("admin", get("adm"))
		used["lag_name"] = true
	case row["port_id"] != nil:
		about = "port " + get("port_id")
		add("flag", get("active_status"))
		add("bundled", piece.YesNo[get("operational_status") == "up"])
		add("admin", get("admin_status"))
		used["lag_id"] = true
	}
	for key := range row {
		if !used[key] {
			outside[key] = true
		}
	}
	return out
}

// ports are those of a list like "e 2/3/1 to 2/3/2".
func ports(list string) (out []string) {
	f := strings.Fields(list)
	for i, w := range f {
		switch {
		case w == "to" && i > 0 && i+1 < len(f):
			cut := strings.LastIndexByte(f[i+1], '/') + 1
			first, _ := strconv.Atoi(f[i-1][cut:])
			last, _ := strconv.Atoi(f[i+1][cut:])
			for n := first + 1; n < last; n++ {
				out = append(out, f[i+1][:cut]+strconv.Itoa(n))
			}
		case w != "e" && w != "ethe":
			out = append(out, w)
		}
	}
	return out
}

// lldpClaims are those of a neighbour.
func lldpClaims(row map[string]any, used map[string]bool) (out []claim) {
	get := func(key string) string { used[key] = true; return one(row[key]) }
	joined := func(key string) string { used[key] = true; return strings.Join(texts(row[key]), "") }
	local := get("local_interface")
	add := func(field, want string) {
		want = strings.Trim(want, ` "`)
		if strings.Trim(strings.ToLower(want), "x-") == "" {
			return // made unreadable
		}
		if local == "" || want == "" || want == "-" || want == "None" || strings.HasPrefix(want, "[") || want == "0" && field != "port" || strings.HasPrefix(want, "not advertised") {
			return
		}
		out = append(out, claim{"lldp " + local, field, want})
	}
	add("name", cmp.Or(joined("neighbor_name"), joined("neighbor")))
	used["neighbor"] = true
	add("chassis", macOr(get("chassis_id")))
	add("frame", cmp.Or(get("neighbor_max_frame_size"), get("maximum_frame_size")))
	// What is called the neighbour's interface is the port's identifier, or its
	// description where the identifier has a field of its own.
	if id := get("neighbor_port_id"); id != "" {
		add("port", macOr(id))
		if _, has := row["neighbor_interface_description"]; !has {
			add("port description", cmp.Or(get("neighbor_port_description"), get("neighbor_interface")))
		} else {
			used["neighbor_interface"] = true
		}
		used["neighbor_interface"], used["neighbor_port_description"] = true, true
	} else {
		add("port", macOr(joined("neighbor_interface")))
	}
	add("port description", get("neighbor_interface_description"))
	add("text", get("neighbor_description")) // of one line
	if m := cmp.Or(get("mgmt_address"), get("management_ip")); !strings.Contains(m, ".") || piece.MacText(m) == "" {
		add("management", m)
	}
	if v := get("vlan_id"); piece.Digits.MatchString(v) {
		add("vlan", v)
	}
	return out
}
