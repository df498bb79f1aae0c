/** Where values of our agents are other than the reference's on purpose, and why. Only shrinks. docs/differences.md */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Deviations } from './parity.ts'

/** By catalogue. */
export const DEVIATIONS: { readonly [agent: string]: Deviations } = {
  ...(existsSync('/sys/kernel/debug/kvm')
    ? {}
    : { kvm: { 'PCP shows 0 for what a kernel without KVM does not count': /^kvm\.(?!trace\.)/ } }),
  xfs: {
    'PCP has searches and comparisons of four trees the wrong way round':
      /^xfs\.(perdev\.)?btree\.(inode|free_inode|reverse_map|refcount)\.(lookup|compare)$/,
    'PCP rounds the quotient down': /^xfs\.(perdev\.)?log\.write_ratio$/,
    'PCP shows when the time ends, not how much is left': /^quota\.project\.\w+\.time_left$/,
  },
  linux: {
    'the version is that of the agent': /^pmda\.version$/,
    'PCP shows 0 for a processor that does not count throttling': /^hinv\.cpu\.thermal_throttle\./,
    'PCP makes -1 up when mdadm cannot be run': /^disk\.md\.status$/,
    'PCP gives an interface of unknown speed a made-up one': /^network\.interface\.(speed|baudrate)$/,
    'PCP says 0 for an interface whose speed it failed to read before, in the same fetch':
      /^network\.interface\.(type|virtual)$/,
    'PCP shows 0 for an NFS server that does not run': /^rpc\.server\.ra_/,
    'PCP does not find the line of the zones': /^mem\.zoneinfo\.nr_free_pages$/,
    'PCP says 0 whatever the node’s meminfo says': /^mem\.numa\.util\.(mapped|pageTables)$/,
    'changes from one moment to the next': /^(hinv\.cpu\.clock|hinv\.cpu\.frequency_scaling\.count)$/,
  },
  proc: {
    'PCP reads columns beside those it means':
      /^(hot)?proc\.psinfo\.(priority|rt_priority|policy|policy_s|delayacct_blkio_time|guest_time|cguest_time)$/,
    'PCP shows the user for the group': /^(hot)?proc\.id\.gid(_nm)?$/,
    'PCP does not find the NUMA group': /^(hot)?proc\.psinfo\.ngid$/,
    'PCP keeps the command line a process had when it was first seen': /^(hot)?proc\.psinfo\.psargs$/,
    'PCP takes clock ticks for milliseconds': /^cgroup\.cpuacct\.stat\./,
    'PCP shows bytes a second as KB': /^hotproc\.predicate\.iodemand$/,
    'PCP shows the numbers of another process for one that it may not read': /^(hot)?proc\.io\.\w+\[1\]$/,
    'of the sample of another moment':
      /^hotproc\.(total\.|predicate\.(ctxswitch|iowait|schedwait|cpuburn|virtualsize|residentsize)$)/,
    ...(isHybrid()
      ? {
          'PCP lets the groups of version 2 hide those of version 1':
            /^cgroup\.(cpu|cpuset|cpuacct|cpusched|memory|netclass|blkio|pressure|io)\./,
        }
      : {}),
  },
}

/** The reference's agent and collector run while they answer, in the memory that the answer takes, and wait while the other side reads. */
export function whoLooks(): Deviations {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isObserver(name))
  const state = 'psinfo\\.(sname|wchan|wchan_s|vsize|rss)|(memory|smaps)\\.\\w+'
  return {
    'an observer is seen at work': new RegExp(
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

/** Are control groups of both versions mounted here? */
function isHybrid(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8')
    return / cgroup /.test(mounts) && / cgroup2 /.test(mounts)
  } catch {
    return false
  }
}
