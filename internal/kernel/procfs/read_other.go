//go:build !linux

package procfs

import (
	"errors"
	"fmt"
	"time"
)

func unsupported(file string) error { return fmt.Errorf("read %s: %w", file, errors.ErrUnsupported) }

// Stat is errors.ErrUnsupported.
func Stat() ([]CPUTime, error) { return nil, unsupported("/proc/stat") }

// ReadSoftnet is errors.ErrUnsupported.
func ReadSoftnet() ([]Softnet, error) { return nil, unsupported("/proc/net/softnet_stat") }

// Netstat is errors.ErrUnsupported.
func Netstat() (map[string]map[string]int64, error) { return nil, unsupported("/proc/net/netstat") }

// SNMP is errors.ErrUnsupported.
func SNMP() (map[string]map[string]int64, error) { return nil, unsupported("/proc/net/snmp") }

// ReadCPUInfo is errors.ErrUnsupported.
func ReadCPUInfo() (CPUInfo, error) { return CPUInfo{}, unsupported("/proc/cpuinfo") }

// ThreadSwitches is errors.ErrUnsupported.
func ThreadSwitches(int) (Switches, error) { return Switches{}, unsupported("/proc/self/task") }

// Loadavg is errors.ErrUnsupported.
func Loadavg() ([3]float64, error) { return [3]float64{}, unsupported("/proc/loadavg") }

// RunDelay is errors.ErrUnsupported.
func RunDelay(int) (time.Duration, error) { return 0, unsupported("/proc/self/task") }

// Evidence is nothing here.
type Evidence struct{}

// OpenEvidence is errors.ErrUnsupported.
func OpenEvidence() (*Evidence, error) { return nil, unsupported("/proc/net/netstat") }

// Read is errors.ErrUnsupported.
func (*Evidence) Read() (map[string]uint64, error) { return nil, unsupported("/proc/net/netstat") }

// Close does nothing.
func (*Evidence) Close() error { return nil }
