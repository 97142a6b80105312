// Package runs judges what load tests show by themselves: losses, refused buffers; and
// what people say of them in sentences.
package runs

import "github.com/linerate/linerate/diagnose/pasted/scene"

// Rules are all there are about runs. Their order does not matter.
func Rules() []scene.Rule {
	return []scene.Rule{resent, resentInAll, refusedBuffer, questions, fullRun, saidRates, resync, fewUnderWay, smallRequests, oneChannelSaid, fastEthernet, fullPorts, fullByDatagrams, tokenBucket, unreadSockets}
}
