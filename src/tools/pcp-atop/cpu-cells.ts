/** Lines about processors and totals of processes: PRC, CPU, cpu, CPL, GPU, NUC. pcp-atop(1) */
import { formatF } from '../../base/printf.ts'
import {
  allCpuTimes,
  type CpuTimes,
  cpuCount,
  cpuScale,
  eachCpuTimes,
  eachNodeTimes,
  hardwareCounts,
  type NumberedCpuTimes,
} from './host-activity.ts'
import { blank, CELL_WIDTH, type Cell, type Level, type LineSetup, type SystemLine } from './layout.ts'
import { cpuTimeText, frequencyText, percentText, rateText, sizeText } from './values.ts'

/** Makes a cell with a name and a right-aligned text. */
export function textCell(weight: number, name: string, text: string, level?: Level): Cell {
  // A cell that is too narrow is widened to separate name and text, except for `cpuNNN w`, which has no gap.
  const gap = name.endsWith(' w') ? '' : ' '
  return { weight, text: `${name}${gap}${text.padStart(CELL_WIDTH - gap.length - name.length)}`, level }
}

/** Makes a cell with a name and a count. */
export function countCell(weight: number, name: string, count: number, perSec?: number): Cell {
  return textCell(weight, name, rateText(count, CELL_WIDTH - 1 - name.length, perSec))
}

/** Makes a cell with a name and a percentage. */
export function percentCell(weight: number, name: string, percent: number, level?: Level): Cell {
  return textCell(weight, name, percentText(percent), level)
}

/** Compares a value with its critical limit; a limit of 0 disables the check. */
export function levelOf(value: number, limit: number, almost: number): Level | undefined {
  if (limit <= 0) return undefined
  if (value >= limit) return 'critical'
  return almost > 0 && value >= (limit * almost) / 100 ? 'almost' : undefined
}

/** PRC: totals of processes and threads. */
export function processLine({ step, totals, perSec }: LineSetup): SystemLine {
  return {
    label: 'PRC',
    cells: [
      textCell(10, 'sys', cpuTimeText(totals.sysMs)),
      textCell(11, 'user', cpuTimeText(totals.userMs)),
      blank(),
      countCell(9, '#proc', totals.processes),
      countCell(4, '#trun', totals.running),
      countCell(5, '#tslpi', totals.sleeping),
      countCell(6, '#tslpu', totals.waiting),
      countCell(7, '#zombie', totals.zombies),
      countCell(3, 'clones', step.delta('kernel.all.sysfork'), perSec),
      blank(),
      totals.hasExits ? countCell(8, '#exit', totals.exits) : { weight: 8, text: 'no  procacct' },
    ],
  }
}

/** CPU, cpu, CPL, GPU and NUC. */
export function cpuLines(setup: LineSetup): readonly SystemLine[] {
  return [...processorLines(setup), loadLine(setup), ...gpuLines(setup)]
}

function processorLines(setup: LineSetup): readonly SystemLine[] {
  const { step, settings } = setup
  const count = cpuCount(step)
  const scale = cpuScale(step)
  const all = allCpuTimes(step)
  const lines: SystemLine[] = [
    {
      label: 'CPU',
      cells: shareCells(
        setup,
        all,
        scale,
        count,
        percentCell(9, 'wait', percentOf(all.wait, scale)),
        undefined,
      ),
    },
  ]
  if (count < 2) return lines
  const each = eachCpuTimes(step)
  const shown = each.filter((times) => settings.fixed || times.total - times.idle - times.wait > 0)
  if (!settings.unsorted) shown.sort((a, b) => a.idle + a.wait - b.idle - b.wait)
  for (const times of shown.slice(0, settings.maxLines.cpu)) {
    const own = times.total > 0 ? times.total : scale
    const wait = textCell(
      9,
      `cpu${String(times.number).padStart(3, '0')} w`,
      percentText(percentOf(times.wait, own)),
    )
    lines.push({ label: 'cpu', cells: shareCells(setup, times, own, 1, wait, times.inst) })
  }
  return lines
}

const busyOf = ({ total, idle, wait }: CpuTimes): number => total - idle - wait
const percentOf = (ms: number, scale: number): number => (ms * 100) / scale

/** `inst` is a processor; undefined for all of them. */
function shareCells(
  { step, settings: { limits } }: LineSetup,
  times: CpuTimes,
  scale: number,
  count: number,
  wait: Cell,
  inst: number | undefined,
): readonly Cell[] {
  const level = levelOf(percentOf(busyOf(times), scale) / count, limits.cpu, limits.almost)
  const share = (weight: number, name: string, ms: number, marked?: Level): Cell =>
    percentCell(weight, name, percentOf(ms, scale), marked)
  const cells = [
    share(11, 'sys', times.sys, level),
    share(10, 'user', times.user + times.nice, level),
    share(7, 'irq', times.irq + times.softirq),
    blank(),
    share(8, 'idle', times.idle),
    wait,
    share(2, 'steal', times.steal),
    share(3, 'guest', times.guest),
    blank(),
  ]
  const counts = hardwareCounts(step, inst)
  if (counts !== undefined) {
    const { instructions, cycles } = counts
    const mhz = cycles / step.elapsedSec / 1e6 / count
    const ratio = step.isSinceBoot
      ? 'initial'
      : formatF(cycles === 0 ? 0 : Math.trunc((instructions * 100) / cycles) / 100, 2)
    cells.push(textCell(6, 'ipc', ratio), textCell(4, 'cycl', frequencyText(mhz).trimStart()))
    // Clocks are only shown with the counts of the hardware.
    cells.push(
      inst === undefined ? frequencyCell(step.now.numbers('hinv.cpu.clock')) : { weight: 5, text: '' },
    )
  }
  return cells
}

/** The mean of the current clocks of all processors. */
function frequencyCell(clocks: ReadonlyMap<number, number>): Cell {
  if (clocks.size === 0) return { weight: 5, text: '' }
  const mean = [...clocks.values()].reduce((sum, mhz) => sum + mhz, 0) / clocks.size
  return textCell(5, 'curf', frequencyText(mean).trimStart())
}

function loadLine({ step, perSec, settings: { limits } }: LineSetup): SystemLine {
  const count = cpuCount(step)
  const load = (weight: number, minutes: number): Cell => {
    const value = step.value('kernel.all.load', minutes)
    const level = minutes === 1 ? undefined : levelOf((value / count) * 50, limits.cpu, limits.almost)
    return textCell(weight, `avg${minutes}`, loadText(value), level === 'critical' ? 'almost' : undefined)
  }
  return {
    label: 'CPL',
    cells: [
      countCell(10, 'numcpu', count),
      blank(0.2),
      load(7, 1),
      load(6, 5),
      load(5, 15),
      blank(0.4),
      countCell(9, 'csw', step.delta('kernel.all.pswitch'), perSec),
      countCell(8, 'intr', step.delta('kernel.all.intr'), perSec),
    ],
  }
}

function loadText(load: number): string {
  return formatF(load, load < 1000 ? 2 : load < 10_000 ? 1 : 0)
}

const MIB = 1024 ** 2

function gpuLines({ step, settings }: LineSetup): readonly SystemLine[] {
  const samplesOf = (inst: number): number => Math.max(1, step.delta('nvidia.samples', inst))
  return [...step.instances('nvidia.memtotal')].slice(0, settings.maxLines.gpu).map(([inst, name], i) => {
    const samples = samplesOf(inst)
    const total = step.value('nvidia.memtotal', inst)
    const mean = step.delta('nvidia.memusedaccum', inst) / samples
    const bus = step.now.text('nvidia.busid', inst) ?? name
    const card = step.now.text('nvidia.cardname', inst) ?? ''
    const full = Math.trunc // percentages are rounded down
    return {
      label: 'GPU',
      cells: [
        { weight: 11, text: `${bus.slice(-9)} ${i}`.slice(-CELL_WIDTH).padStart(CELL_WIDTH) },
        percentCell(10, 'gpubusy', full(step.delta('nvidia.gpuutilaccum', inst) / samples)),
        percentCell(9, 'membusy', full(step.delta('nvidia.memutilaccum', inst) / samples)),
        percentCell(8, 'memocc', total > 0 ? full((mean * 100) / total) : 0),
        textCell(6, 'total', sizeText(total, 'M')),
        textCell(7, 'used', sizeText(step.value('nvidia.memused', inst), 'M')),
        textCell(5, 'usavg', sizeText(mean, 'M')),
        countCell(4, '#proc', step.value('nvidia.nprocs', inst)),
        blank(),
        { weight: 3, text: card.slice(-CELL_WIDTH).padStart(CELL_WIDTH) },
      ],
    }
  })
}

/** NUC: processor utilization of each NUMA node. */
export function nodeCpuLines({ step }: LineSetup): readonly SystemLine[] {
  const nodes = eachNodeTimes(step)
  const scaleOf = ({ total }: NumberedCpuTimes): number =>
    total > 0 ? total / Math.max(1, cpuCount(step) / nodes.length) : 1
  return nodes.map((node) => {
    const scale = scaleOf(node)
    const share = (weight: number, name: string, ms: number): Cell =>
      percentCell(weight, name, percentOf(ms, scale))
    return {
      label: 'NUC',
      cells: [
        share(10, 'sys', node.sys),
        share(9, 'user', node.user),
        share(5, 'niced', node.nice),
        share(7, 'idle', node.idle),
        textCell(8, `nod${String(node.number).padStart(3, '0')} w`, percentText(percentOf(node.wait, scale))),
        share(6, 'irq', node.irq),
        share(4, 'sirq', node.softirq),
        share(2, 'steal', node.steal),
        share(3, 'guest', node.guest),
      ],
    }
  })
}

/** Bytes in a mebibyte, for throughput. */
export const MEBIBYTE: number = MIB
