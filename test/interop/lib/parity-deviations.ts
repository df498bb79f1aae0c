/** Intended differences between values of our agents and the reference's, with reasons. Only shrinks. docs/explanation/differences.md */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Deviations } from './parity.ts'

/** By catalog. */
export const DEVIATIONS: { readonly [agent: string]: Deviations } = {
  ...(existsSync('/sys/kernel/debug/kvm')
    ? {}
    : { kvm: { 'PCP shows 0 for what a kernel without KVM does not count': /^kvm\.(?!trace\.)/ } }),
  xfs: {
    'PCP swaps searches and comparisons of four trees':
      /^xfs\.(perdev\.)?btree\.(inode|free_inode|reverse_map|refcount)\.(lookup|compare)$/,
    'PCP rounds the quotient down': /^xfs\.(perdev\.)?log\.write_ratio$/,
    'PCP shows the end time, not the time left': /^quota\.project\.\w+\.time_left$/,
  },
  linux: {
    "the version is the agent's own": /^pmda\.version$/,
    'PCP shows 0 for a processor that does not count throttling': /^hinv\.cpu\.thermal_throttle\./,
    'PCP returns -1 if mdadm cannot be run': /^disk\.md\.status$/,
    'PCP invents the speed of an interface of unknown speed': /^network\.interface\.(speed|baudrate)$/,
    'PCP shows 0 for an interface whose speed it failed to read earlier in the same fetch':
      /^network\.interface\.(type|virtual)$/,
    'PCP shows 0 for an NFS server that does not run': /^rpc\.server\.ra_/,
    'PCP does not find the line of the zones': /^mem\.zoneinfo\.nr_free_pages$/,
    'PCP always shows 0 instead of the value in the node’s meminfo': /^mem\.numa\.util\.(mapped|pageTables)$/,
    'changes from one moment to the next': /^(hinv\.cpu\.clock|hinv\.cpu\.frequency_scaling\.count)$/,
  },
  proc: {
    'PCP reads the wrong columns':
      /^(hot)?proc\.psinfo\.(priority|rt_priority|policy|policy_s|delayacct_blkio_time|guest_time|cguest_time)$/,
    'PCP shows the user instead of the group': /^(hot)?proc\.id\.gid(_nm)?$/,
    'PCP does not find the NUMA group': /^(hot)?proc\.psinfo\.ngid$/,
    'PCP keeps the command line a process had when it was first seen': /^(hot)?proc\.psinfo\.psargs$/,
    'PCP takes clock ticks for milliseconds': /^cgroup\.cpuacct\.stat\./,
    'PCP shows bytes a second as KB': /^hotproc\.predicate\.iodemand$/,
    'PCP shows the values of another process for an unreadable one': /^(hot)?proc\.io\.\w+\[1\]$/,
    'sampled at another time':
      /^hotproc\.(total\.|predicate\.(ctxswitch|iowait|schedwait|cpuburn|virtualsize|residentsize)$)/,
    ...(isHybrid()
      ? {
          'PCP lets the groups of version 2 hide those of version 1':
            /^cgroup\.(cpu|cpuset|cpuacct|cpusched|memory|netclass|blkio|pressure|io)\./,
        }
      : {}),
  },
}

/** Processes of the reference's agent and collector: they run while they reply, using memory, and wait while the other side reads. */
export function observerDeviations(): Deviations {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isObserver(name))
  const state = 'psinfo\\.(sname|wchan|wchan_s|vsize|rss)|(memory|smaps)\\.\\w+'
  return {
    'an observer affects its own values': new RegExp(
      `^(hot)?proc\\.(${state})\\[(${[process.pid, ...pids].join('|')})\\]$`,
    ),
  }
}

function isObserver(pid: string): boolean {
  try {
    return /^(pmdaproc|pmcd)\n$/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'))
  } catch {
    return false // ended since it was listed
  }
}

/** Returns whether control groups of both versions are mounted. */
function isHybrid(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8')
    return / cgroup /.test(mounts) && / cgroup2 /.test(mounts)
  } catch {
    return false
  }
}
