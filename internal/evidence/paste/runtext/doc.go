// Package runtext reads what load tests and copies print of their runs: iperf in all its
// forms, other tools, RDMA's tests, dd, fio, scp and rsync. It judges nothing.
package runtext
