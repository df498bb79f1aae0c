import { expect, test } from 'vitest'
import {
  CPU_COLUMNS,
  GUEST,
  newStat,
  parseStat,
  STEAL,
  USER,
  WAIT,
} from '../../../src/agents/linux/proc-stat.ts'
import { readTopology } from '../../../src/agents/linux/topology.ts'
import { Scanner } from '../../../src/base/scan.ts'

const scan = (text: string): Scanner => new Scanner(new TextEncoder().encode(text))
const cpu = (name: string, wait: number): string => `${name} 1 2 3 4 ${wait} 6 7 8 9 10\n`

test('reads the CPUs that are online under their own numbers', () => {
  const stat = parseStat(scan(`cpu  30 0 0 0 0\ncpu0 10 0 0 0 0\ncpu2 20 0 0 0 0\nctxt 7\n`), newStat())
  expect(stat.ids).toEqual([0, 2])
  expect(stat.perCpu[0 * CPU_COLUMNS + USER]).toBe(10)
  expect(stat.perCpu[2 * CPU_COLUMNS + USER]).toBe(20)
  expect(stat.ctxt).toBe(7)
})

test('notices CPUs that come and go', () => {
  const stat = newStat()
  parseStat(scan(cpu('cpu ', 1) + cpu('cpu0', 1) + cpu('cpu1', 1)), stat)
  expect(
    parseStat(scan(cpu('cpu ', 1) + cpu('cpu0', 1) + cpu('cpu1', 1) + cpu('cpu4', 1)), stat).ids,
  ).toEqual([0, 1, 4])
  expect(parseStat(scan(cpu('cpu ', 1) + cpu('cpu0', 1) + cpu('cpu4', 1)), stat).ids).toEqual([0, 4])
  expect(parseStat(scan(cpu('cpu ', 1) + cpu('cpu0', 1)), stat).ids).toEqual([0])
})

test('shows nothing of the reading before when the file is empty', () => {
  const stat = parseStat(scan(cpu('cpu ', 1) + cpu('cpu0', 1)), newStat())
  parseStat(scan(''), stat)
  expect(stat.ids).toEqual([])
  expect(stat.all).toEqual(new Float64Array(CPU_COLUMNS).fill(Number.NaN))
})

test('leaves columns and lines the kernel does not write without a number', () => {
  const stat = parseStat(scan('cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n'), newStat())
  expect(stat.all[USER]).toBe(1)
  expect(stat.all[WAIT]).toBeNaN()
  expect(stat.all[STEAL]).toBeNaN()
  expect(stat.perCpu[CPU_COLUMNS + GUEST]).toBeNaN()
  expect(stat.intr).toBeNaN()
  expect(stat.btime).toBeNaN()
})

test('has one CPU on a kernel that writes only the total', () => {
  const stat = parseStat(scan('cpu  5 0 0 0 0\n'), newStat())
  expect(stat.ids).toEqual([0])
  expect(stat.perCpu[USER]).toBe(5)
})

test('hides small steps back of the wait time, and no large ones', () => {
  const stat = newStat()
  const waits = (all: number, one: number): number[] => {
    parseStat(scan(cpu('cpu ', all) + cpu('cpu0', one) + cpu('cpu1', 0)), stat)
    return [stat.all[WAIT]!, stat.perCpu[WAIT]!]
  }
  expect(waits(1000, 500)).toEqual([1000, 500])
  expect(waits(999, 401)).toEqual([1000, 500])
  expect(waits(900, 400)).toEqual([900, 400])
  expect(waits(1001, 401)).toEqual([1001, 401])
})

test('ignores a CPU number no kernel has', () => {
  const stat = parseStat(scan('cpu  1 1 1 1\ncpu0 1 1 1 1\ncpu99999999 1 1 1 1\n'), newStat())
  expect(stat.ids).toEqual([0])
})

test('a kernel without NUMA has one node', () => {
  const topology = readTopology(
    () => [],
    () => undefined,
  )
  expect(topology.nodes).toEqual([0])
  expect(topology.nodeOf(7)).toBe(0)
})
