package field

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Hosts a and b, a third one c, and m: the switch or the router in the middle.
const prefix = "linerate-test-field-"

// stand is a network as it is drawn, and while it is built.
type stand struct {
	t     *testing.T
	dice  *rand.Rand
	shape string
	rate  unit.BitRate // of each link
	delay time.Duration
	mtu   int
	flows int
	links int // that carry at a time; 0 is what the shape has
	// singly has segments leave one by one, so that what befalls packets befalls
	// one at a time.
	singly bool
	speeds map[string]unit.BitRate // of links by "host link"; others have rate
	spaces map[string]floor.Space
}

func (s *stand) must(err error) { s.t.Helper(); floor.Must(s.t, err) }

// part is a part of the links' rate, as tc reads it.
func (s *stand) part(of float64) string { return fmt.Sprintf("%.0fbit", of*float64(s.rate)) }

// bytesPart is the same in bytes a second, as nft reads it.
func (s *stand) bytesPart(of float64) string { return fmt.Sprintf("%.0f", of*float64(s.rate)/8) }

// packetsPart is how many full packets a second that is.
func (s *stand) packetsPart(of float64) string {
	return fmt.Sprintf("%.0f", of*float64(s.rate)/8/float64(s.mtu))
}

// pick is one of several.
func pick[T any](s *stand, of ...T) T { return of[s.dice.IntN(len(of))] }

// between is a number between two.
func (s *stand) between(low, high float64) float64 { return low + s.dice.Float64()*(high-low) }

// do carries out lines of "HOST: COMMAND", or "HOST&: COMMAND" for one that goes on
// until the test ends; "WORD" alone as a host is the machine itself.
func (s *stand) do(script string) {
	s.t.Helper()
	for line := range strings.Lines(script) {
		host, command, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		host, background := strings.CutSuffix(host, "&")
		cmd := exec.Command("ip", "netns", "exec", prefix+host, "sh", "-c", command)
		if host == "here" {
			cmd = exec.Command("sh", "-c", command)
		}
		if background {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			s.must(cmd.Start())
			s.t.Cleanup(func() {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				_ = cmd.Wait()
			})
			continue
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("%s: %v: %s", strings.TrimSpace(line), err, out)
		}
	}
}

// shell is what a line prints on the machine itself.
func (s *stand) shell(line string) string {
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		s.t.Errorf("%s: %v: %s", line, err, out)
	}
	return string(out)
}

// tbf is a link's own rate, with a queue of 50 ms.
func (s *stand) tbf(rate unit.BitRate) string {
	bucket := int64(floor.Bucket(rate))
	return fmt.Sprintf("tbf rate %.0fbit burst %d limit %d", float64(rate), bucket, bucket+int64(float64(rate)/8*0.05))
}

// cable joins a host's link to a port of the middle, at the links' rate both ways.
func (s *stand) cable(host, link, port string) {
	s.t.Helper()
	rate := s.rate
	if r, ok := s.speeds[host+" "+link]; ok {
		rate = r
	}
	s.do(fmt.Sprintf(`here: ip -n %[1]s%[2]s link add %[3]s mtu %[5]d type veth peer name %[4]s mtu %[5]d netns %[1]sm
		%[2]s: tc qdisc add dev %[3]s root handle 1: %[6]s
		m: tc qdisc add dev %[4]s root handle 1: %[6]s
		m: tc qdisc add dev %[4]s parent 1:1 handle 2: netem delay %[7]dus limit 20000
		m: ip link set %[4]s up`, prefix, host, link, port, s.mtu, s.tbf(rate), s.delay.Microseconds()))
	if s.singly {
		s.must(s.spaces[host].Builder.Singly(link))
	}
}

// netem changes what the middle does on the way to b's (or another's) port beside the
// delay.
func (s *stand) netem(port, more string) string {
	return fmt.Sprintf("m: tc qdisc change dev %s parent 1:1 handle 2: netem delay %dus %s limit 20000\n", port, s.delay.Microseconds(), more)
}

// build makes the network.
func (s *stand) build() {
	s.t.Helper()
	s.spaces = map[string]floor.Space{}
	for _, name := range []string{"a", "b", "c", "m"} {
		s.spaces[name] = floor.NewSpace(s.t, "field-"+name)
		s.do(name + ": ip link set lo up")
	}
	switch s.shape {
	case "cable", "overlay":
		s.cables("sw0", "eth0", "p%s", "10.9.0.%d/24")
	case "two":
		s.cables("sw0", "eth0", "p%s", "10.9.1.%d/24")
		s.cables("sw1", "eth1", "q%s", "10.9.2.%d/24")
	case "bond", "xor":
		s.bonds()
	case "routed":
		s.routed("eth0", "p%s", 1)
	case "ecmp":
		s.routed("eth0", "p%s", 1)
		s.routed("eth1", "q%s", 3)
		s.do(`a: ip addr add 10.99.0.1/32 dev lo
			b: ip addr add 10.99.0.2/32 dev lo
			a: ip route add 10.99.0.2/32 src 10.99.0.1 nexthop via 10.9.1.254 nexthop via 10.9.3.254
			b: ip route add 10.99.0.1/32 src 10.99.0.2 nexthop via 10.9.2.254 nexthop via 10.9.4.254
			m: ip route add 10.99.0.2/32 nexthop via 10.9.2.1 nexthop via 10.9.4.1
			m: ip route add 10.99.0.1/32 nexthop via 10.9.1.1 nexthop via 10.9.3.1
			m: sysctl -qw net.ipv4.fib_multipath_hash_policy=1
			a: sysctl -qw net.ipv4.fib_multipath_hash_policy=1
			b: sysctl -qw net.ipv4.fib_multipath_hash_policy=1`)
	default:
		s.t.Fatalf("no shape %s", s.shape)
	}
}

// cables joins a, b and c to a switch of the middle, a link and an address each.
func (s *stand) cables(bridge, link, port, address string) {
	s.t.Helper()
	s.do(fmt.Sprintf("m: ip link add %s mtu %d type bridge stp_state 0 forward_delay 0\nm: ip link set %s up", bridge, s.mtu, bridge))
	for i, host := range []string{"a", "b", "c"} {
		s.cable(host, link, fmt.Sprintf(port, host))
		s.do(fmt.Sprintf("m: ip link set %s master %s\n%s: ip addr add %s dev %s\n%[3]s: ip link set %[5]s up", fmt.Sprintf(port, host), bridge, host, fmt.Sprintf(address, i+1), link))
	}
}

// routed joins a and b to the middle, which forwards.
func (s *stand) routed(link, port string, subnet int) {
	s.t.Helper()
	s.do("m: sysctl -qw net.ipv4.ip_forward=1")
	for i, host := range []string{"a", "b"} {
		p, far := fmt.Sprintf(port, host), subnet+1-i
		s.cable(host, link, p)
		s.do(fmt.Sprintf(`m: ip addr add 10.9.%[1]d.254/24 dev %[2]s
			%[3]s: ip addr add 10.9.%[1]d.1/24 dev %[4]s
			%[3]s: ip link set %[4]s up
			%[3]s: ip route add 10.9.%[5]d.0/24 via 10.9.%[1]d.254`, subnet+i, p, host, link, far))
	}
}

// bonds joins a and b by two links each, bonded at both ends.
func (s *stand) bonds() {
	s.t.Helper()
	mode := map[string]string{"bond": "802.3ad lacp_rate fast", "xor": "balance-xor"}[s.shape]
	s.do(fmt.Sprintf("m: ip link add sw0 mtu %d type bridge stp_state 0 forward_delay 0\nm: ip link set sw0 up", s.mtu))
	for i, host := range []string{"a", "b"} {
		s.do(fmt.Sprintf(`%[1]s: ip link add bond0 mtu %[2]d type bond mode %[3]s miimon 50 xmit_hash_policy layer3+4
			m: ip link add bo%[1]s mtu %[2]d type bond mode %[3]s miimon 50 xmit_hash_policy layer3+4`, host, s.mtu, mode))
		for n := range 2 {
			link, port := fmt.Sprintf("eth%d", n), fmt.Sprintf("p%s%d", host, n)
			s.cable(host, link, port)
			s.do(fmt.Sprintf(`%[1]s: ip link set %[2]s master bond0
				%[1]s: ip link set %[2]s up
				m: ip link set %[3]s down
				m: ip link set %[3]s master bo%[1]s
				m: ip link set %[3]s up`, host, link, port))
		}
		if s.singly {
			s.must(s.spaces[host].Builder.Singly("bond0"))
		}
		s.do(fmt.Sprintf(`%[1]s: ip addr add 10.9.0.%[2]d/24 dev bond0
			%[1]s: ip link set bond0 up
			m: ip link set bo%[1]s master sw0
			m: ip link set bo%[1]s up`, host, i+1))
	}
	for _, host := range []string{"a", "b"} {
		floor.Await(s.t, s.spaces[host], "bond0", 2, 30*time.Second)
		floor.Await(s.t, s.spaces["m"], "bo"+host, 2, 30*time.Second)
	}
}

// overlaid puts a tunnel of a kind between a and b, whose addresses are the ones to
// measure between.
func (s *stand) overlaid(kind string, mtu int) string {
	under := map[string]string{"bond": "bond0"}[s.shape]
	if under == "" {
		under = "eth0"
	}
	var out strings.Builder
	for i, host := range []string{"a", "b"} {
		us, them := i+1, 2-i
		more := map[string]string{
			"vxlan":  fmt.Sprintf("vxlan id 7 local 10.9.0.%d remote 10.9.0.%d dstport 4789", us, them),
			"fixed":  fmt.Sprintf("vxlan id 7 local 10.9.0.%d remote 10.9.0.%d dstport 4789 srcport 40000 40001", us, them),
			"geneve": fmt.Sprintf("geneve id 7 remote 10.9.0.%d", them),
			"gre":    fmt.Sprintf("gre local 10.9.0.%d remote 10.9.0.%d ttl 64", us, them),
			"ipip":   fmt.Sprintf("ipip local 10.9.0.%d remote 10.9.0.%d ttl 64", us, them),
		}[kind]
		fmt.Fprintf(&out, `%[1]s: ip addr del 10.9.0.%[2]d/24 dev %[3]s
			%[1]s: ip addr add 10.9.0.%[2]d/32 peer 10.9.0.%[4]d dev %[3]s
			%[1]s: ip link add tun7 type %[5]s
			%[1]s: ip link set tun7 mtu %[6]d up
			%[1]s: ip addr add 10.8.0.%[2]d/24 dev tun7
			`, host, us, under, them, more, mtu)
	}
	return out.String()
}

// file is the fabric file that a user writes: what discover sees, and the links' speeds.
func (s *stand) file() string {
	s.t.Helper()
	var all []netstate.Host
	reach := map[string]string{}
	for _, name := range []string{"a", "b"} {
		reach[name] = "netns:" + s.spaces[name].NS.Name
		h, err := fleet.Dial(s.t.Context(), name, reach[name], fleet.Config{Version: "test", Unguarded: true})
		s.must(err)
		reply, err := h.Observe(s.t.Context())
		s.must(err)
		s.must(h.Close())
		reply.Host.Name = name
		for _, l := range reply.Host.Links {
			if !strings.HasPrefix(l.Name, "eth") || l.VLAN != nil {
				continue
			}
			if l.Speed = s.rate; s.speeds[name+" "+l.Name] != 0 {
				l.Speed = s.speeds[name+" "+l.Name]
			}
			l.Kind, l.Framing = "", netstate.FramingL2 // as a card is
			reply.Host.SetLink(l)
		}
		all = append(all, reply.Host)
	}
	paths := fabric.PathsBetween(all)
	if len(paths) == 0 {
		paths = []fabric.Path{{From: "a", To: "b"}}
	}
	for i := range paths {
		paths[i].Declared = true
	}
	file := filepath.Join(s.t.TempDir(), "fabric.yaml")
	s.must(os.WriteFile(file, describe.Write(all, paths, reach, fabric.Measure{}), 0o600))
	return file
}

// linerate is one command line, as in a shell without a terminal.
func linerate(args ...string) (out, errors string, status int) {
	var said, wrong bytes.Buffer
	app := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &said, Stderr: &wrong, Getenv: func(string) string { return "" }}
	status = root.Run(app, args)
	return said.String(), wrong.String(), status
}
