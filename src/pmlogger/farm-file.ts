/** Farm files: one line for each collector to record. docs/reference/pmlogger.md */
import { PcpError } from '../model/errors.ts'
import { intervalMs, parseSizeLimit, type SizeLimit } from './sizes.ts'

/** One collector of a farm. */
export interface FarmEntry {
  /** A host specification. */
  readonly host: string
  /** Base name of the archive, as given. */
  readonly archive: string
  /** Configuration file, as given. */
  readonly config: string
  readonly labelHost?: string
  readonly defaultDeltaMs?: number
  readonly version?: 2 | 3
  readonly endLimit?: SizeLimit
  readonly volumeLimit?: SizeLimit
}

type Options = Omit<FarmEntry, 'host' | 'archive' | 'config'>

/** Parsers of the options; undefined for invalid values. */
const OPTIONS: Readonly<Record<string, (value: string) => Options | undefined>> = {
  label: (value) => ({ labelHost: value }),
  interval: (value) => {
    const defaultDeltaMs = intervalMs(value)
    return defaultDeltaMs === undefined ? undefined : { defaultDeltaMs }
  },
  version: (value) => (value === '2' || value === '3' ? { version: value === '2' ? 2 : 3 } : undefined),
  size: (value) => limitOption(value, (endLimit) => ({ endLimit })),
  volsize: (value) => limitOption(value, (volumeLimit) => ({ volumeLimit })),
}

/**
 * Parses lines of host, archive and configuration, then `name=value` options: label, interval, version, size, volsize. `#`
 * begins a comment. Throws PM_ERR_CONV with file and line for errors and for duplicate archives.
 */
export function parseFarm(text: string, file: string): FarmEntry[] {
  const entries: FarmEntry[] = []
  const archives = new Map<string, number>()
  for (const [i, raw] of text.split('\n').entries()) {
    const words = raw
      .replace(/(^|\s)#.*/, '')
      .trim()
      .split(/\s+/)
    if (words[0] === '') continue
    const fail = (problem: string): never => {
      throw new PcpError('PM_ERR_CONV', `${file}[line ${i + 1}]: ${problem}`)
    }
    const [host = '', archive, config, ...options] = words
    if (archive === undefined || config === undefined)
      return fail('expected a host, an archive and a configuration')
    const earlier = archives.get(archive)
    if (earlier !== undefined) fail(`archive ${archive} is written by line ${earlier} already`)
    archives.set(archive, i + 1)
    const parsed = options.map((word) => {
      const [name = '', value = ''] = word.split(/=(.*)/s)
      const option = OPTIONS[name] ?? fail(`unknown option "${name}": use ${Object.keys(OPTIONS).join(', ')}`)
      return option(value) ?? fail(`invalid value "${value}" for option ${name}`)
    })
    entries.push(Object.assign({ host, archive, config }, ...parsed) as FarmEntry)
  }
  if (entries.length === 0) throw new PcpError('PM_ERR_CONV', `${file}: no line names a collector`)
  return entries
}

function limitOption(value: string, make: (limit: SizeLimit) => Options): Options | undefined {
  const limit = parseSizeLimit(value)
  return limit === undefined ? undefined : make(limit)
}
