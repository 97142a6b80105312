package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// The near host has a bond of two shaped links; behind the switch is the far
// host, whose link is wide.
const (
	rate   = 20 * unit.Mbps
	bucket = 128 * unit.KiB
	// queue is a round trip long: TCP keeps the link full through its own
	// saw-tooth.
	queue = 60 * time.Millisecond
	delay = 30 * time.Millisecond // each way
)

var nearAddr, farAddr = netip.MustParseAddr("10.91.0.1"), netip.MustParseAddr("10.91.0.2")

type stand struct {
	t              *testing.T
	near, far, mid floor.Space
	bundle         steer.Bundle
	programs       string // directory of the programs' names
}

func build(t *testing.T) *stand {
	t.Helper()
	s := &stand{t: t, near: floor.NewSpace(t, "live-near"), far: floor.NewSpace(t, "live-far"), mid: floor.NewSpace(t, "live-mid"), programs: t.TempDir()}
	s.quietIPv6()
	policy := netstate.Layer34
	spec := rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy, Miimon: 50 * time.Millisecond}
	for _, port := range []string{"eth0", "eth1"} {
		s.must(s.near.Builder.Veth(port, s.mid.Builder, "near-"+port))
		s.must(s.near.Builder.Shape(port, rate, bucket, queue))
	}
	s.must(s.near.Builder.Bond("bond0", spec, []string{"eth0", "eth1"}))
	s.must(s.mid.Builder.Bond("to-near", spec, []string{"near-eth0", "near-eth1"}))
	s.must(s.far.Builder.Veth("eth0", s.mid.Builder, "to-far"))
	s.must(s.mid.Builder.Delay("to-far", delay, 10000, false))
	s.must(s.far.Builder.Delay("eth0", delay, 10000, false))
	s.must(s.mid.Builder.Bridge("bridge0", []string{"to-near", "to-far"}))
	s.must(s.near.Builder.Address("bond0", netip.PrefixFrom(nearAddr, 24)))
	s.must(s.far.Builder.Address("eth0", netip.PrefixFrom(farAddr, 24)))
	for _, at := range []floor.Space{s.near, s.far} {
		s.must(at.Builder.Up("lo"))
	}
	s.must(s.far.Builder.Up("eth0"))
	s.settle()
	s.introduce()
	return s
}

// introduce tells both hosts each other's address for good: the neighbour
// protocol would send by itself now and then.
func (s *stand) introduce() {
	s.t.Helper()
	near, _ := s.observed(s.near).Link("bond0")
	far, _ := s.observed(s.far).Link("eth0")
	s.must(s.near.Builder.Neighbor("bond0", farAddr, far.MAC[:]))
	s.must(s.far.Builder.Neighbor("eth0", nearAddr, near.MAC[:]))
}

func (s *stand) must(err error) { s.t.Helper(); floor.Must(s.t, err) }

// quietIPv6 keeps router and neighbour discovery from sending by itself.
func (s *stand) quietIPv6() {
	s.t.Helper()
	for _, at := range []floor.Space{s.near, s.far, s.mid} {
		s.must(at.NS.Do(func() error {
			for _, which := range []string{"all", "default"} {
				if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0o644); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
			return nil
		}))
	}
}

// settle waits until both ports of both bonds carry.
func (s *stand) settle() {
	s.t.Helper()
	for begun := time.Now(); ; floor.Pause() {
		host, ok := s.observed(s.near), s.observed(s.mid)
		if len(host.UsablePorts("bond0")) == 2 && len(ok.UsablePorts("to-near")) == 2 {
			host.Kernel = kernel(s.t)
			b, err := steer.BundleOf(host, "bond0")
			s.must(err)
			s.bundle = b
			return
		}
		if time.Since(begun) > 20*time.Second {
			s.t.Fatal("the bonds' ports do not come up")
		}
	}
}

func (s *stand) observed(at floor.Space) (host netstate.Host) {
	s.t.Helper()
	s.must(at.NS.Do(func() error {
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		host.Links, err = h.Links()
		return err
	}))
	return host
}

func kernel(t *testing.T) netstate.Kernel {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	floor.Must(t, err)
	return netstate.Kernel{OS: "linux", Release: string(bytes.TrimSpace(text))}
}

// portsOn are n source ports whose connections to a far port leave by a link.
func (s *stand) portsOn(link string, n int, from, to uint16) (ports []uint16) {
	s.t.Helper()
	for port := from; len(ports) < n; port++ {
		if s.leaves(port, to) == link {
			ports = append(ports, port)
		}
	}
	return ports
}

// rowOn is the first of n ports in a row that leave by a link; iperf3's
// connection for its own talk takes the port before.
func (s *stand) rowOn(link string, n int, from, to uint16) uint16 {
	s.t.Helper()
	const most = 1000
	for row := 0; from < from+most; from++ {
		if row++; s.leaves(from, to) != link {
			row = 0
		}
		if row == n {
			return from - uint16(n) + 1
		}
	}
	s.t.Fatalf("no %d ports in a row leave by %s", n, link)
	return 0
}

// leaves is the link by which a connection to a far port leaves.
func (s *stand) leaves(port, to uint16) string {
	s.t.Helper()
	p := s.bundle.Place(flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: nearAddr, Dst: farAddr, Sport: port, Dport: to}})
	if !p.Known {
		s.t.Fatal(p.Why)
	}
	return p.Link
}

// run starts a program of its own name in a namespace; it ends with the test.
func (s *stand) run(at floor.Space, name, role string, args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	s.must(err)
	program := filepath.Join(s.programs, name)
	if _, err := os.Lstat(program); err != nil {
		s.must(os.Symlink(self, program))
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), envRole+"="+role)
	return s.start(at, cmd)
}

func (s *stand) start(at floor.Space, cmd *exec.Cmd) *exec.Cmd {
	s.t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	s.must(at.NS.Do(cmd.Start))
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.t.Failed() && said.Len() > 0 {
			s.t.Logf("%s: %s", cmd.Args, said.String())
		}
	})
	return cmd
}

// listening waits until somebody listens on a far port.
func (s *stand) listening(port int) {
	s.t.Helper()
	want := fmt.Sprintf(":%04X ", port)
	for begun := time.Now(); ; floor.Pause() {
		var text []byte
		s.must(s.far.NS.Do(func() (err error) {
			text, err = os.ReadFile("/proc/thread-self/net/tcp")
			return err
		}))
		var text6 []byte
		_ = s.far.NS.Do(func() (err error) {
			text6, err = os.ReadFile("/proc/thread-self/net/tcp6")
			return err
		})
		if bytes.Contains(text, []byte(want+"00000000:0000 0A")) || bytes.Contains(text6, []byte(want+"00000000000000000000000000000000:0000 0A")) {
			return
		}
		if time.Since(begun) > 20*time.Second {
			s.t.Fatalf("nobody listens on %d", port)
		}
	}
}

// told is `explain --live --json` of a host, and what it took.
type told struct {
	Watched float64 `json:"watched_s"`
	Answer  string  `json:"answer"`
	Flows   []struct {
		Program struct {
			Name   string  `json:"name"`
			UID    uint32  `json:"uid"`
			Hidden bool    `json:"hidden"`
			Ran    float64 `json:"busiest_thread_ratio"`
			Waited float64 `json:"busiest_thread_waited_ratio"`
		} `json:"program"`
		Sends       bool `json:"sends"`
		Connections []struct {
			Sport uint16 `json:"sport"`
			Dport uint16 `json:"dport"`
			Link  string `json:"link"`
		} `json:"connections"`
		Findings []struct {
			Cause    string            `json:"cause"`
			Summary  string            `json:"summary"`
			Evidence []record.Evidence `json:"evidence"`
		} `json:"findings"`
	} `json:"flows"`
	Findings []struct {
		Cause string `json:"cause"`
	} `json:"findings"`
	Unseen []string `json:"unseen"`

	cpu time.Duration
}

// explain runs the program as a user would, and measures its processor time.
// Nobody is root's absence.
func (s *stand) explain(at floor.Space, nobody bool, args ...string) (told, string) {
	s.t.Helper()
	return s.explainWhile(at, nobody, func(int) {}, args...)
}

// explainWhile calls a function with the running program's process number.
func (s *stand) explainWhile(at floor.Space, nobody bool, during func(pid int), args ...string) (told, string) {
	s.t.Helper()
	// By this name nobody may run it too, wherever it was built.
	cmd := exec.Command("/proc/self/exe", append([]string{"explain", "--live"}, args...)...)
	cmd.Env = append(os.Environ(), envRole+"="+roleSelf, "HOME=/tmp")
	if nobody {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	s.must(at.NS.Do(cmd.Start))
	during(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("explain --live: %v: %s", err, said.String())
	}
	var doc told
	if out.Bytes()[0] == '{' {
		s.must(json.Unmarshal(out.Bytes(), &doc))
	}
	doc.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return doc, out.String()
}
