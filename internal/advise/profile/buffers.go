package profile

import (
	"fmt"
	"maps"
	"math"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/unit"
)

const (
	// queues is how much more than a path's own is in flight while its queues
	// fill.
	queues = 1.25
	// mostBuffer is the largest that the kernel takes: it counts in an int.
	mostBuffer = math.MaxInt32
	// page is the unit of tcp_mem on every machine here but some arm64 and
	// ppc64, where it is larger.
	page = 4096
)

// direction is one of TCP's two buffers.
type direction struct {
	key, word string
	// share is the part of a buffer that may be in flight.
	share float64
}

// buffers raises TCP's most to what the largest path holds.
func (m *maker) buffers() {
	f, known := m.largest()
	if !known {
		m.leave("TCP's buffers: no path has a known rate and round trip (declare rtt, or measure it)")
		return
	}
	m.adequate(f)
}

// adequate raises the buffers where they are too small, or says that they are
// not.
func (m *maker) adequate(f flight) {
	enough := true
	for _, d := range []direction{
		{keyRmem, "window", shareOf(m.Host, keyRmem, tcp.Window)},
		{keyWmem, "in flight", shareOf(m.Host, keyWmem, tcp.SendWindow)},
	} {
		have := m.Host.SysctlInts(d.key)
		if d.share <= 0 || len(have) != 3 {
			m.leave("%s: it is unknown how much of a buffer can be in flight here", d.key)
			enough = false
			continue
		}
		need := wholeMiB(queues * float64(f.bytes) / d.share)
		if unit.Bytes(have[2]) >= min(need, unit.Bytes(float64(f.bytes)/d.share+1)) {
			continue
		}
		enough = false
		if !m.settable(d.key) {
			continue
		}
		short := ""
		if need > mostBuffer {
			need, short = mostBuffer, "; the kernel takes no more than 2 GiB less one byte, so that one stream cannot fill it"
		}
		m.set(d.key, fmt.Sprintf("%d %d %d", have[0], have[1], int64(need)), "%s, a quarter more for queues; %.2f of a buffer can be %s: %s for one stream%s%s",
			f, d.share, d.word, need, short, m.cost(need))
		m.pressure(d.key, need)
	}
	if enough {
		rmem, wmem := m.Host.SysctlInts(keyRmem), m.Host.SysctlInts(keyWmem)
		m.leave("TCP's buffers are enough as they are (%s, %s): %s", unit.Bytes(rmem[2]), unit.Bytes(wmem[2]), f)
	}
}

// cost is what buffers of a size may take of memory.
func (m *maker) cost(each unit.Bytes) string {
	streams := max(m.Streams, 1)
	if streams == 1 {
		return ""
	}
	return fmt.Sprintf("; at %d streams up to %s of memory, were all of them full at once", streams, each*unit.Bytes(streams))
}

// pressure says where memory for TCP would run out before the buffers are
// full. What it may have is a part of the machine's memory, which the kernel
// chose: it is not raised.
func (m *maker) pressure(key string, each unit.Bytes) {
	all := each * unit.Bytes(max(m.Streams, 1))
	if v := m.Host.SysctlInts("net.ipv4.tcp_mem"); len(v) == 3 && v[1] < 1<<40 && all > unit.Bytes(v[1])*page {
		m.leave("net.ipv4.tcp_mem: %s of %s could be %s, and TCP is pressed from %s on (%d pages): it gives smaller windows then; more is memory that others lack",
			key, m.everyStream(), all, unit.Bytes(v[1])*page, v[1])
	}
	if m.Host.Memory > 0 && all > m.Host.Memory/2 {
		m.leave("memory: %s of %s could be %s, more than half of the machine's %s", key, m.everyStream(), all, m.Host.Memory)
	}
}

// everyStream is the streams in words.
func (m *maker) everyStream() string {
	if m.Streams <= 1 {
		return "one stream"
	}
	return fmt.Sprintf("all %d streams", m.Streams)
}

// shareOf is the part of a growing buffer that can be in flight on the host's
// kernel, zero unknown.
func shareOf(h netstate.Host, key string, window func(netstate.Host, unit.Bytes) (unit.Bytes, string)) float64 {
	const probe = 16 * unit.MiB
	h.Sysctls = maps.Clone(h.Sysctls)
	if h.Sysctls == nil {
		h.Sysctls = map[string]netstate.Sysctl{}
	}
	for k, v := range map[string]string{
		key: fmt.Sprintf("4096 131072 %d", int64(probe)), "net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_window_scaling": "1",
	} {
		h.Sysctls[k] = netstate.Sysctl{Value: v}
	}
	usable, _ := window(h, 0)
	return float64(usable) / float64(probe)
}

func wholeMiB(bytes float64) unit.Bytes {
	return unit.Bytes(math.Ceil(bytes/float64(unit.MiB))) * unit.MiB
}
