package ethtool

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

func TestDecodeSettings(t *testing.T) {
	answer := func(low, high uint16, duplex byte) []byte {
		b := make([]byte, settingsSize)
		binary.NativeEndian.PutUint16(b[settingsSpeed:], low)
		binary.NativeEndian.PutUint16(b[settingsSpeedHi:], high)
		b[settingsDuplex] = duplex
		return b
	}
	for _, tc := range []struct {
		name   string
		answer []byte
		speed  unit.BitRate
		duplex string
	}{
		{"25G", answer(25000, 0, 1), 25 * unit.Gbps, "full"},
		{"400G needs the high half", answer(400000&0xffff, 400000>>16, 1), 400 * unit.Gbps, "full"},
		{"10M half", answer(10, 0, 0), 10 * unit.Mbps, "half"},
		{"unknown", answer(0xffff, 0xffff, 0xff), 0, ""},
		{"unknown of old drivers", answer(0xffff, 0, 0xff), 0, ""},
		{"none", answer(0, 0, 1), 0, "full"},
		{"short", make([]byte, 8), 0, ""},
	} {
		if speed, duplex := decodeSettings(tc.answer); speed != tc.speed || duplex != tc.duplex {
			t.Errorf("%s: %v %q, want %v %q", tc.name, speed, duplex, tc.speed, tc.duplex)
		}
	}
}

func TestDecodeDriverAndAddress(t *testing.T) {
	b := make([]byte, driverInfoSize)
	copy(b[driverInfoDriver:], "mlx5_core\x00rest")
	copy(b[driverInfoBus:], "0000:01:00.0\x00")
	if driver, bus := decodeDriver(b); driver != "mlx5_core" || bus != "0000:01:00.0" {
		t.Errorf("driver %q bus %q", driver, bus)
	}
	if driver, bus := decodeDriver(b[:100]); driver != "" || bus != "" {
		t.Errorf("short: driver %q bus %q", driver, bus)
	}
	address := make([]byte, addressHead+32)
	binary.NativeEndian.PutUint32(address[4:], 6)
	copy(address[addressHead:], []byte{2, 0, 0, 0, 1, 0x11})
	if mac := decodeAddress(address); mac != (flow.MAC{2, 0, 0, 0, 1, 0x11}) {
		t.Errorf("address %v", mac)
	}
	binary.NativeEndian.PutUint32(address[4:], 20) // InfiniBand
	if mac := decodeAddress(address); !mac.IsZero() {
		t.Errorf("20 byte address %v", mac)
	}
}

func TestDecodeFeatures(t *testing.T) {
	kernel := []string{"tx-scatter-gather", "tx-tcp-segmentation", "", "rx-gro", "unheard-of"}
	for len(kernel) < 33 {
		kernel = append(kernel, "")
	}
	kernel = append(kernel, "rx-lro", "tx-tcp6-segmentation") // 33 and 34: the second block
	names := make([]byte, stringsHead+len(kernel)*stringSize)
	for i, n := range kernel {
		copy(names[stringsHead+i*stringSize:], n)
	}
	blocks := make([]byte, featuresHead+2*featureBlock)
	binary.NativeEndian.PutUint32(blocks[featuresHead+featureActive:], 1<<0|1<<3|1<<4)
	binary.NativeEndian.PutUint32(blocks[featuresHead+featureBlock+featureActive:], 1<<2)
	want := map[string]bool{"sg": true, "tso": true, "gro": true, "lro": false}
	if diff := cmp.Diff(want, decodeFeatures(names, blocks)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = map[string]bool{"sg": true, "tso": false, "gro": true}
	if diff := cmp.Diff(want, decodeFeatures(names, blocks[:featuresHead+featureBlock])); diff != "" {
		t.Errorf("one block: (-want +got)\n%s", diff)
	}
}

func TestKernelFeaturesNamesAll(t *testing.T) {
	for _, name := range FeatureNames() {
		if len(KernelFeatures(name)) == 0 {
			t.Errorf("%s stands for nothing", name)
		}
	}
	if got := KernelFeatures("turbo"); got != nil {
		t.Errorf("turbo = %v", got)
	}
}

func TestSpeedReason(t *testing.T) {
	for kind, known := range map[string]bool{"": true, "veth": false, "bridge": false, "dummy": false, "tun": false, "bond": false, "vlan": false} {
		if got := speedReason(kind) == ""; got != known {
			t.Errorf("speed of kind %q believed: %v, want %v", kind, got, known)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, settingsSize), make([]byte, 64))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if speed, _ := decodeSettings(a); speed < 0 {
			t.Errorf("speed %v", speed)
		}
		decodeDriver(a)
		decodeAddress(a)
		decodeFeatures(a, b)
	})
}
