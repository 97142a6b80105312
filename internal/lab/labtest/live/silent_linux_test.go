package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// sockets looks for a while at the sockets that a process has open: how many
// looks found one of the kernel's own (netlink), and those that are listed
// among the others. A socket that an ioctl needs is in no list as long as it
// has no address: sending would give it one.
func (s *stand) sockets(pid int, long time.Duration) (netlink int, other []string) {
	s.t.Helper()
	dir := fmt.Sprintf("/proc/%d/", pid)
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		open, err := os.ReadDir(dir + "fd")
		if err != nil {
			return netlink, other // it has ended
		}
		for _, fd := range open {
			link, _ := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
			inode, ok := strings.CutPrefix(link, "socket:[")
			if !ok {
				continue
			}
			for _, table := range []string{"netlink", "tcp", "tcp6", "udp", "udp6", "udplite", "raw", "raw6", "icmp", "packet", "unix"} {
				switch listed := s.lists(dir+"net/"+table, strings.TrimSuffix(inode, "]")); {
				case listed && table == "netlink":
					netlink++
				case listed:
					other = append(other, table+" "+link)
				}
			}
		}
	}
	return netlink, other
}

// lists reports that a table of sockets has a field that is the inode.
func (s *stand) lists(table, inode string) bool {
	text, err := os.ReadFile(table)
	if err != nil {
		return false // a kernel without that protocol
	}
	return slices.Contains(strings.Fields(string(text)), inode)
}

// counted is everything that a namespace counts when it sends.
func (s *stand) counted(at floor.Space) map[string]uint64 {
	s.t.Helper()
	all := make(map[string]uint64)
	s.must(at.NS.Do(func() error {
		snmp, err := procfs.SNMP()
		if err != nil {
			return err
		}
		ext, err := procfs.Netstat()
		if err != nil {
			return err
		}
		for group, names := range map[string][]string{"Ip": {"OutRequests"}, "Icmp": {"OutMsgs"}, "Tcp": {"OutSegs", "OutRsts"}, "Udp": {"OutDatagrams"}} {
			for _, name := range names {
				all[group+" "+name] = uint64(snmp[group][name])
			}
		}
		all["IpExt OutOctets"] = uint64(ext["IpExt"]["OutOctets"])
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		links, err := h.Links()
		for _, l := range links {
			all[l.Name+" tx packets"] = l.Counters.TxPackets
			all[l.Name+" rx packets"] = l.Counters.RxPackets
		}
		return err
	}))
	return all
}

// TestNothingIsSent: while a host with idle connections is watched, not one
// packet leaves it, as none does when it is not watched.
func TestNothingIsSent(t *testing.T) {
	s := build(t)
	s.run(s.far, "quiet-srv", roleSink, fmt.Sprintf("%s:7006", farAddr))
	s.listening(7006)
	s.run(s.near, "quiet", roleQuiet, fmt.Sprintf("%s:7006", farAddr), "30000", "30001")
	time.Sleep(leastSteps)
	for name, during := range map[string]func(){
		"not watched": func() { time.Sleep(2 * time.Second) },
		"watched": func() {
			netlink, other := 0, []string(nil)
			doc, text := s.explainWhile(s.near, false, func(pid int) { netlink, other = s.sockets(pid, 6*time.Second) }, "--json", "--duration", "4s")
			if netlink == 0 || len(other) > 0 {
				t.Errorf("%d netlink sockets were seen, and others: %q", netlink, other)
			}
			if len(doc.Flows) != 0 || doc.Watched < 3.9 {
				t.Errorf("told of %s", text)
			}
		},
	} {
		before := s.counted(s.near)
		during()
		for what, n := range s.counted(s.near) {
			if n != before[what] {
				t.Errorf("%s: %s went from %d to %d", name, what, before[what], n)
			}
		}
	}
	if n := s.counted(s.near)["Tcp OutSegs"]; n == 0 {
		t.Error("the counters do not count")
	}
}
