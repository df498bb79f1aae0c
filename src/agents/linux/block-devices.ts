/** Block devices of one kind as an instance domain over /proc/diskstats. */
import type { IndomSpec, Labels } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import { DISK_COLUMNS, type DiskKind, type DiskTable } from './disk-table.ts'

/** Options of `BlockDevices`. */
export interface BlockDevicesOptions {
  readonly reading: Reading<DiskTable>
  readonly kind: DiskKind
  readonly serial: number
  readonly help: string
  readonly text: string
  readonly labels?: Labels
  /** Returns the external name of a kernel device, or undefined to leave it out; default the kernel's name. */
  readonly nameOf?: (device: string) => string | undefined
}

/** The devices of one kind, with their instances and the positions of their columns. */
export class BlockDevices {
  readonly indom: IndomSpec
  readonly reading: Reading<DiskTable>
  readonly #options: BlockDevicesOptions
  readonly #ids = new InstanceIds()
  /** Layout of the table that was indexed; names from other sources are looked up after every reading. */
  #layout = -1
  #numbers: number[] = []
  #names: string[] = []
  #lines = new Map<number, number>()

  constructor(options: BlockDevicesOptions) {
    this.#options = options
    this.reading = options.reading
    this.indom = {
      serial: options.serial,
      reading: options.reading,
      help: options.help,
      text: options.text,
      instances: () => this.list(),
      ...(options.labels === undefined
        ? {}
        : { labels: options.labels, instanceLabels: (_inst, name) => ({ device_name: name }) }),
    }
  }

  /** Instances in file order. */
  list(): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    this.#index()
    return { ids: this.#numbers, names: this.#names }
  }

  /** Number of devices. */
  get count(): number {
    this.#index()
    return this.#numbers.length
  }

  /** Returns the kernel's name of an instance; undefined if the device is gone. */
  deviceOf(inst: number): string | undefined {
    this.#index()
    const line = this.#lines.get(inst)
    return line === undefined ? undefined : this.#options.reading.value.names[line]
  }

  /** Calls `compute` with the columns and the offset of an instance; NaN if the device is gone. */
  numberOf(inst: number, compute: (columns: Float64Array, at: number) => number): number {
    this.#index()
    const line = this.#lines.get(inst)
    return line === undefined ? Number.NaN : compute(this.#options.reading.value.columns, line * DISK_COLUMNS)
  }

  /** Sums `compute` over all instances. */
  sumOf(compute: (columns: Float64Array, at: number) => number): number {
    this.#index()
    const { columns } = this.#options.reading.value
    let sum = 0
    for (const line of this.#lines.values()) sum += compute(columns, line * DISK_COLUMNS)
    return sum
  }

  #index(): void {
    const table = this.#options.reading.value
    if (table.layout === this.#layout) return
    this.#layout = table.layout
    this.#numbers = []
    this.#names = []
    this.#lines = new Map()
    const { kind, nameOf } = this.#options
    for (let line = 0; line < table.count; line++) {
      if (table.kinds[line] !== kind) continue
      const device = table.names[line]!
      const name = nameOf === undefined ? device : nameOf(device)
      if (name === undefined) continue
      const id = this.#ids.idOf(name)
      this.#numbers.push(id)
      this.#names.push(name)
      this.#lines.set(id, line)
    }
  }
}

/**
 * Returns the table of `diskstats` for devices whose names may change independently of the file. `before` is called at each
 * reading.
 */
export function namedReading(
  diskstats: Reading<DiskTable>,
  before: () => void = () => undefined,
): Reading<DiskTable> {
  let layout = 0
  return new Reading((batch) => {
    before()
    diskstats.refresh(batch)
    return { ...diskstats.value, layout: ++layout }
  })
}
