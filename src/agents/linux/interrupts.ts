/** kernel.all.interrupts, kernel.percpu.interrupts, softirqs and their sums. /proc/interrupts, /proc/softirqs */
import type { IndomSpec, Labels } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { cpuTotal, IrqInstances, type IrqTable, parseIrqTable, rowTotal } from './irq-table.ts'

/** A file with its two instance domains: the lines, and the lines for each CPU. */
interface IrqFile {
  readonly reading: Reading<IrqTable>
  readonly total: (inst: number) => number | undefined
  readonly count: (inst: number) => number | undefined
  readonly lines: IndomSpec
  readonly cells: IndomSpec
}

type IndomTexts = Pick<IndomSpec, 'serial' | 'help' | 'text' | 'labels'>

function irqFile(
  ctx: LinuxContext,
  path: string,
  lines: IndomTexts & { readonly labelsOf?: (name: string, text: string) => Labels },
  cells: IndomTexts & { readonly labelsOf: (name: string, text: string) => Labels },
): IrqFile {
  let last: IrqTable | undefined
  const reading = new Reading(() => {
    last = parseIrqTable(ctx.file(path).scan(), last)
    return last
  })
  const byLine = new IrqInstances(false)
  const byCell = new IrqInstances(true)
  const { labelsOf: lineLabels, ...lineTexts } = lines
  const { labelsOf: cellLabels, ...cellTexts } = cells
  return {
    reading,
    total: (inst) => {
      const cell = byLine.cell(reading.value, inst)
      return cell === undefined ? undefined : rowTotal(cell.row)
    },
    count: (inst) => {
      const cell = byCell.cell(reading.value, inst)
      return cell?.row.counts[cell.column]
    },
    lines: {
      ...lineTexts,
      reading,
      instances: () => byLine.list(reading.value),
      instanceLabels: (inst) => {
        const cell = byLine.cell(reading.value, inst)
        return cell === undefined ? undefined : lineLabels?.(cell.row.name, cell.row.text)
      },
    },
    cells: {
      ...cellTexts,
      reading,
      instances: () => byCell.list(reading.value),
      instanceLabels: (inst) => {
        const table = reading.value
        const cell = byCell.cell(table, inst)
        if (cell === undefined) return undefined
        return { cpu: table.cpus[cell.column]!, ...cellLabels(cell.row.name, cell.row.text) }
      },
    },
  }
}

const irqLabels = (irq: string, irqtext: string): Labels => ({ irq, irqtext })

/** kernel.all.interrupts, kernel.percpu.interrupts and kernel.percpu.intr. */
export function interruptMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const file = irqFile(
    ctx,
    '/proc/interrupts',
    {
      serial: 4,
      help: 'Interrupt lines, by number, and kinds of interrupts that have none',
      text: 'The first word of each line of /proc/interrupts; the label irqtext is the text after the counts.',
      labels: { device_type: 'irq', indom_name: 'per irq' },
      labelsOf: irqLabels,
    },
    {
      serial: 40,
      help: 'Interrupt lines on each CPU, as LINE::cpuN',
      text: 'One instance for each count in /proc/interrupts.',
      labels: { device_type: ['irq', 'cpu'], indom_name: 'per cpu, per irq' },
      labelsOf: irqLabels,
    },
  )
  const { reading } = file
  const counter = { cluster: 4, sem: 'counter', units: 'count', reading } as const
  return {
    'kernel.all.interrupts.total': {
      ...counter,
      item: 0,
      type: 'u64',
      indom: file.lines,
      help: 'Interrupts of each line since boot, all CPUs together',
      text: 'The counts of a line of /proc/interrupts. Each CPU counts in 32 bits, so the sum decreases when one of them wraps.',
      value: file.total,
    },
    'kernel.percpu.interrupts': {
      ...counter,
      item: 1,
      type: 'u32',
      indom: file.cells,
      help: 'Interrupts of each line served by each CPU since boot',
      text: 'The individual counts of /proc/interrupts. Large machines have very many instances: kernel.all.interrupts.total and kernel.percpu.intr are the sums.',
      value: file.count,
    },
    'kernel.all.interrupts.missed': {
      ...counter,
      item: 2,
      type: 'u32',
      help: 'Interrupts whose IO-APIC trigger mode had to be corrected',
      text: 'The MIS line of /proc/interrupts, only on machines with such a controller.',
      value: () => reading.value.missed,
    },
    'kernel.all.interrupts.errors': {
      ...counter,
      item: 3,
      type: 'u32',
      help: 'Erroneous interrupts: errors on the bus between interrupt controllers',
      text: 'The ERR line (on some machines Err or BAD) of /proc/interrupts. It should not increase.',
      value: () => reading.value.errors,
    },
    'kernel.percpu.intr': {
      ...counter,
      item: 4,
      type: 'u64',
      indom: ctx.cpus,
      help: 'Interrupts of all lines served by each CPU since boot',
      text: 'The sum of a CPU column of /proc/interrupts.',
      value: (inst) => cpuTotal(reading.value, inst),
    },
  }
}

/** kernel.all.softirqs, kernel.percpu.softirqs and kernel.percpu.sirq. */
export function softirqMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const file = irqFile(
    ctx,
    '/proc/softirqs',
    {
      serial: 36,
      help: 'Kinds of deferred interrupt work',
      text: 'The first word of each line of /proc/softirqs: timers, network input and output, block devices, scheduling...',
      labels: { indom_name: 'per softirq' },
    },
    {
      serial: 41,
      help: 'Kinds of deferred interrupt work on each CPU, as NAME::cpuN',
      text: 'One instance for each count in /proc/softirqs, which has a column for every possible CPU.',
      labels: { device_type: 'cpu', indom_name: 'per cpu, per softirq' },
      labelsOf: (softirq) => ({ softirq }),
    },
  )
  const { reading } = file
  const counter = { sem: 'counter', units: 'count', reading } as const
  return {
    'kernel.all.softirqs.total': {
      ...counter,
      cluster: 82,
      item: 0,
      type: 'u64',
      indom: file.lines,
      help: 'Times each kind of deferred interrupt work ran since boot, all CPUs together',
      text: 'The counts of a line of /proc/softirqs. Each CPU counts in 32 bits, so the sum decreases when one of them wraps.',
      value: file.total,
    },
    'kernel.percpu.softirqs': {
      ...counter,
      after: 'interrupts',
      cluster: 63,
      item: 0,
      type: 'u32',
      indom: file.cells,
      help: 'Times each kind of deferred interrupt work ran on each CPU since boot',
      text: 'The individual counts of /proc/softirqs.',
      value: file.count,
    },
    'kernel.percpu.sirq': {
      ...counter,
      cluster: 63,
      item: 1,
      type: 'u64',
      indom: ctx.cpus,
      help: 'Times deferred interrupt work of any kind ran on each CPU since boot',
      text: 'The sum of a CPU column of /proc/softirqs.',
      value: (inst) => cpuTotal(reading.value, inst),
    },
  }
}
