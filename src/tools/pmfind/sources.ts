/** Sources of the collectors found. pmfind(1) */
import { isError, PcpError } from '../../model/errors.ts'
import { sourceText } from '../../model/series.ts'
import { PM_TYPE_STRING } from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import { connect } from '../../pmapi/connect.ts'
import type { Context } from '../../pmapi/context.ts'
import { toOutcome } from '../lib/settle.ts'
import type { ToolIo } from '../lib/tool.ts'

/** A collector's host, or a container on it, with an id that does not depend on the address. */
export interface SourceName {
  readonly id: string
  readonly name: string
}

/** Returns a collector's source, optionally with its containers. On errors prints a message and returns an empty list. */
export async function sourcesAt(url: string, withContainers: boolean, io: ToolIo): Promise<SourceName[]> {
  try {
    const context = await open(url, undefined, io)
    try {
      const sources = [await sourceOf(context, io)]
      for (const container of withContainers ? await containersOf(context, io) : []) {
        const inside = await open(url, container, io)
        try {
          sources.push(await sourceOf(inside, io))
        } finally {
          await inside.close()
        }
      }
      return sources
    } finally {
      await context.close()
    }
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    io.stderr.write(`${io.progname}: ${url}: ${error.message}\n`)
    return []
  }
}

function open(url: string, container: string | undefined, io: ToolIo): Promise<Context> {
  const options = { env: io.env, signal: io.signal }
  return (io.connect ?? connect)(url, container === undefined ? options : { ...options, container })
}

async function sourceOf(context: Context, io: ToolIo): Promise<SourceName> {
  const host = await context.hostname(io)
  const sets = await toOutcome(context.contextLabels(io))
  const { createHash } = process.getBuiltinModule('node:crypto')
  const id = createHash('sha1')
    .update(sourceText(isError(sets) ? [] : sets, host))
    .digest('hex')
  return { id, name: host }
}

/** Returns the names of running containers; empty if the collector has no such metric. */
async function containersOf(context: Context, io: ToolIo): Promise<string[]> {
  const [id] = await context.lookupNames(['containers.name'], io)
  if (id === undefined || isError(id)) return []
  const set = (await context.fetch([id], io)).sets[0]!
  return Array.from({ length: Math.max(0, set.status) }, (_, i) => String(extract(set, i, PM_TYPE_STRING)))
}
