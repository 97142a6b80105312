package netstate

import "testing"

// TestMeaningOf holds the table against names that drivers in the kernel use.
func TestMeaningOf(t *testing.T) {
	for name, want := range map[string]CounterMeaning{
		// mlx5
		"outbound_pci_stalled_wr": CounterPCIe, "outbound_pci_buffer_overflow": CounterPCIe, "rx_pci_signal_integrity": CounterPCIe,
		"rx_pause_ctrl_phy": CounterPauseReceived, "tx_pause_ctrl_phy": CounterPauseSent, "rx_prio3_pause": CounterPauseReceived,
		"rx_out_of_buffer": CounterNoRoom, "rx_discards_phy": CounterNoRoom, "tx_discards_phy": CounterTransmitter, "rx_crc_errors_phy": CounterCable,
		"tx_queue_stopped": CounterRingFull, "tx0_stopped": CounterRingFull, "rx_steer_missed_packets": "", "rx_corrected_bits_phy": "",
		// ixgbe, i40e, ice
		"rx_missed_errors": CounterNoRoom, "rx_no_dma_resources": CounterNoRoom, "tx_restart_queue": CounterRingFull, "tx_busy": CounterRingFull,
		"rx_flow_control_xoff": CounterPauseReceived, "port.link_xoff_tx": CounterPauseSent, "port.link_xon_rx": CounterPauseReceived, "rx-3.alloc_fail": CounterNoRoom,
		"rx_csum_offload_errors": "", "tx_timeout_count": CounterTransmitter, "rx_length_errors": CounterCable, "fdir_overflow": CounterNoRoom,
		// ena, gve, virtio, veth
		"bw_in_allowance_exceeded": CounterShaped, "pps_allowance_exceeded": CounterShaped, "queue_0_tx_queue_stop": CounterRingFull, "tx_stop[0]": CounterRingFull,
		"rx_queue_0_drops": CounterNoRoom, "rx_queue_0_xdp_drops": "", "tx_queue_0_packets": "", "rx_packets": "", "peer_ifindex": "",
		"pause_frames": CounterPause, "rx_errors": CounterError,
	} {
		if got := MeaningOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
