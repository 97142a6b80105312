package sockdiag

import (
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"github.com/linerate/linerate/flow"
)

// find is the sockets of a list that hold a port of their own.
func find(t *testing.T, list []Socket, port uint16) []Socket {
	t.Helper()
	var out []Socket
	for _, s := range list {
		if s.Sport == port {
			out = append(out, s)
		}
	}
	return out
}

func portOf(a net.Addr) uint16 {
	return netip.MustParseAddrPort(a.String()).Port()
}

// lists are the two ways to the same answer.
func lists() map[string]func(Query) ([]Socket, error) {
	return map[string]func(Query) ([]Socket, error){
		"sock_diag": Sockets,
		"proc": func(q Query) ([]Socket, error) {
			all, err := readTables(q)
			return slices.DeleteFunc(all, func(s Socket) bool { return !q.wants(s) }), err
		},
	}
}

// TestKernelListsTCP opens a connection on loopback and finds both ends and
// the listener, with owner and inode.
func TestKernelListsTCP(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		listening, near := portOf(l.Addr()), portOf(c.LocalAddr())
		for name, list := range lists() {
			all, err := list(Query{Proto: flow.TCP, Listening: true})
			if err != nil {
				t.Fatal(err)
			}
			own := find(t, all, near)
			if len(own) != 1 || own[0].State != Established || own[0].Dport != listening || own[0].Src.String() != own[0].Dst.String() || own[0].Inode == 0 {
				t.Errorf("%s %s: the near end is %+v", name, at, own)
			}
			if int(own[0].UID) != syscall.Getuid() {
				t.Errorf("%s %s: owner %d, want %d", name, at, own[0].UID, syscall.Getuid())
			}
			var states []State
			for _, s := range find(t, all, listening) {
				states = append(states, s.State)
			}
			slices.Sort(states)
			if !slices.Equal(states, []State{Established, Listen}) {
				t.Errorf("%s %s: sockets of the listening port are %v", name, at, states)
			}
			only, err := list(Query{Proto: flow.TCP, Dport: listening})
			if err != nil || len(only) != 1 || only[0].Sport != near {
				t.Errorf("%s %s: connections to port %d are %+v, %v", name, at, listening, only, err)
			}
		}
	}
}

func TestKernelListsUDP(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c, err := net.Dial("udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, list := range lists() {
		all, err := list(Query{Proto: flow.UDP, Listening: true})
		if err != nil {
			t.Fatal(err)
		}
		waiting, own := find(t, all, portOf(server.LocalAddr())), find(t, all, portOf(c.LocalAddr()))
		if len(waiting) != 1 || waiting[0].State != Close || len(own) != 1 || own[0].State != Established || own[0].Dport != waiting[0].Sport {
			t.Errorf("%s: %+v and %+v", name, waiting, own)
		}
		connected, err := list(Query{Proto: flow.UDP})
		if err != nil || len(find(t, connected, portOf(server.LocalAddr()))) != 0 {
			t.Errorf("%s: a socket connected to nobody is listed unasked, %v", name, err)
		}
	}
}

func TestKernelRefusesProtocol(t *testing.T) {
	if list, err := Sockets(Query{Proto: flow.ICMP}); err == nil {
		t.Errorf("listed %v", list)
	}
}
