package paste

import (
	"strings"
	"testing"
)

func TestSystems(t *testing.T) {
	for _, tc := range systemCases {
		t.Run(tc.name, func(t *testing.T) {
			c, facts := parsed(tc.text)
			wantFacts(t, facts, tc.want)
			for _, n := range c.NotRead {
				lines := strings.Split(tc.text, "\n")
				t.Errorf("not read, %v: %q", n.Source, lines[n.From-1:n.To])
			}
			if t.Failed() {
				t.Log(facts)
			}
			lines := strings.SplitAfter(tc.text, "\n")
			for from := range lines {
				parsed(strings.Join(lines[from:], ""))
				parsed(strings.Join(lines[:from], ""))
			}
		})
	}
}

func TestSystemsLists(t *testing.T) {
	c, _ := parsed(`[root@esx1:~] esxcli storage nfs list
Volume Name  Host        Share     Vmknic  Accessible  Mounted  Connections  Read-Only  isPE   Hardware Acceleration
-----------  ----------  --------  ------  ----------  -------  -----------  ---------  -----  ---------------------
ds1          192.0.2.54  /vol/ds1  None    true        true     4            false      false  Not Supported
`)
	mounts := c.Host("esx1").Mounts
	if len(mounts) != 1 || mounts[0].Device != "192.0.2.54:/vol/ds1" || mounts[0].Options["nconnect"] != "4" || mounts[0].From != 4 {
		t.Errorf("mounts: %+v", mounts)
	}

	c, _ = parsed(`C:\>route print -4
===========================================================================
Interface List
  5...00 00 5e 00 53 87 ......Some Network Adapter
  1...........................Software Loopback Interface 1
===========================================================================

IPv4 Route Table
===========================================================================
Active Routes:
Network Destination        Netmask          Gateway       Interface  Metric
          0.0.0.0          0.0.0.0        192.0.2.1        192.0.2.5     10
        192.0.2.0    255.255.255.0         On-link         192.0.2.5    266
        192.0.2.5  255.255.255.255         On-link         192.0.2.5    266
        127.0.0.0        255.0.0.0         On-link         127.0.0.1    331
===========================================================================
Persistent Routes:
  None
`)
	routes := c.Host("").Routes
	if len(routes) != 2 || routes[0].Gateway.String() != "192.0.2.1" || routes[0].Dst.Bits() != 0 || routes[0].Route.Source.String() != "192.0.2.5" || routes[1].Dst.String() != "192.0.2.0/24" {
		t.Errorf("routes: %+v", routes)
	}
	if len(c.NotRead) > 0 {
		t.Errorf("not read: %v", c.NotRead)
	}

	c, _ = parsed("CPU 0:  0.0% user,  0.0% nice,  1.2% system, 98.8% interrupt,  0.0% idle\nCPU:  0.4% user,  0.0% nice,  2.0% system,  0.1% interrupt, 97.6% idle\n")
	if cores := c.Host("").Cores; len(cores) != 2 || cores[0].ID != "0" || cores[0].Soft != 98.8 || cores[1].ID != "all" || cores[1].Idle != 97.6 {
		t.Errorf("cores: %+v", cores)
	}

	c, _ = parsed("PS C:\\> Get-IscsiConnection\n\nConnectionIdentifier : ffff-1\nInitiatorAddress     : 192.0.2.11\nInitiatorPortNumber  : 50111\nTargetAddress        : 192.0.2.50\nTargetPortNumber     : 3260\n")
	if paths := c.Host("").Paths; len(paths) != 1 || paths[0].Local != "192.0.2.11" || paths[0].Remote != "192.0.2.50" {
		t.Errorf("paths: %+v", paths)
	}
}

// A prompt of Windows names no host: what stands below is not the host's above.
func TestWindowsBelowAnother(t *testing.T) {
	_, facts := parsed("root@nas:~# ip -d link show bond0\n5: bond0: <UP> mtu 9000 state UP\nPS C:\\> Get-NetLbfoTeam\n\nName                   : SAN\nMembers                : {A, B}\nTeamingMode            : Lacp\nLoadBalancingAlgorithm : Dynamic\n")
	wantFacts(t, facts, []string{"nas: link bond0 mtu=9000", ": link SAN mode=Lacp", ": host os=windows"})
	if _, ok := facts["nas: host os"]; ok {
		t.Error("Windows' team is the other host's")
	}
}
