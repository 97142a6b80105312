package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render/ifupdown"
)

// bondPage is the table of bond options: what the kernel takes, and what each
// format calls it.
func bondPage() string {
	var b strings.Builder
	b.WriteString("# Bond options\n\n" + madeBy + "Every option can be set in a [fabric file](fabric.md#bonding) by its name. `render` warns about an option that the format does not have.\n")
	for _, part := range []struct {
		title string
		rows  []bondopt.Option
	}{{"Options of a bond", bondopt.Options()}, {"Options of a bond's port", bondopt.Ports()}} {
		fmt.Fprintf(&b, "\n## %s\n\n| option | values | default | modes | changes | kernel | means |\n|---|---|---|---|---|---|---|\n", part.title)
		for _, o := range part.rows {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", o.Name, values(o), o.Default, cmp.Or(o.ModeWords(), "all"), changes(o), kernels(o), cell(o.Doc))
		}
		b.WriteString("\n| option | netplan | systemd-networkd | NetworkManager | ifcfg | ifupdown (ifenslave) | ifupdown2 | nmstate | ip-link(8) |\n|---|---|---|---|---|---|---|---|---|\n")
		for _, o := range part.rows {
			fmt.Fprintf(&b, "| `%s` |", o.Name)
			for _, f := range []bondopt.Format{bondopt.Netplan, bondopt.Networkd, bondopt.Keyfile, bondopt.Ifcfg, bondopt.Ifenslave, bondopt.Ifupdown2, bondopt.Nmstate, bondopt.Iproute2} {
				fmt.Fprintf(&b, " %s |", said(o, f))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func values(o bondopt.Option) string {
	switch o.Kind {
	case bondopt.Port:
		return "a port"
	case bondopt.IPv4List, bondopt.IPv6List:
		return "addresses"
	case bondopt.MAC:
		return "a MAC address"
	}
	text := fmt.Sprintf("%d to %d", o.Min, o.Max)
	if o.Words != nil {
		text = strings.Join(o.Words, ", ")
	}
	return text + map[bondopt.Unit]string{bondopt.Milliseconds: " ms", bondopt.Seconds: " s"}[o.Unit]
}

func changes(o bondopt.Option) string {
	switch {
	case o.NoPorts:
		return "without ports"
	case o.NeedsDown:
		return "while down"
	}
	return "at any time"
}

func kernels(o bondopt.Option) string {
	var words []string
	if o.Since != "" {
		words = append(words, strings.TrimPrefix(strings.Join(append([]string{o.Since}, o.Stable...), ", "), "Linux "))
	}
	for value, release := range o.Gone {
		words = append(words, value+" until "+release)
	}
	return strings.Join(words, "; ")
}

// said is how a format says the option. ip-link(8), and ifcfg of a bond, say
// each by its name.
func said(o bondopt.Option, f bondopt.Format) string {
	s, ok := o.Saying(f)
	_, ofPort := bondopt.FindPort(o.Name)
	switch {
	case !ok && (f == bondopt.Iproute2 || f == bondopt.Ifcfg && !ofPort):
		return "`" + o.Name + "`"
	case !ok:
		return ""
	}
	if f == bondopt.Ifenslave || f == bondopt.Ifupdown2 {
		s.Name = ifupdown.Key(o)
	}
	text := "`" + s.Name + "`"
	if s.Since != "" {
		text += " from " + s.Since
	}
	if s.Lacks != nil {
		text += ", not " + strings.Join(s.Lacks, ", ")
	}
	return text
}
