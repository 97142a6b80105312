package keyfile

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// ethtool reads [ethtool], [bond-port] and [tc] into the link's settings.
func (r *connectionReader) ethtool() {
	for _, l := range r.file.lines {
		if l.key == "" || l.group != "ethtool" {
			continue
		}
		kind, name, _ := strings.Cut(l.key, "-")
		n, err := strconv.ParseUint(l.value, 10, 31)
		number := err == nil
		switch {
		case kind == "feature" && strings.Contains(features, " "+name+" ") && (l.value == "true" || l.value == "false"):
			node.Put(node.Within(r.beside, "links", r.name, "offloads"), name, node.Plain(device.OnOff(l.value == "true")))
		case kind == "ring" && (name == "rx" || name == "tx") && number && n > 0:
			node.Put(node.Within(r.beside, "links", r.name, "rings"), name, node.Plain(l.value))
		case kind == "channels" && (name == "rx" || name == "tx" || name == "combined") && number:
			node.Put(node.Within(r.beside, "links", r.name, "channels"), name, node.Plain(l.value))
		case kind == "coalesce" && Coalesce(name) != "" && number:
			value := node.Plain(l.value)
			if strings.HasPrefix(name, "adaptive-") {
				if n > 1 {
					continue
				}
				value = node.Plain(device.OnOff(n == 1))
			}
			node.Put(node.Within(r.beside, "links", r.name, "coalesce"), name, value)
		default:
			continue // the caller says that it was not read
		}
		r.used[l.number] = true
	}
	if l, ok := r.file.find("bond-port", "prio"); ok {
		if n, err := strconv.ParseInt(l.value, 10, 32); err == nil {
			r.used[l.number] = true
			if n != 0 {
				node.Put(node.Within(r.beside, "links", r.name), "port_prio", node.Plain(l.value))
			}
		}
	}
	if l, ok := r.file.find("tc", "qdisc.root"); ok && plainWords(l.value) {
		node.Put(node.Within(r.beside, "links", r.name), "qdisc", node.Quoted(strings.Join(strings.Fields(l.value), " ")))
		r.used[l.number] = true
	}
}

// plainWords are printable ASCII words.
func plainWords(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

// mptcp reads the flags that make the device's addresses endpoints.
func (r *connectionReader) mptcp() {
	l, ok := r.file.find("connection", "mptcp-flags")
	if !ok {
		return
	}
	n, err := strconv.ParseUint(l.value, 0, 32)
	flags := []string{}
	for _, word := range []string{"signal", "subflow", "backup", "fullmesh"} {
		if int(n)&mptcpFlagNumbers[word] != 0 {
			flags = append(flags, word)
			n &^= uint64(mptcpFlagNumbers[word])
		}
	}
	// What is left may be that it is on, and on whatever the sysctl and the
	// default route are.
	if err != nil || n&^0xe != 0 || n&0xe == 0 || len(flags) == 0 {
		r.refuse(l, "a fabric says flags of endpoints only")
		return
	}
	r.used[l.number] = true
	for _, text := range node.Texts(r.entry.Get("addresses")) {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			continue
		}
		item, list := node.Mapping(), node.Sequence()
		item.Flow, list.Flow = true, true
		node.Put(item, "address", node.Quoted(p.Addr().String()))
		node.Put(item, "dev", node.Plain(r.name))
		for _, f := range flags {
			list.Items = append(list.Items, node.Plain(f))
		}
		node.Put(item, "flags", list)
		node.Push(node.Within(r.beside, "mptcp"), "endpoints", item)
	}
}
