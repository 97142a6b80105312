package observe

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
)

// hardware adds what the machine itself is.
func (o *live) hardware(tree fs.FS) {
	text, err := fs.ReadFile(tree, "proc/meminfo")
	o.note("memory", err)
	o.host.Memory = memory(string(text))
	o.host.CPU.Governor = governor(tree)
	o.host.Machine, o.host.Cloud = readMachine(tree, o.host.CPU.Cores)
}

// bondPorts adds what only /proc says of a bond's ports: the LACP partner of
// each and the churn machines. Without CAP_NET_ADMIN the file does not have it.
func (o *live) bondPorts(tree fs.FS) {
	for i := range o.host.Links {
		name := o.host.Links[i].Name
		if o.host.Links[i].Bond == nil || o.host.Links[i].Bond.Mode != netstate.LACP {
			continue
		}
		// The thread's own namespace, not the process's.
		text, err := fs.ReadFile(tree, "proc/thread-self/net/bonding/"+name)
		if err != nil {
			o.note(name+": LACP partners", err)
			continue
		}
		told, err := procfs.ParseBonding(text)
		o.note(name, err)
		for _, p := range told.Ports {
			o.partner(name, p)
		}
	}
}

func (o *live) partner(bond string, told procfs.BondingPort) {
	for i := range o.host.Links {
		l := &o.host.Links[i]
		if l.Name == told.Name && l.Port != nil && l.Port.Bond == bond {
			l.Port.PartnerMAC, l.Port.PartnerKey = told.Port.PartnerMAC, told.Port.PartnerKey
			l.Port.ActorChurn, l.Port.PartnerChurn = told.Port.ActorChurn, told.Port.PartnerChurn
		}
	}
}

// ownEntry reports whether sysfs shows this link and not another namespace's of
// the same name.
func ownEntry(l netstate.Link) bool {
	text, err := os.ReadFile("/sys/class/net/" + l.Name + "/ifindex")
	return err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(l.Index)
}

// programs tells which of the machine's programs run. It looks when it is asked for
// the first time: on a host where no program left a trace nobody asks, and there
// may be thousands of processes. Where the first process cannot be seen, others
// cannot be expected to be (proc(5) hidepid).
func programs() alive {
	look := sync.OnceValue(running)
	return func(program string) (bool, bool) {
		names := look()
		return names[program], names != nil
	}
}

// running are the names of the programs that run; nil where nobody can tell.
func running() map[string]bool {
	var buf [64]byte // TASK_COMM_LEN is 16
	if _, err := sys.ReadAtOnce("/proc/1/comm", buf[:]); err != nil {
		return nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	entries, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	names := make(map[string]bool)
	for _, name := range entries {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if n, err := sys.ReadAtOnce("/proc/"+name+"/comm", buf[:]); err == nil { // it may have ended
			names[strings.TrimSpace(string(buf[:n]))] = true
		}
	}
	return names
}
