//go:build !linux

package procfs

import (
	"errors"
	"fmt"
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
