package procfs

import (
	"fmt"
	"os"
)

// The files read. The protocol counters are the calling thread's namespace's;
// the rest is the whole machine's.
const (
	statFile    = "/proc/stat"
	softnetFile = "/proc/thread-self/net/softnet_stat"
	netstatFile = "/proc/thread-self/net/netstat"
	snmpFile    = "/proc/thread-self/net/snmp"
	cpuinfoFile = "/proc/cpuinfo"
)

func read[T any](file string, parse func([]byte) (T, error)) (T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		var zero T
		return zero, fmt.Errorf("read %s: %w", file, err)
	}
	return parse(text)
}

// Stat reads the time of each online processor since boot.
func Stat() ([]CPUTime, error) { return read(statFile, ParseStat) }

// ReadSoftnet reads the receive path's counters per processor.
func ReadSoftnet() ([]Softnet, error) { return read(softnetFile, ParseSoftnet) }

// Netstat reads the TcpExt, IpExt and MPTcpExt counters of the calling
// thread's network namespace.
func Netstat() (map[string]map[string]int64, error) { return read(netstatFile, ParseNetstat) }

// SNMP reads the Ip, Tcp, Udp and Icmp counters of the calling thread's
// network namespace.
func SNMP() (map[string]map[string]int64, error) { return read(snmpFile, ParseNetstat) }

// ReadCPUInfo reads the processors' model and number.
func ReadCPUInfo() (CPUInfo, error) { return read(cpuinfoFile, ParseCPUInfo) }
