package keyfile

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
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
			node.Put(r.Setting("links", r.name, "offloads"), name, node.Plain(device.OnOff(l.value == "true")))
		case kind == "ring" && (name == "rx" || name == "tx") && number && n > 0:
			node.Put(r.Setting("links", r.name, "rings"), name, node.Plain(l.value))
		case kind == "channels" && (name == "rx" || name == "tx" || name == "combined") && number:
			node.Put(r.Setting("links", r.name, "channels"), name, node.Plain(l.value))
		case kind == "coalesce" && Coalesce(name) != "" && number:
			value := node.Plain(l.value)
			if strings.HasPrefix(name, "adaptive-") {
				if n > 1 {
					continue
				}
				value = node.Plain(device.OnOff(n == 1))
			}
			node.Put(r.Setting("links", r.name, "coalesce"), name, value)
		default:
			continue // the caller says that it was not read
		}
		r.used[l.number] = true
	}
	for _, o := range bondopt.Ports() {
		said, ok := o.Saying(bondopt.Keyfile)
		l, found := r.file.find("bond-port", said.Name)
		if word, err := o.Word(l.value); ok && found && err == nil {
			r.used[l.number] = true
			if word != o.Default {
				node.Put(r.Setting("links", r.name), o.Key, node.Plain(word))
			}
		}
	}
	if l, ok := r.file.find("tc", "qdisc.root"); ok && plainWords(l.value) {
		node.Put(r.Setting("links", r.name), "qdisc", node.Quoted(strings.Join(strings.Fields(l.value), " ")))
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
		item := node.FlowMap()
		node.PutText(item, "address", p.Addr().String())
		node.Put(item, "dev", node.Plain(r.name))
		node.Put(item, "flags", node.FlowList(flags))
		r.PlaceAt(item, r.path, l.number)
		node.Push(node.Within(r.Beside, "mptcp"), "endpoints", item)
	}
}

// bond reads [bond]: what netplan has a name for into the network, the rest
// under the kernel's names beside it.
func (r *connectionReader) bond() {
	mode := "balance-rr"
	if l, ok := r.file.find("bond", "mode"); ok {
		mode = l.value
	}
	parameters := node.Mapping()
	row, _ := bondopt.Find("mode")
	if word, err := row.Word(mode); err == nil {
		mode = word // it may be a number
	}
	node.Put(parameters, "mode", node.Plain(mode))
	if !goodParameters(parameters) {
		l, _ := r.file.find("bond", "mode")
		r.refuse(l, "is no bonding mode: balance-rr is put in its place")
		node.Put(parameters, "mode", node.Plain("balance-rr"))
	}
	r.take("bond", "mode")
	if _, said := r.file.find("bond", "miimon"); !said {
		node.Put(parameters, "mii-monitor-interval", node.Plain("100")) // NetworkManager's own default
		if _, arp := r.file.find("bond", "arp_interval"); arp {
			parameters.Pairs = parameters.Pairs[:1]
		}
	}
	for _, l := range r.file.lines {
		if l.group != "bond" || l.key == "" || l.key == "mode" {
			continue
		}
		r.used[l.number] = true
		twin, _ := bondopt.ByTwin(l.key)
		switch _, _, known := bondopt.Said(bondopt.Keyfile, l.key); {
		case l.key == "interface-name" || twin.Name != "" && r.file.value("bond", twin.Name) != "":
		case !known:
			r.refuse(l, "NetworkManager has no such bond option, and a fabric neither")
		case !r.parameter(parameters, l):
			r.refuse(l, "is no value of this option")
		}
	}
	node.Put(r.entry, "parameters", parameters)
}

// parameter puts an option where a fabric has it.
func (r *connectionReader) parameter(parameters *yamldoc.Node, l keyLine) bool {
	if strings.ContainsFunc(l.value, func(c rune) bool { return c < ' ' || c > '~' }) || l.value == "" {
		return false
	}
	name := l.key
	if twin, ok := bondopt.ByTwin(name); ok {
		name = twin.Name
	}
	if o, known := bondopt.Find(name); known && o.Words != nil {
		if word, err := o.Word(l.value); err == nil {
			l.value = word // it may be a number
		}
	}
	if parameter, value, ok := fabric.ParameterOf(nil, name, l.value); ok {
		if name == bondopt.Primary && !plainName(l.value) {
			return false
		}
		alone := node.Mapping()
		node.Put(alone, "mode", parameters.Get("mode"))
		node.Put(alone, parameter, value)
		if goodParameters(alone) {
			node.Put(parameters, parameter, value)
			return true
		}
	}
	node.Put(r.Setting("bonding", r.name), name, node.Quoted(l.value))
	return true
}

// goodParameters reports whether a fabric takes the parameters of a bond.
func goodParameters(parameters *yamldoc.Node) bool {
	n := node.Mapping()
	node.Put(n, "version", node.Plain("2"))
	bond := node.Within(n, "bonds", "b")
	node.Put(bond, "parameters", parameters)
	_, err := fabric.ParseNetwork("", []byte(yamldoc.Write(n)))
	var problems yamldoc.Problems
	if !errors.As(err, &problems) {
		return err == nil
	}
	for _, p := range problems {
		// A primary must be a port, and a bond alone has none.
		if strings.Contains(fmt.Sprint(p), "parameters") && !strings.Contains(fmt.Sprint(p), "primary") {
			return false
		}
	}
	return true
}
