package field

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestMain runs the tests in a lab kernel: what they put in is wholly its own.
func TestMain(m *testing.M) {
	os.Exit(floor.MainWith(m, lab.UML, floor.More{Env: envKept, Modules: []string{"act_police", "act_gact", "cls_matchall", "cls_basic", "em_cmp", "sch_ingress", "sch_fq", "sch_cake", "sch_hfsc", "sch_red", "sch_pie", "sch_codel", "sch_fq_codel", "sch_prio", "sch_sfq", "sch_choke",
		"vxlan", "geneve", "ip_gre", "ipip", "macvlan", "dummy", "nf_tables", "nft_limit", "nft_numgen", "nft_hash", "nft_ct", "nf_conntrack_bridge",
		"sch_drr", "cls_u32", "act_mirred", "act_gact", "sit", "ip6_gre", "ipvlan", "esp4", "xfrm_user", "xfrm_algo", "crypto_null", "hmac", "sha1_generic", "authenc", "nft_quota", "nft_connlimit", "nf_conntrack", "act_nat", "tcp_bbr", "nft_exthdr", "tcp_hybla", "tcp_illinois",
		"ifb", "tcp_vegas", "tcp_scalable"}}))
}
