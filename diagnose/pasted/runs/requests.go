package runs

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// detail is a number that only that tool says; zero not said.
func detail(r piece.Run, key string) float64 {
	if r.Detail[key] == "" {
		return 0
	}
	return piece.Float(r.Detail[key])
}

// Of fio: how many requests under way are few, the least time that each of few waits for it
// to be a way and not a disk's own, in microseconds, and how near their product has to come
// to the rate.
const (
	fewRequests  = 4
	leastWait    = 80
	nearRequests = 0.7
)

// fewUnderWay: a test of storage with few requests at once: their number and size over the
// time that each takes is the rate (Little's law), however fast the links are.
func fewUnderWay(v *scene.View) {
	for _, r := range v.Case.Runs {
		depth, block := detail(r, "iodepth"), detail(r, "block_bytes")
		micros := detail(r, "clat_us")
		depth *= float64(max(r.Parallel, 1))
		if r.Tool != "fio" || depth == 0 || depth > fewRequests || block == 0 || micros < leastWait || r.Rate == 0 || r.Rate > 800*unit.Mbps && scene.NearLineRate(r.Rate) {
			continue
		}
		could := unit.BitRate(depth * block * 8 / (micros / 1e6))
		if !scene.Close(r.Rate, could, nearRequests, 1/nearRequests) {
			continue
		}
		f := v.Add(record.Application, 0.72, nil, "requests under way (fio)",
			fmt.Sprintf("fio has few requests under way (%.0f of %v), and each takes %.3g ms: that is %v, which is its rate (%v). The wait for each request is the limit (the way to the storage and back, and its disks), and no link is full.", depth, unit.Bytes(block), micros/1000, could, r.Rate),
			"Keep more under way: `--ioengine=libaio --iodepth=32 --direct=1` and --numjobs, larger blocks (`--bs=1M`), or the same in the program that is slow. What a single request waits for is repaired at the storage: a log device or cache for sync writes, faster disks, fewer hops.",
			scene.Saw("fio", fmt.Sprintf("iodepth %.0f, %v, clat %.3g ms, %v", depth, unit.Bytes(block), micros/1000, r.Rate), r.Source))
		f.Ask = []scene.Missing{
			{Command: "fio with --iodepth=32 --ioengine=libaio --direct=1 and --bs=1M", Host: "the client", Why: "whether more under way carry more"},
			{Command: "ping -c 50 STORAGE; iostat -x 2", Host: "both", Why: "how much of the wait is the way, and how much the disk's"}}
		return
	}
}

// smallestRequest is what an NFS client of this century asks for at least.
const smallestRequest = 8 << 10

// smallRequests: an NFS mount that reads or writes by a few kilobytes at a time.
func smallRequests(v *scene.View) {
	for _, h := range v.Hosts {
		for _, m := range h.Mounts {
			for _, key := range []string{"wsize", "rsize"} {
				size := piece.Float(m.Options[key])
				if !scene.Contains(m.Kind, "nfs") || size == 0 || size > smallestRequest || !v.Complains() {
					continue
				}
				f := v.Add(record.Application, 0.66, h, m.Path+" ("+key+")",
					fmt.Sprintf("%s is mounted with %s=%.0f: each call carries no more than %v, so that calls, and the server's work for each, are the limit and no link is. Client and server agree on the smaller of what the mount asks for and what the server offers.", m.Path, key, size, unit.Bytes(size)),
					"Mount without rsize and wsize, or with 1048576; if the mount still shows less, the server offers no more (its max read and write size: /proc/fs/nfsd/max_block_size, MaxRead and MaxWrite of Ganesha).",
					scene.Saw("mount of "+m.Path, fmt.Sprintf("%s=%.0f", key, size), m.Source))
				f.Ask = []scene.Missing{{Command: "nfsstat -m", Host: scene.NameOf(h), Why: "the sizes that were agreed, after it is mounted again"}}
				return
			}
		}
	}
}
