/** The collectors and archives of pmdumptext. */
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import type { MetricSpec } from '../../pmapi/metric-spec.ts'
import { sendWhoami } from '../../pmapi/whoami.ts'
import { earlierOf, FOREVER, laterOf } from '../../time/arithmetic.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import type { StandardOptions } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { ArchiveBounds } from '../lib/window.ts'

export interface Source {
  /** As the user named it. */
  readonly name: string
  readonly context: Context
  /** Prefix of its metric names. */
  readonly prefix: string
}

const LOCAL = 'local:'

/** The open sources. Metrics without a source use the first one. Live and archive sources cannot be combined. */
export class Sources {
  readonly #standard: StandardOptions
  readonly #io: ToolIo
  readonly #open: Source[] = []

  constructor(standard: StandardOptions, io: ToolIo) {
    this.#standard = standard
    this.#io = io
  }

  get all(): readonly Source[] {
    return this.#open
  }

  /** Opens the sources of the options. Rejects with PcpError with the message to show. */
  async openGiven(): Promise<void> {
    const { source, hosts, archives } = this.#standard
    if (source === 'archive')
      for (const name of archives.flatMap((list) => list.split(/[,\s]+/))) await this.#archive(name)
    else if (source !== undefined) await this.#host(hosts[0] ?? LOCAL)
  }

  /** Opens the source of a metric. Rejects with PcpError with the message to show. */
  async of({ kind, source }: MetricSpec): Promise<Source> {
    if (source === undefined) return this.#open[0] ?? this.#host(LOCAL)
    const isRecorded = this.#open[0]?.context.archive !== undefined
    if (kind === 'archive') {
      if (this.#open.length > 0 && !isRecorded)
        throw new PcpError('PM_ERR_ARG', `Archive "${source}" requested after live mode was assumed.`)
      return this.#archive(source)
    }
    if (!isRecorded) return kind === 'local' ? this.#host('@', 'local') : this.#host(source)
    for (const each of this.#open) if (each.context.archive!.label.hostname === source) return each
    throw new PcpError('PM_ERR_ARG', `No archives were specified for host "${source}"`)
  }

  /** Earliest start and latest end of all archives; undefined for collectors. */
  get bounds(): ArchiveBounds | undefined {
    const all = this.#open.flatMap(({ name, context }) => {
      const bounds = boundsOf(context, { ...this.#standard, archives: [name] }, this.#io)
      return bounds ?? []
    })
    if (all.length === 0) return undefined
    return all.reduce((a, b) => ({
      start: earlierOf(a.start, b.start),
      end: a.end === FOREVER || b.end === FOREVER ? FOREVER : laterOf(a.end, b.end),
    }))
  }

  async close(): Promise<void> {
    for (const { context } of this.#open) await context.close()
  }

  async #host(name: string, source: 'host' | 'local' = 'host'): Promise<Source> {
    const known = this.#open.find((each) => each.name === name)
    if (known !== undefined) return known
    const isLocal = source === 'local' || this.#standard.source === 'local'
    const options = { ...this.#standard, source: isLocal ? 'local' : source, hosts: [name] } as const
    const context = await this.#opened(name, options)
    await sendWhoami(context, [this.#io.progname, ...this.#io.args], this.#io)
    return this.#add({ name, context, prefix: `${name}:` })
  }

  async #archive(name: string): Promise<Source> {
    const known = this.#open.find((each) => each.name === name)
    if (known !== undefined) return known
    const context = await this.#opened(name, { ...this.#standard, source: 'archive', archives: [name] })
    const { hostname } = context.archive!.label
    const other = this.#open.find((each) => each.context.archive?.label.hostname === hostname)
    if (other === undefined) return this.#add({ name, context, prefix: `${name}/` })
    await context.close()
    const { progname } = this.#io
    throw new PcpError(
      'PM_ERR_ARG',
      `Archives "${other.name}" and "${name}" are from the same host "${hostname}"\n` +
        `${progname}: Consider combining them using pmlogextract(1)`,
    )
  }

  async #opened(name: string, options: StandardOptions): Promise<Context> {
    try {
      return await openReport(options, this.#io)
    } catch (error) {
      if (!(error instanceof PcpError) || this.#io.signal.aborted) throw error
      throw new PcpError(error.code, `${name}: ${error.text}`, { cause: error })
    }
  }

  #add(source: Source): Source {
    this.#open.push(source)
    return source
  }
}
