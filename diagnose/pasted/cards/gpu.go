package cards

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// farGPUs: GPUs of which half or more reach no network card by PCIe switches or the same root:
// what they send crosses the CPU, or two of them.
func farGPUs(v *scene.View) {
	for _, h := range v.Hosts {
		gpus, far := h.Subjects("gpu"), 0
		var evidence []record.Evidence
		for _, name := range gpus {
			if near, ok := h.Get("gpu "+name, "near"); ok && (near.Text == "NODE" || near.Text == "SYS") {
				far++
				if len(evidence) < 3 {
					evidence = append(evidence, scene.Saw("nearest card of "+name, near.Text, near.Source))
				}
			}
		}
		if len(gpus) == 0 || 2*far < len(gpus) || !v.Said("nccl_word") || !v.Complains() {
			continue
		}
		v.Add(record.CardSlot, 0.54, h, "the way between GPUs and cards",
			fmt.Sprintf("%d of %d GPUs reach every network card only through the CPU (NODE, SYS): what they send goes over its root ports, and with SYS between the sockets, which carry less than a card does, and more cards add nothing there.", far, len(gpus)),
			"Move cards or GPUs so that each GPU has a card below the same PCIe switch (PIX, PXB); let a job use GPUs that have one (NCCL_IB_HCA, CUDA_VISIBLE_DEVICES); GPUDirect RDMA (nvidia_peermem), ACS off on the switches. `nvidia-smi topo -m` shows PIX or PXB then.", evidence...).Ask = []scene.Missing{
			{Command: "lspci -tv; lspci -vv (LnkSta, ACSCtl)", Host: scene.NameOf(h), Why: "as root: which switch and root each card and GPU has, and the width of its slot"},
			{Command: "ib_write_bw -d DEVICE PEER, beside the same with --use_cuda", Host: scene.NameOf(h), Why: "what a card carries from memory, and from the GPU"}}
		return
	}
}
