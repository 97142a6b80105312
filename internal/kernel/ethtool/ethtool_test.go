package ethtool

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
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
	copy(b[driverInfoFw:], "20.34.1002 (MT_0000000224)\x00")
	if driver, bus, firmware := decodeDriver(b); driver != "mlx5_core" || bus != "0000:01:00.0" || firmware != "20.34.1002 (MT_0000000224)" {
		t.Errorf("driver %q bus %q firmware %q", driver, bus, firmware)
	}
	copy(b[driverInfoFw:], "N/A\x00")
	if _, _, firmware := decodeDriver(b); firmware != "" {
		t.Errorf("firmware %q of a device without", firmware)
	}
	if driver, bus, _ := decodeDriver(b[:100]); driver != "" || bus != "" {
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
	if diff := cmp.Diff(want, decodeFeatures(featureStates(names, blocks))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = map[string]bool{"sg": true, "tso": false, "gro": true}
	if diff := cmp.Diff(want, decodeFeatures(featureStates(names, blocks[:featuresHead+featureBlock]))); diff != "" {
		t.Errorf("one block: (-want +got)\n%s", diff)
	}
}

func TestKernelFeaturesNamesAll(t *testing.T) {
	for _, f := range features {
		if len(KernelFeatures(f.name)) == 0 {
			t.Errorf("%s stands for nothing", f.name)
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

// settingsWith is an answer to ETHTOOL_GLINKSETTINGS with masks of four words.
func settingsWith(autoneg byte, own, partner []int) []byte {
	const words = 4
	b := make([]byte, linkSettingsSize+3*words*4)
	b[linkSettingsAutoneg], b[linkSettingsWords] = autoneg, words
	for i, bits := range [][]int{own, nil, partner} {
		for _, n := range bits {
			at := linkSettingsSize + (i*words+n/32)*4
			binary.NativeEndian.PutUint32(b[at:], binary.NativeEndian.Uint32(b[at:])|1<<(n%32))
		}
	}
	return b
}

func TestDecodeModes(t *testing.T) {
	on, off := true, false
	negative := settingsWith(1, nil, nil)
	negative[linkSettingsWords] = 0xfc // -4: the kernel's first answer
	for _, tc := range []struct {
		name   string
		answer []byte
		want   modes
	}{
		{"25G port whose partner offers 10G", settingsWith(1, []int{6, 12, 31}, []int{12}), modes{&on, 25 * unit.Gbps, 10 * unit.Gbps}},
		{"no partner heard", settingsWith(0, []int{6, 5}, nil), modes{&off, unit.Gbps, 0}},
		{"a port without autonegotiation", settingsWith(0, []int{10, 23}, nil), modes{nil, 40 * unit.Gbps, 0}},
		{"1.6T is beyond the third word", settingsWith(1, []int{124}, []int{93}), modes{&on, 1600 * unit.Gbps, 800 * unit.Gbps}},
		{"FEC and pause are no speeds", settingsWith(1, []int{13, 49, 50, 51, 74}, nil), modes{&on, 0, 0}},
		{"a bit newer than the table", settingsWith(1, []int{5, 127}, nil), modes{&on, unit.Gbps, 0}},
		{"without masks", negative, modes{}},
		{"short", settingsWith(1, []int{5}, nil)[:80], modes{}},
	} {
		if diff := cmp.Diff(tc.want, decodeModes(tc.answer), cmp.AllowUnexported(modes{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

// words is an answer made of 32-bit words.
func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.NativeEndian.AppendUint32(b, w)
	}
	return b
}

func TestDecodeDevice(t *testing.T) {
	if diff := cmp.Diff(&netstate.Rings{Rx: 512, Tx: 256, RxMax: 8192, TxMax: 4096}, decodeRings(words(0, 8192, 0, 0, 4096, 512, 0, 0, 256))); diff != "" {
		t.Errorf("rings (-want +got)\n%s", diff)
	}
	if r := decodeRings(make([]byte, ringsSize)); r != nil {
		t.Errorf("rings of a device without: %+v", r)
	}
	want := &netstate.Channels{Rx: 1, Tx: 2, Combined: 8, RxMax: 4, TxMax: 5, CombinedMax: 64}
	if diff := cmp.Diff(want, decodeChannels(words(0, 4, 5, 1, 64, 1, 2, 1, 8))); diff != "" {
		t.Errorf("channels (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(&netstate.Pause{Autoneg: true, Tx: true}, decodePause(words(0, 1, 0, 1))); diff != "" {
		t.Errorf("pause (-want +got)\n%s", diff)
	}
	coalesce := make([]uint32, coalesceSize/4)
	coalesce[1], coalesce[10], coalesce[22] = 16, 1, 1<<31
	if diff := cmp.Diff(map[string]int{"rx-usecs": 16, "tx-usecs": 0, "adaptive-rx": 1, "adaptive-tx": 0, "sample-interval": 1<<31 - 1}, decodeCoalesce(words(coalesce...))); diff != "" {
		t.Errorf("moderation (-want +got)\n%s", diff)
	}
	if len(coalesceNames)+1 != coalesceSize/4 {
		t.Errorf("%d names for %d words", len(coalesceNames), coalesceSize/4-1)
	}
}

// strings32 is an answer to ETHTOOL_GSTRINGS.
func strings32(names ...string) []byte {
	b := make([]byte, stringsHead+len(names)*stringSize)
	for i, n := range names {
		copy(b[stringsHead+i*stringSize:], n)
	}
	return b
}

func TestDecodeStatistics(t *testing.T) {
	names := []string{"rx_packets", "rx_crc_errors_phy", "rx_symbol_err_phy", "rx_out_of_buffer", "rx_missed_errors", "tx_pause", "rx_csum_none", "crc_zero", "rx_missed_errors", "rx-3.alloc_fail"}
	values := make([]byte, statisticsHead)
	for _, v := range []uint64{9, 7, 1 << 40, 3, 2, 5, 8, 0, 4, 6} {
		values = binary.NativeEndian.AppendUint64(values, v)
	}
	want := map[string]uint64{"rx_crc_errors_phy": 7, "rx_symbol_err_phy": 1 << 40, "rx_out_of_buffer": 3, "rx_missed_errors": 6, "tx_pause": 5, "rx-3.alloc_fail": 6}
	if diff := cmp.Diff(want, decodeStatistics(strings32(names...), values, trouble)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := decodeStatistics(strings32(names...), values[:statisticsHead+8], trouble); got != nil {
		t.Errorf("of one counter that is no trouble: %v", got)
	}
}

// TestTroubles holds the table against names that drivers in the kernel use.
func TestTroubles(t *testing.T) {
	for name, want := range map[string]bool{
		"rx_crc_errors.nic": true, "rx_fcs_errors": true, "port.rx_crc_errors": true, "rx_align_errors": true, "fec_uncorrectable_blocks": true, "rx_fec_uncorrectable": true,
		"rx_pcs_symbol_err_phy": true, "rx_discards_phy": true, "rx_no_buffer_count": true, "rx_out_of_buffer": true, "rx_no_dma_resources": true, "rx_fifo_errors": true,
		"rx_prio3_pause": true, "tx_xoff": true, "link_down_events_phy": true, "bw_in_allowance_exceeded": true, "pps_allowance_exceeded": true, "rx_queue_0_drops": true,
		"[0]: rx_discards": true, "tx_timeout": true, "rx_jabbers": true, "rx_oversize_pkts_phy": true, "rx_buff_alloc_err": true, "rx_missed_errors": true, "rx_length_errors": true,
		"rx_packets": false, "tx_bytes": false, "rx_csum_complete": false, "rx_corrected_bits_phy": false, "rx_xdp_drop": false, "tx_queue_0_packets": false, "rx_64_bytes_phy": false,
		"rx_lro_packets": false, "tx_tso_bytes": false, "rx_cache_full": false, "ch_events": false, "peer_ifindex": false,
	} {
		if got := trouble(name); got != want {
			t.Errorf("%s tells of trouble: %v, want %v", name, got, want)
		}
	}
}

func TestDecodeFixed(t *testing.T) {
	names := strings32("tx-scatter-gather", "rx-lro", "rx-gro", "tx-tcp-segmentation", "tx-tcp6-segmentation")
	blocks := make([]byte, featuresHead+featureBlock)
	binary.NativeEndian.PutUint32(blocks[featuresHead+featureAvailable:], 1<<0|1<<2|1<<3)
	binary.NativeEndian.PutUint32(blocks[featuresHead+featureNeverChanged:], 1<<2)
	// tso: one of its two can be changed.
	if diff := cmp.Diff([]string{"gro", "lro"}, decodeFixed(featureStates(names, blocks))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, settingsSize), make([]byte, 64))
	f.Add(settingsWith(1, []int{6, 31}, []int{12}), strings32("rx_crc_errors"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if speed, _ := decodeSettings(a); speed < 0 {
			t.Errorf("speed %v", speed)
		}
		decodeDriver(a)
		decodeAddress(a)
		states := featureStates(a, b)
		decodeFeatures(states)
		decodeFixed(states)
		if m := decodeModes(a); m.own < 0 || m.partner < 0 || m.own > 1600*unit.Gbps {
			t.Errorf("modes %+v", m)
		}
		if r := decodeRings(a); r != nil && (r.Rx < 0 || r.TxMax < 0) {
			t.Errorf("rings %+v", r)
		}
		decodeChannels(a)
		decodePause(a)
		for name, v := range decodeCoalesce(a) {
			if v < 0 {
				t.Errorf("%s %d", name, v)
			}
		}
		if n := len(decodeStatistics(a, b, telling)); n > keptStatistics {
			t.Errorf("%d counters", n)
		}
	})
}
