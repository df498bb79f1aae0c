/** `pmseries -L`: loads an archive, a directory of archives, or what a query selects of them, into a key server. */
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import { parseFileName } from '../../archive/file-names.ts'
import { PcpError } from '../../model/errors.ts'
import { findArchives } from '../../series/archives/files.ts'
import { ArchiveSeries } from '../../series/archives/store.ts'
import { KeyLoader, type LoadSelection } from '../../series/keys/loader.ts'
import { findSeries } from '../../series/query/find.ts'
import { parseQuery } from '../../series/query/parse.ts'
import type { Condition, Selector } from '../../series/query/syntax.ts'
import { type WindowClock, windowOf } from '../../series/query/window.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import type { ParsedOptions } from '../lib/options.ts'
import type { ToolIo } from '../lib/tool.ts'
import { openClient, settingsOf } from './key-server.ts'

/** An archive to load, and the query that restricts it. */
interface Load {
  /** As given. */
  readonly path: string
  readonly selector: Selector | undefined
}

/** Loads what the operands name; returns the status. */
export async function load(parsed: ParsedOptions, clock: WindowClock, io: ToolIo): Promise<number> {
  const { given, operands } = parsed
  if (operands.length === 0)
    throw new PcpError('EINVAL', 'Name an archive to load, or a directory of archives')
  const wanted = loadOf(operands, io)
  const onlyMetadata = given.some(({ name }) => name === 'F')
  const paths = pathsOf(wanted.path, io)
  const settings = settingsOf(parsed, io)
  const client = await openClient(settings, true)
  try {
    const loader = await KeyLoader.open(client, settings.loader)
    for (const path of paths) {
      const shown = paths.length === 1 ? wanted.path : path
      const archive = open(path, shown)
      try {
        const base = resolve(io.cwd, parseFileName(path)?.base ?? path)
        const selection = wanted.selector && (await selectionOf(wanted.selector, base, clock))
        const { records } = await loader.load(archive, base, {
          ...selection,
          onlyMetadata,
          signal: io.signal,
        })
        io.stdout.write(`${io.progname}: [Info] processed ${records} archive records from ${shown}\n`)
      } finally {
        archive.close()
      }
    }
  } finally {
    client.close()
  }
  return 0
}

/** Returns the archive of the operands: a path, or a query with `source.path`. */
function loadOf(operands: readonly string[], io: ToolIo): Load {
  const [only, ...others] = operands
  if (others.length === 0 && isThere(resolve(io.cwd, only!))) return { path: only!, selector: undefined }
  const text = operands.join(' ')
  if (others.length === 0 && !/[{[]/.test(text) && text.includes('/'))
    return { path: text, selector: undefined }
  const { body } = parseQuery(text)
  const condition = body.kind === 'selector' ? conditionsOf(body).find(isPath) : undefined
  if (body.kind !== 'selector' || condition === undefined)
    throw new PcpError('EINVAL', 'found no context to load: use {source.path: "ARCHIVE"}, or the path alone')
  const isAll = body.metric === undefined && body.window === undefined && conditionsOf(body).length === 1
  return { path: condition.value, selector: isAll ? undefined : body }
}

function conditionsOf({ groups }: Selector): readonly Condition[] {
  return groups.flatMap(({ first, rest }) => [first, ...rest.map(({ condition }) => condition)])
}

function isPath({ key, relation }: Condition): boolean {
  return /^(?:source|context|s|c)\.(?:path|name)$/.test(key) && (relation === ':' || relation === '==')
}

/** Returns the archives of a path: itself, or those below a directory. */
function pathsOf(path: string, io: ToolIo): readonly string[] {
  const whole = resolve(io.cwd, path)
  if (statSync(whole, { throwIfNoEntry: false })?.isDirectory() !== true) return [whole]
  const found = findArchives([whole]).map(({ base }) => base)
  if (found.length === 0) throw new PcpError('ENOENT', `cannot open archive "${path}": it has no archives`)
  return found
}

function isThere(path: string): boolean {
  return ['', '.meta', '.index', '.0'].some(
    (suffix) => statSync(`${path}${suffix}`, { throwIfNoEntry: false }) !== undefined,
  )
}

function open(path: string, shown: string): Archive {
  try {
    return Archive.open(path, archiveFiles())
  } catch (error) {
    const known = PcpError.from(error)
    throw new PcpError(known.code, `cannot open archive "${shown}": ${known.text}`, { cause: error })
  }
}

/** Returns the series of an archive that a query selects, and its window. */
async function selectionOf(selector: Selector, base: string, clock: WindowClock): Promise<LoadSelection> {
  const store = new ArchiveSeries([dirname(base)])
  try {
    const rename = (condition: Condition): Condition =>
      isPath(condition) ? { ...condition, relation: '==', value: base } : condition
    const groups = selector.groups.map(({ first, rest }) => ({
      first: rename(first),
      rest: rest.map((each) => ({ ...each, condition: rename(each.condition) })),
    }))
    const series = new Set(await findSeries(store, { ...selector, groups }))
    const { start, finish } = selector.window === undefined ? {} : windowOf(selector.window, clock)
    return { series, start, finish }
  } finally {
    await store.close()
  }
}
