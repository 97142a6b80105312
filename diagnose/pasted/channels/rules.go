package channels

import "github.com/linerate/linerate/diagnose/pasted/scene"

// Rules are all there are about bonds, channels and switches. Their order does not matter.
func Rules() []scene.Rule {
	return []scene.Rule{
		deadPorts, oneStream,
		noAggregator, bestPath,
		blackHole, smallBridge, largeBridge, unlikeFrames, failoverPaths,
		otherBundles, evenAdapters,
		lacpSilent, noCarrier, fecMismatch, lacpSplit, lacpStates, teamPorts, teamWatches, teamHashes, useCarrier,
		lacpEvents, slowStart, delayedUp, flapping, notAdded, dimLight,
		placedFlows,
		layer2Hash, oneNextHop, roundRobin, switchHash, fewFlows, multipathHash,
		modeMismatch, portMTU, droppingMember, rateMismatch, unlikeMembers,
		perPacket, channelHash, polarised, overrun, peerless,
		emptyChannel, heldDown,
		loggedMembers, movingAddresses, secondAggregators, unevenMembers, receivedByOne, outputDrops,
		bundleSaid, lacpFrames, membersOut,
		fullLinks, innocent, plainLink, wholeChannel,
	}
}
