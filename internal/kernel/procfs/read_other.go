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

// Kept is nothing here.
type Kept[T any] struct{}

// Read is errors.ErrUnsupported.
func (*Kept[T]) Read() (T, error) {
	var zero T
	return zero, unsupported("/proc")
}

// Close does nothing.
func (*Kept[T]) Close() error { return nil }

// OpenStat is errors.ErrUnsupported.
func OpenStat() (*Kept[[]CPUTime], error) { return nil, unsupported("/proc/stat") }

// OpenSoftnet is errors.ErrUnsupported.
func OpenSoftnet() (*Kept[[]Softnet], error) { return nil, unsupported("/proc/net/softnet_stat") }

// OpenEvidence is errors.ErrUnsupported.
func OpenEvidence() (*Kept[map[string]uint64], error) { return nil, unsupported("/proc/net/netstat") }

// OpenDamage is errors.ErrUnsupported.
func OpenDamage() (*Kept[map[string]uint64], error) { return nil, unsupported("/proc/net/snmp") }

// OpenSwitches is errors.ErrUnsupported.
func OpenSwitches(int) (*Kept[Switches], error) { return nil, unsupported("/proc/self/task") }

// OpenRunDelay is errors.ErrUnsupported.
func OpenRunDelay(int) (*Kept[time.Duration], error) { return nil, unsupported("/proc/self/task") }
