/** Writes pmrep's report to an archive. pmrep(1) -o archive */

import { dirname } from 'node:path'
import { ArchiveImport } from '../../archive/import/archive-import.ts'
import type { ImportMetric } from '../../archive/import/import-metric.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { PM_SEM_DISCRETE } from '../../model/types.ts'
import { archiveAccess } from '../../sys/archive-access.ts'
import { archiveOutput } from '../../sys/archive-output.ts'
import { loadConfig } from '../../sys/config.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { Reporter, ReportPlan, Sample } from '../lib/report/report.ts'
import type { Cell } from '../lib/report/values.ts'
import type { ToolIo } from '../lib/tool.ts'

export class ArchiveReporter implements Reporter {
  readonly #plan: ReportPlan
  readonly #archive: ArchiveImport
  readonly #members = new Map<ReportMetric, ImportMetric>()
  /** Numbers of instances written, by number in the source and by name, for each instance domain. */
  readonly #instances = new Map<number, Map<number | string, number>>()
  /** Last values of discrete metrics, which are only written when they change. */
  readonly #written = new Map<string, Cell>()

  constructor(plan: ReportPlan, file: string, io: ToolIo) {
    this.#plan = plan
    const { PCP_ARCHIVE_VERSION } = io.env
    this.#archive = new ArchiveImport(
      archiveOutput(file, {
        ...archiveAccess(dirname(file), loadConfig(io.env).variables),
        bufferBytes: 1 << 16,
      }),
      {
        version: PCP_ARCHIVE_VERSION === '3' ? 3 : 2,
        hostname: plan.host,
        timezone: plan.zone.name,
        pid: process.pid,
        sharesFirstWords: true,
      },
    )
  }

  async begin(): Promise<void> {
    const { metrics, settings } = this.#plan
    for (const metric of metrics) {
      const { pmid, type, indom, sem, units } = metric.desc
      const member = this.#archive.addMetric(metric.name, { pmid, type, sem, units, indom })
      this.#members.set(metric, member)
      if (settings.include_texts) await this.#addTexts(metric)
    }
  }

  sample({ time, values }: Sample): void {
    for (const [i, metric] of this.#plan.metrics.entries()) {
      const cells = values[i]!
      const { insts } = cells
      const member = this.#members.get(metric)
      const put = new Set<number>()
      for (let k = 0; k < cells.size; k++) {
        const cell = cells.at(k)
        if (member === undefined || cell === undefined || this.#isKnown(metric, insts[k]!, cell)) continue
        if (!metric.hasInstances) {
          this.#archive.put(member, cell)
          continue
        }
        const inst = this.#instance(metric, insts[k]!)
        // Of two instances with one name, an archive by names has the first.
        if (!put.has(inst)) this.#archive.put(member, cell, inst)
        put.add(inst)
      }
    }
    this.#write(time)
  }

  end(): void {
    this.#archive.close()
  }

  #write(time: Timestamp): void {
    try {
      this.#archive.write(time)
    } catch (error) {
      const known = PcpError.from(error)
      throw new PcpError(known.code, `Cannot write the archive: ${known.message}`, { cause: error })
    }
  }

  #isKnown({ name, desc }: ReportMetric, inst: number, cell: Cell): boolean {
    if (desc.sem !== PM_SEM_DISCRETE) return false
    const key = `${name} ${inst}`
    if (this.#written.get(key) === cell) return true
    this.#written.set(key, cell)
    return false
  }

  #instance(metric: ReportMetric, inst: number): number {
    const { indom } = metric.desc
    const known = this.#instances.get(indom) ?? new Map<number | string, number>()
    this.#instances.set(indom, known)
    let written = known.get(inst)
    if (written === undefined) {
      const name = this.#plan.nameOf(metric, inst)
      // Something that came back has its old name and a new number: it continues under the old one.
      written = known.get(name) ?? this.#archive.addInstance(indom, name, inst)
      known.set(inst, written).set(name, written)
    }
    return written
  }

  async #addTexts({ name, desc: { pmid, indom } }: ReportMetric): Promise<void> {
    const { context } = this.#plan
    for (const level of ['oneline', 'help'] as const) {
      const text = await orEmptyText(context.text(pmid, { level, direct: true }))
      if (text !== '') this.#archive.addText(name, level, text)
      if (indom === PM_INDOM_NULL) continue
      const about = await orEmptyText(context.indomText(indom, { level, direct: true }))
      if (about !== '') this.#archive.addText({ indom }, level, about)
    }
  }
}

/** Resolves to a text, or '' if it is missing. */
async function orEmptyText(text: Promise<string>): Promise<string> {
  try {
    return await text
  } catch (error) {
    if (error instanceof PcpError && error.code !== 'ECANCELED') return ''
    throw error
  }
}
