/** The declared metrics and instance domains, from which an MMV file is written. docs/formats/mmv.md */
import { PcpError } from '../model/errors.ts'
import { LABEL_CLUSTER, LABEL_INDOM, LABEL_INSTANCES, LABEL_ITEM, LABEL_OPTIONAL } from '../model/labels.ts'
import type { Cell } from './cells.ts'
import type { IndomContent, MetricContent, MmvContent } from './content.ts'
import { type InstanceOptions, type InstancesOptions, type MmvLabels, textsOf } from './declare.ts'
import type { MmvLabel } from './layout.ts'

const MAX_ITEM = 1023
const MAX_SERIAL = 2047
const METRIC_NAME = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/

/** A declared metric with its values: one, or one per instance of its domain in the same order. */
export interface DeclaredMetric<Its extends Cell = Cell> {
  readonly content: Omit<MetricContent, 'indom'>
  readonly domain: DeclaredDomain | undefined
  readonly makeCell: () => Its
  readonly cells: Its[]
  readonly labels: MmvLabels | undefined
  readonly notes: MmvLabels | undefined
}

/** Callbacks for added and removed instances. */
export interface DomainWatch {
  readonly added?: (name: string, id: number, place: number) => void
  readonly removed?: (name: string) => void
}

/** A declared instance domain. All its metrics have a value for each instance. */
export class DeclaredDomain {
  readonly serial: number
  readonly rows: DeclaredMetric[] = []
  readonly #options: InstancesOptions
  readonly #ids = new Map<string, number>()
  readonly #taken = new Map<number, string>()
  readonly #labels = new Map<string, MmvLabels>()
  readonly #watches: DomainWatch[] = []
  readonly #changed: () => void
  #nextId = 0

  constructor(serial: number, options: InstancesOptions, changed: () => void) {
    this.serial = serial
    this.#options = options
    this.#changed = changed
    for (const name of options.names ?? []) this.add(name)
  }

  get names(): readonly string[] {
    return [...this.#ids.keys()]
  }

  has(name: string): boolean {
    return this.#ids.has(name)
  }

  /** Adds an instance; returns its index among the values. EEXIST for a name or identifier in use, EINVAL for invalid ones. */
  add(name: string, options: InstanceOptions = {}): number {
    const id = options.id ?? this.#freeId()
    if (this.#ids.has(name)) throw new PcpError('EEXIST', `Instance "${name}" already exists`)
    if (name === '' || name.includes('\0'))
      throw new PcpError('EINVAL', `"${name}" is not a valid instance name`)
    if (!Number.isInteger(id) || id < 0 || id >= 2 ** 31)
      throw new PcpError('EINVAL', `Instance "${name}": ${id} is not a valid instance identifier`)
    const other = this.#taken.get(id)
    if (other !== undefined)
      throw new PcpError('EEXIST', `Instance "${name}": identifier ${id} belongs to "${other}"`)
    this.#ids.set(name, id)
    this.#taken.set(id, name)
    if (options.labels !== undefined) this.#labels.set(name, options.labels)
    for (const row of this.rows) row.cells.push(row.makeCell())
    const place = this.#ids.size - 1
    for (const { added } of this.#watches) added?.(name, id, place)
    this.#changed()
    return place
  }

  /** Removes an instance and its values. */
  remove(name: string): void {
    const id = this.#ids.get(name)
    if (id === undefined) return
    const place = this.names.indexOf(name)
    this.#ids.delete(name)
    this.#taken.delete(id)
    this.#labels.delete(name)
    for (const row of this.rows) row.cells.splice(place, 1)
    for (const { removed } of this.#watches) removed?.(name)
    this.#changed()
  }

  /** Calls back for current and future instances. */
  watch(watch: DomainWatch): void {
    this.#watches.push(watch)
    let place = 0
    for (const [name, id] of this.#ids) watch.added?.(name, id, place++)
  }

  content(): IndomContent {
    return {
      serial: this.serial,
      ids: [...this.#ids.values()],
      names: this.names,
      texts: textsOf(this.#options),
    }
  }

  /** Labels of the domain and of its instances. */
  labels(): MmvLabel[] {
    const { labels } = this.#options
    return [
      ...labelRecord(LABEL_INDOM, this.serial, -1, labels),
      // PCP's agent reads only one label from a record of an instance.
      ...[...this.#labels].flatMap(([name, its]) =>
        Object.entries(its).flatMap(([label, value]) =>
          labelRecord(LABEL_INSTANCES, this.serial, this.#ids.get(name)!, { [label]: value }),
        ),
      ),
    ]
  }

  /** Identifiers are never reused: clients would take a new instance for the old one. */
  #freeId(): number {
    while (this.#taken.has(this.#nextId)) this.#nextId++
    return this.#nextId++
  }
}

/** All domains and metrics of one file. */
export class MetricCatalogue {
  readonly rows: DeclaredMetric[] = []
  readonly #domains: DeclaredDomain[] = []
  readonly #labels: MmvLabels | undefined
  readonly #cluster: number
  readonly #changed: () => void

  /** `changed` is called after declarations and when instances are added or removed. */
  constructor(cluster: number, labels: MmvLabels | undefined, changed: () => void) {
    this.#cluster = cluster
    this.#labels = labels
    this.#changed = changed
  }

  /** Declares a domain. EEXIST if its serial is in use. */
  addDomain(options: InstancesOptions): DeclaredDomain {
    const serial = numberFor('serial', options.serial, 1, MAX_SERIAL, (wanted) =>
      this.#domains.some((domain) => domain.serial === wanted),
    )
    const domain = new DeclaredDomain(serial, options, this.#changed)
    this.#domains.push(domain)
    this.#changed()
    return domain
  }

  /** Declares a metric. EEXIST if its name or item is in use, EINVAL if one is invalid, E2BIG if no item is left. */
  addRow<Its extends Cell>(
    content: Omit<MetricContent, 'indom' | 'item'> & { readonly item: number | undefined },
    { domain, makeCell, labels, notes }: Omit<DeclaredMetric<Its>, 'content' | 'cells'>,
  ): DeclaredMetric<Its> {
    const { name } = content
    if (!METRIC_NAME.test(name)) throw new PcpError('EINVAL', `"${name}" is not a valid metric name`)
    if (this.rows.some((row) => row.content.name === name))
      throw new PcpError('EEXIST', `Metric ${name} already exists`)
    const item = numberFor(`${name}: item`, content.item, 0, MAX_ITEM, (wanted) =>
      this.rows.some((row) => row.content.item === wanted),
    )
    const cells = (domain?.names ?? ['']).map(makeCell)
    const row: DeclaredMetric<Its> = { content: { ...content, item }, domain, makeCell, cells, labels, notes }
    this.rows.push(row)
    domain?.rows.push(row)
    this.#changed()
    return row
  }

  /** Contents of a file; values in the order of `rows` and their cells. */
  content(): Pick<MmvContent, 'indoms' | 'metrics' | 'labels'> {
    const indoms = new Map(this.#domains.map((domain) => [domain, domain.content()]))
    return {
      indoms: [...indoms.values()],
      metrics: this.rows.map(({ content, domain }) => ({
        ...content,
        indom: domain === undefined ? undefined : indoms.get(domain),
      })),
      labels: [
        ...(this.#cluster === 0 ? [] : labelRecord(LABEL_CLUSTER, this.#cluster, -1, this.#labels)),
        ...this.#domains.flatMap((domain) => domain.labels()),
        ...this.rows.flatMap(({ content, labels, notes }) => [
          // The cluster is unknown if the agent chooses it, so each metric has the labels of all.
          ...labelRecord(LABEL_ITEM, content.item, -1, {
            ...(this.#cluster === 0 ? this.#labels : {}),
            ...labels,
          }),
          ...labelRecord(LABEL_ITEM | LABEL_OPTIONAL, content.item, -1, notes),
        ]),
      ],
    }
  }
}

/** Checks the wanted number, or returns a free one. */
function numberFor(
  what: string,
  wanted: number | undefined,
  least: number,
  most: number,
  isTaken: (number: number) => boolean,
): number {
  let number = wanted ?? least
  if (wanted === undefined) while (isTaken(number)) number++
  else if (isTaken(wanted)) throw new PcpError('EEXIST', `${what} ${wanted} is already in use`)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  if (wanted === undefined)
    throw new PcpError('E2BIG', `${what}: all numbers from ${least} to ${most} are in use`)
  throw new PcpError('EINVAL', `${what} ${wanted} is not from ${least} to ${most}`)
}

/** Joins the labels of an object in one record, because the number of records per file is limited. */
function labelRecord(flags: number, id: number, inst: number, labels: MmvLabels | undefined): MmvLabel[] {
  return labels === undefined || Object.keys(labels).length === 0
    ? []
    : [{ flags, id, inst, json: JSON.stringify(labels) }]
}
