// Package topology reads which cores a machine has, how they lie to each other
// and to its memory, and which of them serve a device's interrupts. Plain
// files of /proc and /sys; it must not choose anything.
package topology

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/traffic/placement"
)

// mostCores bounds a list of cores that is read: CONFIG_NR_CPUS' largest.
const mostCores = 8192

// ParseList reads a list of numbers as the kernel prints it, such as
// "0-3,8,10-11" (bitmap_parselist(3)), ascending; "" is none.
func ParseList(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if part == "" {
			continue
		}
		first, last, ranged := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && ranged {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to >= mostCores {
			return nil, fmt.Errorf("parse list of cores: %.64q", part)
		}
		for n := from; n <= to; n++ {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ParseInterrupts reads which interrupts of /proc/interrupts belong to a
// device: those whose action names the link, such as "eth0-TxRx-3", or the
// device on its bus, such as "mlx5_comp2@pci:0000:81:00.0" or
// "virtio2-input.0" (show_interrupts in kernel/irq/proc.c).
func ParseInterrupts(text []byte, link string, devices ...string) []int {
	var out []int
	for line := range bytes.Lines(text) {
		number, rest, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 {
			continue
		}
		fields := strings.Fields(rest)
		for _, action := range fields {
			if named(action, link) || slices.ContainsFunc(devices, func(d string) bool { return d != "" && named(action, d) }) {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

// named reports whether a word of an interrupt's line names something: it
// alone, or apart from the rest by a mark that no name continues with.
func named(word, name string) bool {
	word = strings.TrimSuffix(word, ",")
	at := strings.Index(word, name)
	if at < 0 || name == "" {
		return false
	}
	before := at == 0 || strings.ContainsRune("@:-", rune(word[at-1]))
	after := at+len(name) == len(word) || strings.ContainsRune("-@:", rune(word[at+len(name)]))
	return before && after
}

// number reads a file of one number.
func number(file string) (int, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}

// Cores are the machine's cores that are online, below root ("/"). Where the
// kernel does not say how a core lies, it is taken to lie alone, on node 0.
func Cores(root string) ([]placement.Core, error) {
	dir := filepath.Join(root, "sys/devices/system/cpu")
	text, err := os.ReadFile(filepath.Join(dir, "online"))
	if err != nil {
		return nil, fmt.Errorf("read cores: %w", err)
	}
	online, err := ParseList(string(text))
	if err != nil {
		return nil, err
	}
	nodes := nodesOf(root)
	var out []placement.Core
	for _, id := range online {
		at := filepath.Join(dir, fmt.Sprintf("cpu%d", id))
		out = append(out, placement.Core{
			ID: id, Node: nodes[id], Cache: lastCache(at, id), Physical: lowest(filepath.Join(at, "topology/thread_siblings_list"), id),
		})
	}
	return out, nil
}

// Nodes is the memory node of each core that is online, below root ("/"): what
// Cores says of that, without a look at every cache.
func Nodes(root string) (map[int]int, error) {
	text, err := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/online"))
	if err != nil {
		return nil, fmt.Errorf("read cores: %w", err)
	}
	online, err := ParseList(string(text))
	if err != nil {
		return nil, err
	}
	nodes := nodesOf(root)
	out := make(map[int]int, len(online))
	for _, id := range online {
		out[id] = nodes[id]
	}
	return out, nil
}

// lowest is the first core of a list in a file; alone without one.
func lowest(file string, alone int) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return alone
	}
	if l, err := ParseList(string(b)); err == nil && len(l) > 0 {
		return l[0]
	}
	return alone
}

// lastCache is the lowest core that shares the core's cache of highest level.
func lastCache(at string, id int) int {
	best, level := id, 0
	for i := range 8 {
		index := filepath.Join(at, fmt.Sprintf("cache/index%d", i))
		n, ok := number(filepath.Join(index, "level"))
		if !ok {
			break
		}
		if n > level {
			level, best = n, lowest(filepath.Join(index, "shared_cpu_list"), id)
		}
	}
	return best
}

// nodesOf is each core's memory node.
func nodesOf(root string) map[int]int {
	nodes := make(map[int]int)
	lists, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/node/node[0-9]*/cpulist"))
	for _, file := range lists {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "node"))
		b, readErr := os.ReadFile(file)
		if err != nil || readErr != nil {
			continue
		}
		cores, err := ParseList(string(b))
		if err != nil {
			continue
		}
		for _, c := range cores {
			nodes[c] = n
		}
	}
	return nodes
}

// Link is a device's memory node and the cores that serve its interrupts,
// below root, in the network namespace that its /sys shows. A device without
// any has none; that is no error.
func Link(root, name string) placement.Link {
	l := placement.Link{Name: name, Node: -1}
	// Of a virtual function or virtio the card is one up. Not filepath.Join: it
	// would take the link that "device" is away with the dots.
	device := filepath.Join(root, "sys/class/net", name, "device")
	if name == "" || strings.ContainsAny(name, "/") {
		return l
	}
	var numbers []int
	var names []string
	for _, dir := range []string{device, device + "/.."} {
		if n, ok := number(dir + "/numa_node"); ok && l.Node < 0 {
			l.Node = n
		}
		if at, err := filepath.EvalSymlinks(dir); err == nil && dir == device {
			names = append(names, filepath.Base(at))
		}
		if len(numbers) == 0 {
			entries, _ := os.ReadDir(dir + "/msi_irqs")
			for _, e := range entries {
				if n, err := strconv.Atoi(e.Name()); err == nil {
					numbers = append(numbers, n)
				}
			}
		}
	}
	if len(names) == 0 {
		return l // no device below it
	}
	if text, err := os.ReadFile(filepath.Join(root, "proc/interrupts")); err == nil {
		numbers = append(numbers, ParseInterrupts(text, name, names...)...)
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		l.Interrupts = append(l.Interrupts, served(root, n)...)
	}
	slices.Sort(l.Interrupts)
	l.Interrupts = slices.Compact(l.Interrupts)
	return l
}

// served is the cores that serve an interrupt: where it really goes, which
// kernels from 4.14 on say, else where it may go.
func served(root string, irq int) []int {
	for _, file := range []string{"effective_affinity_list", "smp_affinity_list"} {
		b, err := os.ReadFile(filepath.Join(root, "proc/irq", strconv.Itoa(irq), file))
		if err != nil {
			continue
		}
		if cores, err := ParseList(string(b)); err == nil && len(cores) > 0 {
			return cores
		}
	}
	return nil
}
