package procfs

import (
	"bytes"
	"fmt"
)

// CPUInfo is what /proc/cpuinfo says of the processors that are online.
type CPUInfo struct {
	// Model is the first processor's name; "" where the architecture's
	// cpuinfo has none (arm64).
	Model string
	// Threads is how many logical processors are online.
	Threads int
	// Cores is how many distinct physical cores they are; equal to Threads
	// where the file does not say.
	Cores int
}

// modelKeys are the keys that hold a processor's name, best first: x86,
// ppc64, s390x, arm.
var modelKeys = [...]string{"model name", "cpu", "machine", "Hardware", "Model"}

// ParseCPUInfo reads /proc/cpuinfo. Its keys differ by architecture; a text
// without a processor is an error.
func ParseCPUInfo(text []byte) (CPUInfo, error) {
	models := make(map[string]string)
	cores := make(map[[2]string]bool)
	var info CPUInfo
	var socket string
	err := lines(text, func(line []byte) error {
		k, v, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil
		}
		key, value := string(bytes.TrimSpace(k)), string(bytes.TrimSpace(v))
		if _, seen := models[key]; !seen {
			models[key] = value
		}
		switch {
		case key == "processor", bytes.HasPrefix(k, []byte("processor ")) && value != "":
			info.Threads++ // s390x writes "processor 0: version = ..."
		case key == "physical id":
			socket = value
		case key == "core id":
			cores[[2]string{socket, value}] = true
		}
		return nil
	})
	if err != nil {
		return CPUInfo{}, fmt.Errorf("parse cpuinfo: %w", err)
	}
	if info.Threads == 0 {
		return CPUInfo{}, fmt.Errorf("parse cpuinfo: no processors")
	}
	for _, key := range modelKeys {
		if m := models[key]; m != "" {
			info.Model = m
			break
		}
	}
	info.Cores = len(cores)
	if info.Cores == 0 {
		info.Cores = info.Threads
	}
	return info, nil
}
