/** Rows of the process table: rates, ended processes, order, groups and tree. */
import { expect, test } from 'vitest'
import type { ProcessColumn, ProcessFamily, ProcessSample } from '../../src/model/process-sample.ts'
import { arranged, filtered } from '../../src/ui/processes/arrange.ts'
import { chartsOf } from '../../src/ui/processes/charts-of-process.ts'
import { type ProcessRow, rowsOf } from '../../src/ui/processes/rows.ts'

type Fake = { readonly pid: number } & { readonly [name in ProcessColumn]?: string | number }

function sample(at: number, family: ProcessFamily, processes: readonly Fake[]): ProcessSample {
  const columns: { [name in ProcessColumn]?: (string | number | null)[] } = {}
  const names = new Set(processes.flatMap((process) => Object.keys(process)))
  names.delete('pid')
  for (const name of names as Set<ProcessColumn>)
    columns[name] = processes.map((process) => process[name] ?? null)
  const pids = processes.map(({ pid }) => pid)
  return { at, family, pids, names: pids.map((pid) => `${String(pid).padStart(6, '0')} prog`), columns }
}

const times = (pid: number, ms: number, start = 5): Fake => ({
  pid,
  'psinfo.utime': ms,
  'psinfo.stime': 0,
  'psinfo.start_time': start,
})

test('rates are those since the sample before, of the same process only', () => {
  const before = sample(100, 'hotproc', [times(1, 1000), times(2, 1000), times(3, 9000)])
  const now = sample(110, 'hotproc', [times(1, 6000), times(2, 6000, 99), times(3, 100), times(4, 500)])
  const rows = rowsOf({ sample: now, before, newest: null })
  // 2 is another process with that PID, 3 went back, 4 was not among the busiest before.
  expect(rows.map(({ cpu }) => cpu)).toEqual([0.5, null, null, null])
})

test('a process without a sample before has the rates by which the agent chose it', () => {
  const now = sample(110, 'hotproc', [
    { ...times(1, 6000), 'predicate.cpuburn': 1.5, 'predicate.iodemand': 2 },
  ])
  expect(rowsOf({ sample: now, before: null, newest: null })).toMatchObject([
    { cpu: 1.5, io: 2048, read: null },
  ])
})

test('in the first sample after a start of the agent, the rates by which it chooses are unknown', () => {
  const idle = { ...times(1, 6000), 'predicate.cpuburn': 0, 'predicate.iodemand': 0 }
  const now = sample(110, 'hotproc', [idle, { ...idle, pid: 2 }])
  const rates = (before: ProcessSample | null): unknown =>
    rowsOf({ sample: now, before, newest: null }).map(({ cpu, io }) => [cpu, io])
  expect(rates(null)).toEqual([
    [null, null],
    [null, null],
  ])
  // Among others that burn, a process with 0 is known to rest.
  const burning = { ...times(3, 1), 'predicate.cpuburn': 1 }
  const mixed = sample(110, 'hotproc', [idle, burning])
  expect(rowsOf({ sample: mixed, before: null, newest: null }).map(({ cpu }) => cpu)).toEqual([0, 1])
  expect(rates(sample(100, 'hotproc', []))).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('where all processes are listed, a new one has used everything since the sample before', () => {
  const before = sample(100, 'proc', [times(1, 1000)])
  const now = sample(110, 'proc', [times(1, 1000), times(2, 5000, 99)])
  expect(rowsOf({ sample: now, before, newest: null }).map(({ cpu }) => cpu)).toEqual([0, 0.5])
})

test('processes that are missing later have ended, or are only not listed among the busiest', () => {
  const now = sample(100, 'hotproc', [times(1, 0), times(2, 0), times(3, 0)])
  const later = [times(1, 0), times(3, 0, 99)]
  const presence = (newest: ProcessSample): string[] =>
    rowsOf({ sample: now, before: null, newest }).map((row) => row.presence)
  expect(presence(sample(200, 'proc', later))).toEqual(['running', 'ended', 'ended'])
  expect(presence(sample(200, 'hotproc', later))).toEqual(['running', 'unlisted', 'ended'])
  expect(presence(now)).toEqual(['running', 'running', 'running'])
})

test('memory, control group, container and command are read from their columns', () => {
  const id = '3f4ad9c0b1e2d3c4b5a69788796a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a'
  const now = sample(100, 'proc', [
    {
      pid: 7,
      'psinfo.rss': 4,
      'psinfo.cgroups': `cpu:/;:/system.slice/docker-${id}.scope`,
      'psinfo.ppid': 1,
      'id.uid_nm': 'ann',
    },
  ])
  expect(rowsOf({ sample: now, before: null, newest: null })).toMatchObject([
    {
      instance: '000007',
      command: 'prog',
      memory: 4096,
      container: id,
      cgroup: `/system.slice/docker-${id}.scope`,
      parent: 1,
      user: 'ann',
      cpu: null,
    },
  ])
})

const row = (pid: number, rest: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  instance: String(pid),
  parent: null,
  command: `prog${pid}`,
  user: 'root',
  state: 'S',
  cgroup: '',
  container: '',
  cpu: null,
  memory: null,
  io: null,
  read: null,
  written: null,
  faults: null,
  presence: 'running',
  ...rest,
})

const pids = (items: ReturnType<typeof arranged>): (number | string)[] =>
  items.map((item) => (item.kind === 'process' ? item.row.pid : item.title))

test('rows are sorted with missing values last in both directions', () => {
  const rows = [row(1), row(2, { cpu: 0.5 }), row(3, { cpu: 2 })]
  expect(pids(arranged(rows, 'none', { key: 'cpu', isUp: false }))).toEqual([3, 2, 1])
  expect(pids(arranged(rows, 'none', { key: 'cpu', isUp: true }))).toEqual([2, 3, 1])
})

test('before the first rates, the largest processes are first', () => {
  const rows = [row(1, { memory: 1 }), row(2, { memory: 0 }), row(3, { memory: 9 }), row(4, { memory: 1 })]
  for (const isUp of [false, true])
    expect(pids(arranged(rows, 'none', { key: 'cpu', isUp }))).toEqual([3, 1, 4, 2])
})

test('the tree lists children below their parents, also in a cycle of reused PIDs', () => {
  const rows = [
    row(1),
    row(2, { parent: 1, cpu: 1 }),
    row(3, { parent: 1, cpu: 2 }),
    row(4, { parent: 3 }),
    row(8, { parent: 9 }),
    row(9, { parent: 8 }),
    row(10, { parent: 10 }),
  ]
  const items = arranged(rows, 'tree', { key: 'cpu', isUp: false })
  expect(items.map((item) => (item.kind === 'process' ? [item.row.pid, item.depth] : []))).toEqual([
    [1, 0],
    [3, 1],
    [4, 2],
    [2, 1],
    [10, 0],
    [8, 0],
    [9, 1],
  ])
})

test('a chain of thousands of processes is a tree too', () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => row(i + 1, { parent: i }))
  expect(arranged(rows, 'tree', { key: 'pid', isUp: true })).toHaveLength(20_000)
})

test('groups are ordered by their sums and followed by their processes', () => {
  const rows = [
    row(1, { command: '/usr/bin/a -x', cpu: 1, io: 5 }),
    row(2, { command: '/bin/b', cpu: 1.5 }),
    row(3, { command: 'a', cpu: 1 }),
  ]
  const items = arranged(rows, 'command', { key: 'cpu', isUp: false })
  expect(pids(items)).toEqual(['a', 1, 3, 'b', 2])
  expect(items[0]).toMatchObject({ count: 2, cpu: 2, io: 5, memory: null })
})

test('the filter finds all its words in PID, user, command, control group and container', () => {
  const rows = [row(12, { user: 'ann', command: 'node Server.js' }), row(13, { cgroup: '/web.slice' })]
  expect(filtered(rows, ' ANN server ').map(({ pid }) => pid)).toEqual([12])
  expect(filtered(rows, 'web').map(({ pid }) => pid)).toEqual([13])
  expect(filtered(rows, 'ann web')).toEqual([])
})

test('charts of a process select its instance, live and recorded', () => {
  const charts = chartsOf({ pid: 7, instance: '000007', command: '100%h' }, ['proc', 'hotproc'])
  expect(charts.map(({ title }) => title)).toEqual(['CPU: 100h (7)', 'Memory: 100h (7)', 'Disk: 100h (7)'])
  for (const { plots } of charts)
    for (const plot of plots)
      expect(plot).toMatchObject({ optional: true, instances: { mode: 'instance', text: '000007' } })
  const [cpu] = chartsOf({ pid: 7, instance: '000007', command: 'a' }, ['hotproc'])
  expect(cpu!.plots.map(({ expr }) => expr)).toEqual([
    'rate(hotproc.psinfo.utime)',
    'rate(hotproc.psinfo.stime)',
  ])
})
