package paste

// lldpCases are outputs about neighbours.
var lldpCases = []struct {
	name, text string
	want       []string // HOST: SUBJECT KEY=VALUE; "?" a switch that nobody names
}{
	{"LLDP tables", `sw1#show lldp neighbors
Capability codes:
    (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device

Device ID           Local Intf     Hold-time  Capability      Port ID
h1                  Gi1/0/1        120                        0000.5e00.5301
a-name-of-20-letterGi1/0/2        120        B               Eth1/1

Total entries displayed: 2
leaf5#show lldp neighbors
Port          Neighbor Device ID       Neighbor Port ID    TTL
---------- ------------------------ ---------------------- ---
Et2           h2                       ens2f0              120
qfx1> show lldp neighbors
Local Interface    Parent Interface    Chassis Id          Port info          System Name
xe-0/1/1           ae7                 00:00:5e:00:53:46   ens1f0             h3
`,
		[]string{"sw1: port Gi1/0/1 neighbour=h1",
			"sw1: port Gi1/0/1 neighbour_port=0000.5e00.5301",
			"sw1: port Gi1/0/2 neighbour=a-name-of-20-letter",
			"leaf5: port Et2 neighbour=h2",
			"leaf5: port Et2 neighbour_port=ens2f0",
			"qfx1: port xe-0/1/1 neighbour=h3",
			"qfx1: port xe-0/1/1 neighbour_mac=00:00:5e:00:53:46"}},
	{"LLDP details", `sw1#show lldp neighbors gi1/0/1 detail
Local Intf: Gi1/0/1
Chassis id: 0000.5e00.5301
Port id: 0000.5e00.5302
Port Description: ens2f0
System Name: h1.example.net

System Description:
Debian GNU/Linux 12

Time remaining: 116 seconds
root@h1:~# lldpctl
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    ens2f0, via: LLDP, RID: 1, Time: 0 day, 00:00:51
  Chassis:
    ChassisID:    mac 00:00:5e:00:53:e1
    SysName:      sw1
  Port:
    PortID:       ifname Gi1/0/1
    PortDescr:    h1
`,
		[]string{"sw1: port Gi1/0/1 neighbour=h1.example.net",
			"sw1: port Gi1/0/1 neighbour_description=ens2f0",
			"h1: link ens2f0 neighbour=sw1",
			"h1: link ens2f0 neighbour_port=Gi1/0/1"}},
}
