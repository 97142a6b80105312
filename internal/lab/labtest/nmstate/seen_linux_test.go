package nmstate

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// seen is a host as ip(8) shows it.
type seen struct {
	links     map[string]map[string]any
	addresses map[string][]string
	routes    []map[string]any // of all tables, with their family
	rules     []map[string]any
	endpoints []map[string]any
}

// look asks ip(8), which has nothing to do with linerate.
func look(t *testing.T) seen {
	t.Helper()
	s := seen{links: map[string]map[string]any{}, addresses: map[string][]string{}}
	for _, l := range list(t, "-n", near, "-d", "-j", "address") {
		if name, _ := l["ifname"].(string); name != "" {
			s.links[name] = l
			for _, a := range items(l["addr_info"]) {
				if a["scope"] != "link" {
					s.addresses[name] = append(s.addresses[name], fmt.Sprintf("%v/%v", a["local"], a["prefixlen"]))
				}
			}
		}
	}
	for _, family := range []string{"4", "6"} {
		for _, r := range list(t, "-n", near, "-"+family, "-j", "route", "show", "table", "all") {
			r["family"] = family
			if dst := fmt.Sprint(r["dst"]); !strings.HasPrefix(dst, "fe80") && !strings.HasPrefix(dst, "ff00") {
				s.routes = append(s.routes, r)
			}
		}
		for _, r := range list(t, "-n", near, "-"+family, "-j", "rule") {
			r["family"] = family
			s.rules = append(s.rules, r)
		}
	}
	if onHost {
		s.endpoints = list(t, "netns", "exec", near, "ip", "-j", "mptcp", "endpoint")
	}
	return s
}

func list(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	out, err := exec.Command("ip", args...).Output()
	if err != nil {
		t.Fatalf("ip %s: %v", strings.Join(args, " "), err)
	}
	var all []map[string]any
	if text := strings.TrimSpace(string(out)); text != "" {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
	return all
}

func items(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// at follows keys into a document.
func at(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

func (s seen) mac(link string) string { return fmt.Sprint(at(s.links[link], "address")) }

func (s seen) ports(bond string) (ports []string) {
	for name, l := range s.links {
		if l["master"] == bond {
			ports = append(ports, name)
		}
	}
	slices.Sort(ports)
	return ports
}

// state is all of it that does not change by itself, in one order: two hosts
// with equal states are the same.
func (s seen) state() []string {
	var out []string
	for name, l := range s.links {
		flags := []string{}
		for _, f := range anyStrings(l["flags"]) {
			if f != "LOWER_UP" && f != "NO-CARRIER" {
				flags = append(flags, f)
			}
		}
		slices.Sort(flags)
		out = append(out, fmt.Sprintf("link %s mtu %v master %v mac %v %v", name, l["mtu"], l["master"], l["address"], flags))
		for _, part := range []string{"info_data", "info_slave_data"} {
			data, _ := at(l, "linkinfo", part).(map[string]any)
			for k, v := range data {
				if !slices.Contains(drifting, k) {
					out = append(out, fmt.Sprintf("link %s %s %v", name, k, v))
				}
			}
		}
		for _, a := range s.addresses[name] {
			out = append(out, "address "+name+" "+a)
		}
	}
	for what, all := range map[string][]map[string]any{"route": s.routes, "rule": s.rules, "endpoint": s.endpoints} {
		for _, m := range all {
			delete(m, "flags")
			text, _ := json.Marshal(m)
			out = append(out, what+" "+string(text))
		}
	}
	slices.Sort(out)
	return out
}

// drifting are what bonds and bridges count, or agree on with others.
var drifting = []string{"active_slave", "ad_info", "state", "mii_status", "link_failure_count", "ad_aggregator_id", "ad_actor_oper_port_state", "ad_actor_oper_port_state_str",
	"ad_partner_oper_port_state", "ad_partner_oper_port_state_str", "hello_timer", "tcn_timer", "topology_change_timer", "gc_timer"}

func anyStrings(v any) (out []string) {
	list, _ := v.([]any)
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	return out
}
