package switchlines

import "testing"

func TestDescribed(t *testing.T) {
	for text, want := range map[string]string{
		"Cisco Nexus Operating System (NX-OS) Software 9.3(8)\nTAC support: http://www.cisco.com/tac":                         "nxos",
		"Cisco IOS Software [Cupertino], Catalyst L3 Switch Software (CAT9K_IOSXE), Version 17.9.4, RELEASE SOFTWARE (fc5)":   "ios",
		"Arista Networks EOS version 4.28.3M running on an Arista Networks DCS-7050SX3-48YC8":                                 "eos",
		"Juniper Networks, Inc. qfx5120-48y-8c Ethernet Switch, kernel JUNOS 20.2R3, Build date: 2021-03-25":                  "junos",
		"Juniper Networks, Inc. mx480 internet router, kernel JUNOS 18.4R3":                                                   "",
		"Cumulus Linux version 5.6.0 running on Mellanox Technologies Ltd. MSN2700":                                           "cumulus",
		"Cumulus Linux version 3.7.12 running on Dell S4048":                                                                  "",
		"SONiC Software Version: SONiC.202205.1 - HwSku: ACS-MSN2700 - Distribution: Debian 11.5 - Kernel: 5.10.0-12-2-amd64": "sonic",
		"MikroTik RouterOS 7.12.1 (stable) CRS317-1G-16S+":                                                                    "routeros",
		"Aruba JL635A  GL.10.08.1010": "aoscx",
		"Aruba JL322A 2930M-48G-PoE+ Switch, revision WC.16.08.0001, ROM WC.17.02.0006 (/ws/swbuildm)": "procurve",
		"ProCurve J9019B Switch 2510-24, revision Q.11.17, ROM Q.10.02":                                "procurve",
		"Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC":                   "",
		"": "",
	} {
		s, ok := Described(text)
		if s.Name != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", text, s.Name, want)
		}
	}
}
