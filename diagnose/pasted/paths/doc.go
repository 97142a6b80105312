// Package paths judges what people say in sentences of the way that packets take:
// tunnels and overlays, rates that they compare, and what helped. None of it is an
// output, so nothing of it alone is sure; Ask names the outputs that would be.
package paths

import "github.com/linerate/linerate/diagnose/pasted/scene"

// Rules are all there are about what is told. Their order does not matter.
func Rules() []scene.Rule {
	return []scene.Rule{userspaceOverlay, smallerHelped, offloadHelped, bulkLost, starved, slowOverlay, slowTool, burstingTool, boundTest, unheldUDP, flatWindow, longWindow, flowLimit, lossyDistance, fullProgram, heavyProgram, perPacket, oneQueue, managedGateway, publicAddress, wrongWay, credits, sharedUSB, twoHomes, otherSpeeds, triedRemedies, slowAtSlot, oneQueuePair, eachOfThem, slowUSB, tellStories, guestBelowHost, guestBelowLink, tunnelTakes, sharedUplink, fullGigabit, fullMultiGig, oneLane, sshOverFast, awsFlow, toldCaps, windowRound, tunnelWindow, toldWindow, ownUpload, windowsSlower, oneTest, spreadSlower, usualUDP, drowned, cutPackets, halfThrough, fasterCopy, idleLink, oneLinkHere, unknownSpeed, offloadOff, syncExport, sharedLine, filledGroup, lostShare, portsTogether, askedForOne, guestOneWay, namedWindow, toldLimit, refusedMTU, heavyLosses}
}
