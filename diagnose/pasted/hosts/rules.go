package hosts

import "github.com/linerate/linerate/diagnose/pasted/scene"

// Rules are all there are about hosts, their routes and programs. Their order does not matter.
func Rules() []scene.Rule {
	return []scene.Rule{
		slowerAddress,
		allowances, bursting, outsideCaps, allotted, plainCard, planned,
		laggOut, busyThreads, sleepingSlot, lostSlot, oneQueue, bsdWindow, mergedForward, evenLagg,
		badFrames, healthyRuns, singleLinks, healthyState, wholeLACP,
		halfDuplex, smallRing, paused, lossyPath, twoAnswers, missingPaths, toolWindow, socketPace,
		ownLimits, fullDisks, slowBus,
		policed, filtered, functions, asked, fullConntrack, marked, podLimits,
		busyCores, oneOfAll, allFull, threads, testThread, offloads, idleProgram, guest, busyPrograms,
		routerQueues, routerCPU, routerBonds, routerLACP, edgeOffload,
		secondInterface, cloudFlow, emptyTables, martians, cloudCap,
		speedStep, downshift, throughTunnel, radio, fullLink, fullSingle, fullClients, fullBundle,
		oneConnection, syncWrites, sambaChannels, clientChannels, secureMigration, movedAddresses,
		farNode, boundNodes, unscaledAIX, polling, unheard, solarisBuffers, hostModel, aggregates, interfaceOptions, outOfSync,
		windows, paced, stalledRuns, smallBuffers,
		guestCardsEmulated, guestLimits, guestQueue, onePath,
		standby, nearPath, oneInterface, subflowLimits, backupSubflows, meshAlone, unscaled, reversePath, stripped,
		windowsRSS, rscOff, hyperVQueues, windowsTuning, preferredLink, teamFailures,
	}
}
