// Package probing tests what a switch does, found out by looking, on running kernels.
package probing
