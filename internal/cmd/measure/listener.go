package measure

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/iperf3client"
	"github.com/linerate/linerate/record"
)

// listenerFlags are for targets that an iperf3 server speaks for.
type listenerFlags struct {
	tokenFile string
	busyFor   string
	token     string
	busy      time.Duration
}

func (f *listenerFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "file (mode 0600) with the token that a linerate listener was\nstarted with")
	c.Flags().StringVar(&f.busyFor, "busy-wait", "30s", "how long to wait for an iperf3 server that serves somebody else")
}

// read checks the flags and reads the token.
func (f *listenerFlags) read(ctx context.Context) error {
	var err error
	if f.busy, err = parseWait("--busy-wait", f.busyFor); err != nil {
		return err
	}
	token, err := console.ReadToken(ctx, f.tokenFile)
	f.token = string(token)
	return err
}

// parseWait reads a time that may be zero.
func parseWait(flag, s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if s == "0" {
		d, err = 0, nil
	}
	if err != nil || d < 0 || d > time.Hour {
		return 0, console.BadUsage(flag+": want a time from 0 to 1h, such as 30s, not "+s, "")
	}
	return d, nil
}

// listenerTarget is "HOST[:PORT]": a host that an iperf3 server speaks for.
type listenerTarget struct {
	arg, host string
	port      uint16
}

// isListener tells a bare host from a fabric file and from a host that the
// argument says how to reach.
func isListener(arg string) bool {
	if arg == "" || IsFabric(arg) || strings.Contains(arg, "/") {
		return false
	}
	switch scheme, _, _ := strings.Cut(arg, ":"); scheme {
	case "local", "netns", "ssh", "nats":
		return !strings.Contains(arg, ":")
	}
	return true
}

// parseListener reads HOST, HOST:PORT, an IPv6 address or [IPv6]:PORT.
func parseListener(arg string) (listenerTarget, error) {
	const hint = "write HOST or HOST:PORT, and an IPv6 address in brackets before a port: [2001:db8::1]:5201"
	t := listenerTarget{arg: arg, host: arg, port: iperf3.DefaultPort}
	whole, bracketed := strings.CutPrefix(arg, "[")
	if bracketed {
		whole, bracketed = strings.CutSuffix(whole, "]")
	}
	if a, err := netip.ParseAddr(whole); err == nil && bracketed == strings.HasPrefix(arg, "[") {
		t.host = a.String()
		return t, checkZone(arg, a)
	}
	at := strings.LastIndexByte(arg, ':')
	if at >= 0 && !strings.HasSuffix(arg, "]") && strings.Count(arg, "[") == strings.Count(arg, "]") {
		port, err := strconv.ParseUint(arg[at+1:], 10, 16)
		if err != nil || port == 0 {
			return t, console.BadUsage("target "+arg+": want a port from 1 to 65535 after the colon, not "+strconv.Quote(arg[at+1:]), hint)
		}
		t.host, t.port = arg[:at], uint16(port)
	}
	if inner, ok := strings.CutPrefix(t.host, "["); ok && strings.HasSuffix(inner, "]") {
		t.host = strings.TrimSuffix(inner, "]")
	}
	if a, err := netip.ParseAddr(t.host); err == nil {
		return t, checkZone(arg, a)
	}
	if t.host == "" || strings.ContainsAny(t.host, "[]:, ") && !isIPv6(t.host) {
		return t, console.BadUsage("target "+arg+": no host in it", hint)
	}
	return t, nil
}

// checkZone refuses an address that is good on one link only and does not say on
// which: a zone is a link of the host that measures.
func checkZone(arg string, a netip.Addr) error {
	switch zone := a.Zone(); {
	case a.Is6() && a.IsLinkLocalUnicast() && zone == "":
		return console.BadUsage("target "+arg+": a link-local address, and not said on which link", "write "+a.String()+"%LINK with a link of the host that measures, or an address that is not link-local")
	case zone != "" && !a.IsLinkLocalUnicast():
		return console.BadUsage("target "+arg+": only a link-local address has a zone", "write "+a.WithZone("").String())
	case strings.Trim(zone, "0123456789") == "" && zone != "":
		return console.BadUsage("target "+arg+": the zone is a number", "write the link's name after the %: `ip link` lists them")
	}
	return nil
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}

// name is what the record calls the target.
func (t listenerTarget) name() string {
	if t.port == iperf3.DefaultPort {
		return t.host
	}
	return t.full()
}

// full is host and port, whatever the port.
func (t listenerTarget) full() string {
	if isIPv6(t.host) {
		return fmt.Sprintf("[%s]:%d", t.host, t.port)
	}
	return fmt.Sprintf("%s:%d", t.host, t.port)
}

// splitTargets tells listeners from hosts.
func splitTargets(args []string) (listeners, hosts []string) {
	for _, arg := range args {
		if isListener(arg) {
			listeners = append(listeners, arg)
		} else {
			hosts = append(hosts, arg)
		}
	}
	return listeners, hosts
}

// checkTargets refuses arguments of measure that do not go together.
func checkTargets(args []string) error {
	listeners, hosts := splitTargets(args)
	switch {
	case len(args) == 0:
		return console.BadUsage("measure: want a FABRIC file, a HOST[:PORT] that listens, or two hosts", "linerate discover HOST HOST -o fabric.yaml writes one")
	case len(listeners) > 0 && len(hosts) > 1:
		return console.BadUsage("measure: more than one host to measure from: "+strings.Join(hosts, ", "), "name one, or none for this host, before "+listeners[0])
	case len(listeners) > 0 && len(hosts) == 1 && IsFabric(hosts[0]):
		return console.BadUsage("measure: a fabric file and a target, "+listeners[0]+", at once", "give the one or the other")
	case len(hosts) == 1 && !IsFabric(hosts[0]):
		if len(listeners) == 0 {
			if err := fileNotHost(hosts[0]); err != nil {
				return err
			}
			return console.BadUsage("measure "+hosts[0]+": one host alone cannot be measured", "name a second host, a HOST:PORT that listens, or a fabric file whose name ends in .yaml")
		}
	}
	return nil
}

// asLogin is the way to log in to a host that was named bare, with its user or without.
func asLogin(host string) string {
	if strings.Contains(host, "@") {
		return "ssh://" + host
	}
	return "ssh://root@" + host
}

// fileNotHost is the error of a file that stands where measure wants hosts or a fabric;
// nil where there is no such file.
func fileNotHost(arg string) error {
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return nil
	case info.IsDir():
		return console.BadUsage("measure "+arg+": it is a directory, not a fabric file", "name a file in it that ends in .yaml")
	}
	return console.BadUsage("measure "+arg+": it is a file, and no fabric: the name of one ends in .yaml", "a record is read by `linerate explain "+arg+"`; `linerate discover HOST... -o fabric.yaml` makes a fabric")
}

// listening makes a fabric of one host to measure from, this one unless named,
// and the targets that listen.
func listening(ctx context.Context, con *console.Console, args []string, device string, flags *listenerFlags) (fabric.Fabric, map[string]measure.Listener, error) {
	if err := flags.read(ctx); err != nil {
		return fabric.Fabric{}, nil, err
	}
	names, hosts := splitTargets(args)
	from := "local:"
	if len(hosts) > 0 {
		from = hosts[0]
	}
	t, err := con.Target(from)
	if err != nil {
		return fabric.Fabric{}, nil, err
	}
	targets, err := flags.resolve(ctx, names, t.Name)
	if err != nil {
		return fabric.Fabric{}, nil, err
	}
	h, err := con.Dial(ctx, t)
	if err != nil {
		return fabric.Fabric{}, nil, err
	}
	defer h.Close()
	f, listeners, err := campaign.Listening(ctx, h, t.Reach, device, targets)
	if errors.Is(err, fleet.ErrUnreachable) {
		err = console.WithHint(err, "`ip route get` with the target's address shows what the kernel would do")
	}
	return f, listeners, err
}

// resolve finds the targets' addresses. No two may be the same.
func (f *listenerFlags) resolve(ctx context.Context, args []string, from string) ([]campaign.Target, error) {
	var targets []campaign.Target
	for _, arg := range args {
		t, err := parseListener(arg)
		if err != nil {
			return nil, err
		}
		found, err := iperf3client.Resolve(ctx, t.host)
		if errors.Is(err, iperf3client.ErrName) {
			if err := fileNotHost(arg); err != nil {
				return nil, err
			}
			return nil, console.BadUsage("target "+arg+": no host of that name is known", "a bare name is tried as an iperf3 server: check the spelling, DNS and /etc/hosts; a host to log in to is "+asLogin(t.host)+", and a fabric file's name ends in .yaml")
		}
		if err == nil {
			err = checkZone(arg, found[0])
		}
		if err != nil {
			return nil, err
		}
		name := t.name()
		if name == from { // a host that measures itself
			name = t.full()
		}
		if slices.ContainsFunc(targets, func(o campaign.Target) bool { return o.Name == name }) {
			return nil, console.BadUsage("target "+arg+" is named twice", "")
		}
		targets = append(targets, campaign.Target{Name: name, Listener: measure.Listener{
			At: netip.AddrPortFrom(found[0], t.port), Token: f.token, BusyFor: f.busy,
		}})
	}
	return targets, nil
}

// listenerHint says what to look at where a target that listens could not be
// measured; for other hosts err stays as it is.
func (r *RunFlags) listenerHint(rec record.Record, err error) error {
	if err == nil || len(r.listeners) == 0 || len(rec.Failures) == 0 {
		return err
	}
	f := rec.Failures[0]
	hint := ""
	names, _ := splitTargets(r.args)
	if len(names) > 1 && len(names) == len(r.args) && len(rec.Trials) == 0 && slices.Contains([]agentapi.Code{agentapi.CodeRefused, agentapi.CodeSilent, agentapi.CodeBlocked}, agentapi.Code(f.Reason)) {
		return console.WithHint(err, "these names are taken for iperf3 servers, measured from this host; to measure between hosts say how to log in to them: linerate measure "+asLogin(names[0])+" "+asLogin(names[1]))
	}
	switch agentapi.Code(f.Reason) {
	case agentapi.CodeRefused:
		hint = "it was tried as an iperf3 server: start `iperf3 -s` or `linerate listen` there, or name its port, HOST:PORT; a firewall may also reject in its name; to log in to a host write " + asLogin(names[0])
	case agentapi.CodeSilent:
		hint = "is the host up? a firewall that drops looks like this too: open the port there, TCP, and UDP for --protocol udp"
	case agentapi.CodeBlocked:
		hint = "a router or firewall says no (ICMP), or nobody has the address: `ip route get` and `ip neighbour` on this host"
	case agentapi.CodeBusy:
		hint = "iperf3 serves one client at a time: wait longer with --busy-wait 5m, or run `linerate listen` there, which serves many; with a listener's --allow, add this host"
	case agentapi.CodePermission:
		hint = "give the listener's token with --token-file FILE"
		if strings.Contains(f.Error, "authorized-users") {
			hint = "start the server without --authorized-users-path, or `linerate listen --token-file FILE` in its place"
		}
	}
	return console.WithHint(err, hint)
}
