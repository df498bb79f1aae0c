import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { handleEarlyExit, type OptionTable } from '../../../src/tools/lib/options.ts'
import { parseStandard, STANDARD } from '../../../src/tools/lib/standard.ts'
import { readVectors, type Vectors } from '../../vectors.ts'
import { testIo } from '../run-tool.ts'

interface Result {
  readonly errors: number
  readonly flags: readonly string[]
  readonly context: string | null
  readonly hosts: readonly string[]
  readonly archives: readonly string[]
  readonly args?: readonly string[]
  readonly returned?: readonly string[]
  readonly usagePrinted?: boolean
  readonly messages?: string
  readonly samples?: number
  readonly interval?: readonly [number, number]
  readonly align?: string
  readonly start?: string
  readonly finish?: string
  readonly origin?: string
  readonly timezone?: string
  readonly tzflag?: number
  readonly guiflag?: number
  readonly guiport?: number
  readonly Lflag?: number
}

interface OptionCase {
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly flagsIn?: readonly string[]
  readonly result: Result
}

/** The recorded tool, with every standard option in the reference's order, which lists of possibilities show. */
const TABLE: OptionTable = {
  synopsis: '[options]',
  rows: [
    STANDARD.align,
    STANDARD.archive,
    STANDARD.archiveList,
    STANDARD.archiveFolio,
    STANDARD.debug,
    STANDARD.guimode,
    STANDARD.host,
    STANDARD.hostzone,
    STANDARD.help,
    STANDARD.hostsFile,
    STANDARD.hostList,
    STANDARD.start,
    STANDARD.samples,
    STANDARD.specLocal,
    STANDARD.localPmda,
    STANDARD.namespace,
    STANDARD.uniqnames,
    STANDARD.origin,
    STANDARD.guiport,
    STANDARD.finish,
    STANDARD.interval,
    STANDARD.version,
    STANDARD.timezone,
    STANDARD.container,
    STANDARD.derived,
    { short: 'x', long: 'xyzzy', arg: 'ARG' },
    { short: 'q', long: 'quiet' },
    { long: 'longonly' },
  ],
}

/** Returns why a case is not about parsing the command line; undefined if it is. */
function isElsewhere({ argv, env = {}, flagsIn = [], result }: OptionCase): string | undefined {
  const all = [...argv, ...Object.keys(env)].join(' ')
  if (/ENV_ONLY|LONG_ONLY|QUIET/.test(flagsIn.join())) return 'modes unused here'
  const isReload = result.messages?.includes('Attempt to reload') === true
  if (!isReload && /-n |-N |--namespace|--uniqnames|PCP_NAMESPACE|PCP_UNIQNAMES/.test(all))
    return 'name spaces load later'
  if (/-K del,(29|,nosuch)$/.test(all)) return 'local agents are looked up later'
  if (/--derived/.test(all)) return 'derived metrics are loaded later'
  if (env['PCP_DEBUG'] === 'bogus') return 'the library warns besides'
  return undefined
}

const { cases, files } = readVectors<OptionCase>('format/options.json') as Vectors<OptionCase> & {
  readonly files: Readonly<Record<string, string>>
}
const own = cases.filter((item) => isElsewhere(item) === undefined)

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'options-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
})
afterAll(() => rmSync(dir, { recursive: true }))

test.each(own)(
  'reads $argv with $env $flagsIn as the reference does',
  ({ argv, env = {}, flagsIn = [], result }) => {
    const io = { ...testIo('tool', argv, { PCP_ARCHIVE_DIR: '/var/log/pcp/pmlogger', ...env }), cwd: dir }
    const table = flagsIn.includes('POSIX') ? { ...TABLE, posix: true } : TABLE
    const rules = { many: flagsIn.includes('MULTI'), mixed: flagsIn.includes('MIXED') }
    if (result.flags.includes('RUNTIME_ERR')) {
      expect(() => parseStandard(table, io, rules)).toThrow(result.messages!.slice('tool: '.length).trimEnd())
      return
    }
    const parsed = parseStandard(table, io, rules)
    const { standard } = parsed
    const status = handleEarlyExit(table, parsed, io)
    const printed = io.printed.stderr.replace(/version .*/, 'version VERSION')
    expect(printed.replace(/^Usage: [\s\S]*/m, '')).toBe(result.messages ?? '')
    expect(status).toBe(result.flags.includes('EXIT') ? 0 : result.errors > 0 ? 1 : undefined)
    expect(printed.includes('Usage: ')).toBe(result.usagePrinted ?? false)
    expect(parsed.operands).toEqual(result.args ?? [])
    const returned = parsed.given
      .filter(({ name }) => name !== 'V' && name !== '?')
      .map(({ name, value }) => {
        const code = name === 'longonly' ? 1 : name.charCodeAt(0)
        return value === '' ? `${code}` : `${code}:${value}`
      })
    expect(returned).toEqual(result.returned ?? [])
    if (result.errors > 0) return
    // Hosts together with archives are not a single source.
    if (!flagsIn.includes('MIXED'))
      expect(standard.source ?? null).toBe(result.context?.toLowerCase() ?? null)
    expect(standard.hosts).toEqual(result.hosts)
    expect(standard.archives).toEqual(result.archives.map((name) => name.replace('HOSTNAME', hostname())))
    const { align, start, finish, origin } = result
    const window = Object.entries({ align, start, finish, origin }).filter(([, text]) => text !== undefined)
    expect(standard.window).toEqual(Object.fromEntries(window))
    expect(standard.samples ?? 0).toBe(result.samples ?? 0)
    const { interval } = result
    expect(standard.interval).toEqual(
      interval === undefined ? undefined : { sec: interval[0], nsec: interval[1] },
    )
    expect(standard.zone).toBe(result.timezone)
    expect(standard.hostzone).toBe(result.tzflag === 1)
    expect(standard.guimode).toBe(result.guiflag === 1)
    expect(standard.guiport ?? 0).toBe(result.guiport ?? 0)
  },
)

test('covers the recorded command lines', () => {
  const reasons = new Map<string, number>()
  for (const item of cases) {
    const reason = isElsewhere(item)
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  const left = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ')
  console.log(`command lines: ${own.length} of ${cases.length} cases; left: ${left}`)
  expect(own.length).toBeGreaterThan(150)
})

test('an origin without a source selects the archives of this host', () => {
  const archives = (env: Record<string, string>): readonly string[] =>
    parseStandard(TABLE, testIo('tool', ['-O', '1'], env)).standard.archives
  expect(archives({ PCP_ARCHIVE_DIR: '/a' })).toEqual([join('/a', hostname())])
})
