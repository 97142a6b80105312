package observe

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/kernel/topology"
	"github.com/linerate/linerate/netstate"
)

// Bounds of what is read of one device.
const (
	mostDeviceIRQs = 4096
	mostQueues     = 4096
)

// reader reads small files of a tree.
type reader struct{ tree fs.FS }

// text is a file without surrounding blanks; "" when it cannot be read.
func (r reader) text(file string) string {
	b, err := fs.ReadFile(r.tree, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// names lists a directory; nil when it cannot be read.
func (r reader) names(dir string) []string {
	entries, err := fs.ReadDir(r.tree, dir)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// placement is where a machine's devices are served.
type placement struct {
	reader
	table []topology.Interrupt
	// nodes: the machine has more than one memory node.
	nodes bool
}

// placeDevices adds to each device its memory node, its interrupts and the
// cores chosen for its queues. own says that sysfs shows the link's own entry
// and not that of another namespace's link of this name.
func placeDevices(tree fs.FS, links []netstate.Link, own func(netstate.Link) bool) {
	p := placement{reader: reader{tree}}
	read := false
	for i := range links {
		l := &links[i]
		if l.Kind != "" || !own(*l) {
			continue
		}
		if !read {
			// Once for all: with many cores and cards it is megabytes.
			text, _ := fs.ReadFile(tree, "proc/interrupts")
			p.table = topology.InterruptTable(text)
			p.nodes = p.text("sys/devices/system/node/online") != "" && p.text("sys/devices/system/node/online") != "0"
			read = true
		}
		d := netstate.Device{}
		if l.Device != nil {
			d = *l.Device
		}
		d.Node, d.IRQs = p.node(*l), p.irqs(*l)
		d.RPS, d.XPS = p.queues(*l)
		if d.Node != nil || d.IRQs != nil || d.RPS != nil || d.XPS != nil || l.Device != nil {
			l.Device = &d
		}
	}
}

// directories are where sysfs tells of the link's device: through the link and,
// as the device of a virtio link is not the card, through the bus.
func (p placement) directories(l netstate.Link) []string {
	dirs := []string{classNet + l.Name + "/device/"}
	if pciAddress.MatchString(l.PCI) {
		dirs = append(dirs, pciDevices+l.PCI+"/")
	}
	return dirs
}

// node is the device's memory node; nil on a machine with one, and where the
// firmware does not say (-1).
func (p placement) node(l netstate.Link) *int {
	if !p.nodes {
		return nil
	}
	for _, dir := range p.directories(l) {
		if n, err := strconv.Atoi(p.text(dir + "numa_node")); err == nil && n >= 0 {
			return &n
		}
	}
	return nil
}

func (p placement) irqs(l netstate.Link) []netstate.IRQ {
	numbers := make(map[int]bool)
	for _, dir := range p.directories(l) {
		for _, name := range p.names(dir + "msi_irqs") {
			if n, err := strconv.Atoi(name); err == nil {
				numbers[n] = true
			}
		}
	}
	var all []netstate.IRQ
	for _, row := range p.table {
		if len(numbers) > 0 && !numbers[row.Number] || len(numbers) == 0 && !row.Serves(l.Name, l.PCI) || row.Actions == "" {
			continue
		}
		all = append(all, netstate.IRQ{Number: row.Number, Name: row.Actions, Cores: p.served(row.Number), Counts: row.Counts})
		if len(all) == mostDeviceIRQs {
			break
		}
	}
	return all
}

// served is the cores that take an interrupt: where it really goes (Linux
// 4.14), else where it may go.
func (p placement) served(irq int) []int {
	for _, file := range []string{"effective_affinity_list", "smp_affinity_list"} {
		cores, err := topology.ParseList(p.text("proc/irq/" + strconv.Itoa(irq) + "/" + file))
		if err == nil && len(cores) > 0 {
			return cores
		}
	}
	return nil
}

// queues are the cores chosen for each queue that has a choice.
func (p placement) queues(l netstate.Link) (rps, xps []netstate.QueueCores) {
	dir := classNet + l.Name + "/queues/"
	names := p.names(strings.TrimSuffix(dir, "/"))
	for _, name := range names[:min(len(names), mostQueues)] {
		direction, number, _ := strings.Cut(name, "-")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			continue
		}
		switch direction {
		case "rx":
			rps = p.queue(rps, n, dir+name+"/rps_cpus")
		case "tx":
			xps = p.queue(xps, n, dir+name+"/xps_cpus")
		}
	}
	for _, list := range [][]netstate.QueueCores{rps, xps} {
		slices.SortFunc(list, func(a, b netstate.QueueCores) int { return cmp.Compare(a.Queue, b.Queue) })
	}
	return rps, xps
}

func (p placement) queue(list []netstate.QueueCores, n int, file string) []netstate.QueueCores {
	if cores, err := topology.ParseMask(p.text(file)); err == nil && len(cores) > 0 {
		return append(list, netstate.QueueCores{Queue: n, Cores: cores})
	}
	return list
}
