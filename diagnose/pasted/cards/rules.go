package cards

import "github.com/linerate/linerate/diagnose/pasted/scene"

// Rules are all there are about cards. Their order does not matter.
func Rules() []scene.Rule {
	return []scene.Rule{
		slots, legacySlots, cardTotal, queuePairs, oneCoreInterrupts, unevenQueues, fullBacklog,
		slowPort, slowerThanOnce, brokenPair, stalledCard, farGPUs, speedUnread, restlessPort, guestDrops, hostDrops, kernelWords, fullSockets, wrongSums,
	}
}
