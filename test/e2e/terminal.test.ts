/**
 * Every command of the registry as a new user might try it: help, version, a wrong option, a missing host and archive, a
 * closed output. New commands in the registry are included automatically.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { VERSION } from '../../src/base/version.ts'
import { operandKind } from '../../src/tools/lib/completion.ts'
import type { Option } from '../../src/tools/lib/options.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { commandOf, programOf } from '../lib/commands.ts'
import { isSampled } from '../lib/seed.ts'

/** Commands that accept any word as an operand, as in PCP, so that a wrong option is not detected. */
const TAKES_ANY_WORD: Readonly<Record<string, string>> = {
  pmpost: 'a message may begin with a dash, and --help is one',
  pmdate: 'its offsets begin with a dash',
  pmafm: 'the first word is a folio',
  mkaf: 'options are those of find, and are named as such',
}
/** Commands that treat showing usage as success, like PCP's of these names. */
const HELP_IS_SUCCESS: ReadonlySet<string> = new Set([
  ...['pcp-dstat', 'pcp-ts'],
  ...TOOLS.filter(({ subcommandOf }) => subcommandOf !== undefined).map(({ name }) => name),
])
/** Help options that differ from the usual one: letters of pcp-ss belong to ss. */
const HELP_LETTER: Readonly<Record<string, string>> = { 'pcp-ss': '-h' }
/** Commands that read another file before contacting a host or reading an archive. */
const READS_FIRST: ReadonlySet<string> = new Set(['pmlogger', 'pmcd_wait', 'pmlc', 'pmie', 'pmgenmap'])
/** Commands whose errors do not name the source, as in PCP. */
const DOES_NOT_SAY_WHERE: ReadonlySet<string> = new Set(['pmstat'])

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

let dir: string
let closedPort: number

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-terminal-'))
  closedPort = await freePort()
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Runs a command in a narrow window; with `isDeaf` its output is closed before anything was read. */
function run(name: string, args: readonly string[], isDeaf = false): Promise<Ended> {
  return new Promise((done, failed) => {
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
    const child = spawn(process.execPath, [...programOf(name), ...args], {
      cwd: dir,
      env: { ...env, COLUMNS: '40', PCP_TMPFILE_DIR: dir },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const text = { stdout: '', stderr: '' }
    if (isDeaf) child.stdout.destroy()
    child.stdout.on('data', (chunk) => {
      text.stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      text.stderr += chunk
    })
    child.once('error', failed)
    child.once('close', (status) => done({ status, ...text }))
  })
}

function hasOption(tool: Tool, long: string, arg: string): boolean {
  const rows = (tool.options?.rows ?? []).filter((row): row is Option => !('heading' in row))
  return rows.some(
    (row) => row.long === long && row.arg === arg && row.help?.startsWith('read values') === true,
  )
}

/** Users must not see source locations. */
function expectNoTrace({ stdout, stderr }: Ended): void {
  expect(`${stdout}${stderr}`).not.toMatch(
    /\n\s+at |node:internal|UnhandledPromise|is not a function|undefined/,
  )
}

const METRIC_OPERANDS: Readonly<Record<string, readonly string[]>> = {
  'pcp-ts-incident': ['-o', join(tmpdir(), 'never-written.html')],
  pmstore: ['sample.long.one', '1'],
  pmlogconf: ['config'],
  pmrepconf: ['config'],
  pcp2remotewrite: ['--url', 'http://127.0.0.1:9/', 'sample.long.one'],
}

const COMMANDS = await Promise.all(
  TOOLS.map(async ({ name, load, hasOwnVersion }, at) => ({ name, tool: await load(), hasOwnVersion, at })),
)

describe.each(COMMANDS)('$name', ({ name, tool, hasOwnVersion, at }) => {
  let number = at
  /** Each command gets every other test today, the rest tomorrow. */
  const tryOut = (title: string, body: () => Promise<void>): void => {
    if (isSampled(number++, 2)) test(title, body)
  }
  const asksHosts = !READS_FIRST.has(name) && hasOption(tool, 'host', 'HOST')
  const isArchiveOperand = operandKind(tool.options) === 'archive'
  const readsArchives = !READS_FIRST.has(name) && (isArchiveOperand || hasOption(tool, 'archive', 'FILE'))

  const forms = [...(name === 'pmpost' ? [] : ['--help']), HELP_LETTER[name] ?? '-?']
  for (const option of forms)
    tryOut(`${option} shows its usage`, async () => {
      const ended = await run(name, [option])
      expect(`${ended.stdout}${ended.stderr}`).toMatch(
        new RegExp(`^Usage: ${commandOf(name).replace('.', '\\.')}\\b`),
      )
      expect(ended.status).toBe(HELP_IS_SUCCESS.has(name) ? 0 : 1)
      expectNoTrace(ended)
    })

  tryOut('--version is one line', async () => {
    const { status, stdout, stderr } = await run(name, ['--version'])
    if (hasOwnVersion === true) expect(`${stdout}${stderr}`).not.toBe('')
    else
      expect({ status, text: stdout + stderr }).toEqual({
        status: 0,
        text: `${commandOf(name)} version ${VERSION}\n`,
      })
  })

  const wrongOption = async (): Promise<void> => {
    const ended = await run(name, ['--no-such-option'])
    expect(ended.stderr).toContain("unrecognized option '--no-such-option'")
    expect(ended.stderr).toContain(`Usage: ${commandOf(name)}`)
    expect(ended.status).toBeGreaterThan(0)
    expectNoTrace(ended)
  }
  if (!(name in TAKES_ANY_WORD)) tryOut('a wrong option is named, and the command does nothing', wrongOption)

  const missingHost = async (): Promise<void> => {
    const ended = await run(name, ['--host', `localhost:${closedPort}`, ...operands(name, tool)])
    if (!DOES_NOT_SAY_WHERE.has(name)) expect(ended.stderr).toContain(`localhost:${closedPort}`)
    expect(ended.stderr).toMatch(/Connection refused/)
    expect(ended.status).toBe(1)
    expectNoTrace(ended)
  }
  if (asksHosts) tryOut('a host without a collector is named at once', missingHost)

  const missingArchive = async (): Promise<void> => {
    const missing = join(dir, 'no-such-archive')
    const args = isArchiveOperand
      ? [missing, ...(TAKES_TWO.has(name) ? [join(dir, 'out')] : [])]
      : ['--archive', missing, ...operands(name, tool)]
    const ended = await run(name, args)
    const text = `${ended.stdout}${ended.stderr}`
    expect(text).not.toContain('Usage:')
    expect(text).toMatch(/No such file|no (such |PCP )?archive|not a PCP archive/)
    if (!DOES_NOT_SAY_WHERE.has(name)) expect(text).toContain('no-such-archive')
    // Scripts run this on whatever archives exist, possibly none.
    if (name !== 'pmlogger_rewrite') expect(ended.status).toBeGreaterThan(0)
    expectNoTrace(ended)
  }
  if (readsArchives) tryOut('a missing archive is named', missingArchive)

  const goneReader = async (): Promise<void> => {
    const ended = await run(name, ['--help'], true)
    expectNoTrace(ended)
    expect(ended.stderr).not.toContain('EPIPE')
  }
  if (name !== 'pmpost') tryOut('a closed output causes no message', goneReader)
})

/** Commands that create an archive from another. */
const TAKES_TWO: ReadonlySet<string> = new Set([
  'pmlogcp',
  'pmlogmv',
  'pmlogextract',
  'pmlogreduce',
  'pmlogrewrite',
  'pmlogger_merge',
])

function operands(name: string, tool: Tool): readonly string[] {
  return METRIC_OPERANDS[name] ?? (operandKind(tool.options) === 'metric' ? ['kernel.all.load'] : [])
}
