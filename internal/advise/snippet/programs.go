package snippet

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/steer"
)

// leftToChance is for programs that no source port can be chosen for: what can
// be chosen are addresses, where the program takes several, and the number of
// connections. It is exact where addresses alone decide.
func leftToChance(program Program, req steer.PickRequest) (steer.Picked, Snippet, error) {
	w, _ := program.Workload()
	r := Snippet{Program: program, Sender: []string{}}
	if req.Proto != 0 && req.Proto != flow.TCP {
		return steer.Picked{}, r, fmt.Errorf("%s is TCP, not %s", w.What, req.Proto)
	}
	if req.Dport == 0 && len(req.Dports) == 0 {
		req.Dport = w.Port()
	}
	if w.Spread == "" && len(req.Lanes) > 1 {
		req.Lanes = req.Lanes[:1]
		r.Notes = append(r.Notes, fmt.Sprintf("%s goes to one address: the first pair alone counts", w.Name))
	}
	knob, several := w.Knob()
	if asked := req.Streams; !several && asked > 1 {
		req.Streams = 1
		r.Notes = append(r.Notes, fmt.Sprintf("one connection, and not %d: %s has no option for more", asked, w.Name))
	} else if most := knob.Most * len(req.Lanes); several && asked > most {
		return steer.Picked{}, r, fmt.Errorf("%d streams for %s: at most %d to each address (%s)", asked, w.Name, knob.Most, knob.Key)
	}
	p, err := steer.Pick(req)
	if err != nil {
		return p, r, err
	}
	r.Exact = p.Even && req.KeepsLinks(p)
	for _, l := range distinctLanes(p.Streams) {
		r.Sender = append(r.Sender, commandsFor(w.Name, l, streamsOn(p, l))...)
	}
	r.Notes = append(r.Notes, unbound(w, req, p, r.Exact)...)
	return p, r, nil
}

// streamsOn is how many of the picked streams use a pair of addresses.
func streamsOn(p steer.Picked, l flow.Lane) int {
	n := 0
	for _, s := range p.Streams {
		if s.Lane == l {
			n++
		}
	}
	return n
}

// unbound says what can be chosen for a program whose source ports cannot.
func unbound(w workload.Program, req steer.PickRequest, p steer.Picked, exact bool) []string {
	var notes []string
	reach, links, streams := req.Near.Reach(), len(req.Near.Links()), len(p.Streams)
	switch {
	case exact || links < 2:
	case reach.Ports && !reach.Striped && streams == 1:
		notes = append(notes, fmt.Sprintf("the source port of %s cannot be chosen: its one connection takes one of the %d links, and which is luck", w.Name, links))
	case reach.Ports && !reach.Striped:
		note := fmt.Sprintf("the source ports of %s cannot be chosen: the links are left to chance. %d connections use all %d links %s of the time, though not evenly", w.Name, streams, links, steer.Percent(steer.Coverage(streams, links)))
		if enough := steer.FlowsToCover(links, 0.99); enough > streams && w.More != "" {
			note += fmt.Sprintf("; %d do 99 %% of the time", enough)
		}
		notes = append(notes, note)
	case reach.Addresses && !reach.Striped && w.Spread != "":
		notes = append(notes, fmt.Sprintf("the source ports of %s cannot be chosen, and here addresses decide: `linerate steer addresses` names some that take different links", w.Name))
	case !reach.Striped:
		notes = append(notes, fmt.Sprintf("neither ports nor addresses of %s can be chosen: what can be changed is the hash, so that it goes by ports", w.Name))
	}
	if !exact && w.More != "" {
		notes = append(notes, "more connections: "+w.More)
	}
	if w.Spread != "" && len(req.Lanes) == 1 {
		notes = append(notes, "several addresses: "+w.Spread)
	}
	switch w.Name {
	case "drbd": // lines of its configuration, which is no command
		for _, l := range distinctLanes(p.Streams) {
			notes = append(notes, fmt.Sprintf("in the connection { } of the resource: path { host NEAR address %s; host FAR address %s; }", addressAndPort(l.Src), addressAndPort(l.Dst)))
		}
	case "iscsi":
		notes = append(notes, "the initiator must send from the first address of each pair, which its route to the portal decides")
	}
	return append(notes, w.Needs...)
}

// commandsFor are the lines that use one pair of addresses with so many
// connections; none where the program's settings are no command.
func commandsFor(name string, l flow.Lane, n int) []string {
	each := func(format string, args ...any) []string {
		var lines []string
		for k := range n {
			lines = append(lines, fmt.Sprintf(format, args...)+background(k, n))
		}
		return lines
	}
	dst := mountHost(l.Dst)
	switch name {
	case "smb":
		return []string{fmt.Sprintf("Set-SmbClientConfiguration -ConnectionCountPerRssNetworkInterface %d", n)}
	case "cifs":
		return []string{fmt.Sprintf("mount -t cifs -o multichannel,max_channels=%d //%s/SHARE /MOUNTPOINT", n, l.Dst)}
	case "iscsi":
		portal := fmt.Sprintf("iscsiadm -m node -T TARGET -p %s", dst)
		return []string{
			fmt.Sprintf("iscsiadm -m discovery -t sendtargets -p %s", dst),
			fmt.Sprintf("%s --op update -n node.session.nr_sessions -v %d", portal, n),
			portal + " --login",
		}
	case "nvme":
		return []string{fmt.Sprintf("nvme connect -t tcp -a %s -s 4420 -w %s --nr-io-queues=%d -n NQN", l.Dst, l.Src, n)}
	case "qemu":
		return []string{fmt.Sprintf("virsh migrate --live --parallel --parallel-connections %d GUEST qemu+ssh://%s/system tcp://%s", n, dst, dst)}
	case "proxmox":
		return each("qm migrate VMID NODE --online")
	case "ssh":
		return each("scp -o BindAddress=%s FILES USER@%s:PATH", l.Src, dst)
	case "rsync":
		return each("rsync -a -e 'ssh -b %s' SOURCE/PART USER@%s:PATH", l.Src, dst)
	case "zfs":
		return each("zfs send DATASET | ssh -b %s %s zfs receive DATASET", l.Src, l.Dst)
	case "mscp":
		return []string{fmt.Sprintf("mscp -n %d SOURCE USER@%s:PATH", n, dst)}
	case "aria2":
		return []string{fmt.Sprintf("aria2c -x %d -s %d --interface=%s URL", n, n, l.Src)}
	case "curl":
		return []string{fmt.Sprintf("curl -Z --parallel-max %d --interface %s --remote-name-all URL...", n, l.Src)}
	case "distcp":
		return []string{fmt.Sprintf("hadoop distcp -m %d SOURCE hdfs://%s/PATH", n, dst)}
	case "pg_basebackup":
		return []string{fmt.Sprintf("pg_basebackup -h %s -D DIRECTORY -X stream", l.Dst)}
	}
	return nil
}

// addressAndPort is an end of a DRBD path, each with a resource's own port.
func addressAndPort(a netip.Addr) string {
	s := netip.AddrPortFrom(a, 7788).String()
	if strings.HasPrefix(s, "[") {
		return "ipv6 " + s
	}
	return "ipv4 " + s
}
