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
