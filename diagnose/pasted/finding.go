package pasted

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// Healthy is the cause of an answer that has nothing to blame.
const Healthy record.Cause = "healthy"

// Finding is what limits, or that nothing does.
type Finding struct {
	record.Finding
	Hosts []string `json:"hosts"`
	// Where is what it is about: a link, a bond, a switch's port.
	Where string `json:"where"`
	// Text is the finding as people read it, with its evidence and remedy.
	Text string `json:"text"`
}

// Missing is an output that would decide.
type Missing struct {
	Command string `json:"command"`
	Host    string `json:"host"` // "" nobody named it
	Why     string `json:"why"`
}

// On is the host that a command is for, in a sentence.
func (m Missing) On() string { return cmp.Or(m.Host, "the host") }

// Answer is what a case comes to: findings, the surest first, at least one.
type Answer struct {
	Findings []Finding
	Missing  []Missing
}

// rule is one cause's, or one of its signs'.
type rule func(*view)

// rules are all there are. Their order does not matter.
var rules = []rule{
	lacpSilent, fecMismatch, lacpSplit, lacpStates, lacpEvents, teamPorts, useCarrier,
	layer2Hash, oneNextHop, roundRobin, switchHash, placedFlows, fewFlows, multipathHash, otherBundles, oneConnection,
	windows, paced, slowPort, badFrames, stalledRuns, slots, busyCores, threads, offloads, secondInterface, cloudFlow,
	healthyRuns, singleLinks, healthyState, idleProgram, guest, evenAdapters, smallBuffers, halfDuplex, smallRing, paused, perPacket, lossyPath, toolWindow, socketPace, blackHole, smallBridge, failoverPaths, busyPrograms, emptyTables, martians, syncWrites, cloudCap, wholeLACP,
	sambaChannels, noAggregator, hostFindings,
	routerQueues, routerCPU, routerBonds, routerLACP, edgeOffload, guestCardsEmulated, guestLimits, onePath,
	windowsRSS, windowsTuning, preferredLink, teamFailures,
	laggOut, busyThreads, sleepingSlot, lostSlot, oneQueue, bsdWindow, mergedForward,
	ownLimits, fullDisks, slowBus,
	speedStep, downshift, throughTunnel, radio, fullLink, fullSingle, fullClients, fullBundle, evenLagg, standby,
	allowances, bursting, outsideCaps, allotted, plainCard, policed, filtered, functions, asked, fullConntrack, marked,
	channelHash, polarised, overrun, peerless, farNode, boundNodes, unscaledAIX, tunnelQueue, polling, unheard, solarisBuffers, hostModel, aggregates, interfaceOptions, outOfSync, cardTotal,
	nearPath, oneInterface, subflowLimits, backupSubflows, unscaled, podLimits, reversePath, tunnelFrames, stripped, standby, fullLinks, innocent, planned, plainLink, wholeChannel,
}

// leastSure is how sure a finding must be to be one.
const leastSure = 0.35

// decided is how sure a finding must be for nothing to be missing.
const decided = 0.8

// Judge is the answer to a case.
func Judge(c piece.Case) Answer {
	v := viewOf(&c)
	for _, r := range rules {
		r(v)
	}
	var a Answer
	for _, f := range v.findings {
		if f.Confidence >= leastSure && !slices.ContainsFunc(a.Findings, func(g Finding) bool { return g.Cause == f.Cause && g.Where == f.Where }) {
			a.Findings = append(a.Findings, f)
		}
	}
	slices.SortStableFunc(a.Findings, func(x, y Finding) int {
		switch {
		case x.Confidence > y.Confidence:
			return -1
		case x.Confidence < y.Confidence:
			return 1
		}
		return 0
	})
	if len(a.Findings) == 0 || a.Findings[0].Confidence < decided {
		a.Missing = v.missing()
	}
	if len(a.Findings) == 0 {
		a.Findings = []Finding{v.unknown(a.Missing)}
	}
	for i := range a.Findings {
		a.Findings[i].Text = text(a.Findings[i])
	}
	return a
}

// add notes a finding.
func (v *view) add(cause record.Cause, sure float64, host *piece.Host, where, summary, remedy string, evidence ...record.Evidence) *Finding {
	f := Finding{Where: where}
	f.Cause, f.Confidence, f.Summary, f.Remedy, f.Evidence = cause, min(sure, 0.97), summary, remedy, evidence
	f.Rate = v.best()
	if host != nil && host.Name != "" {
		f.Hosts = []string{host.Name}
	}
	v.findings = append(v.findings, f)
	return &v.findings[len(v.findings)-1]
}

// saw is one piece of evidence.
func saw(what, value string, at piece.Source) record.Evidence {
	return record.Evidence{What: what, Value: value, Source: at.String()}
}

// text is a finding in full.
func text(f Finding) string {
	out := f.Summary
	for _, e := range f.Evidence {
		out += fmt.Sprintf("\n  %s: %s (%s)", e.What, e.Value, e.Source)
	}
	if f.Remedy != "" {
		out += "\n" + f.Remedy
	}
	return out
}
