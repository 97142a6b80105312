package render

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
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
		case kind == "feature" && strings.Contains(keyfileFeatures, " "+name+" ") && (l.value == "true" || l.value == "false"):
			put(within(r.beside, "links", r.name, "offloads"), name, plain(onOff(l.value == "true")))
		case kind == "ring" && (name == "rx" || name == "tx") && number && n > 0:
			put(within(r.beside, "links", r.name, "rings"), name, plain(l.value))
		case kind == "channels" && (name == "rx" || name == "tx" || name == "combined") && number:
			put(within(r.beside, "links", r.name, "channels"), name, plain(l.value))
		case kind == "coalesce" && keyfileCoalesce(name) != "" && number:
			value := plain(l.value)
			if strings.HasPrefix(name, "adaptive-") {
				if n > 1 {
					continue
				}
				value = plain(onOff(n == 1))
			}
			put(within(r.beside, "links", r.name, "coalesce"), name, value)
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
				put(within(r.beside, "links", r.name), o.Key, plain(word))
			}
		}
	}
	if l, ok := r.file.find("tc", "qdisc.root"); ok && plainWords(l.value) {
		put(within(r.beside, "links", r.name), "qdisc", quoted(strings.Join(strings.Fields(l.value), " ")))
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
	for _, text := range words(r.entry.Get("addresses")) {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			continue
		}
		item, list := mapping(), sequence()
		item.Flow, list.Flow = true, true
		put(item, "address", quoted(p.Addr().String()))
		put(item, "dev", plain(r.name))
		for _, f := range flags {
			list.Items = append(list.Items, plain(f))
		}
		put(item, "flags", list)
		push(within(r.beside, "mptcp"), "endpoints", item)
	}
}
