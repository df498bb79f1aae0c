/** Shell commands in README and docs work for an ordinary user without PCP. test/lib/shell-blocks.ts describes how blocks are marked. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { AGENTS } from '../../src/agents/registry.ts'
import { createArchive, PM_SEM_COUNTER, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/archive.ts'
import { parseDaemonOptions } from '../../src/pmda/daemon-options.ts'
import { parseOptions } from '../../src/tools/lib/options.ts'
import { OPTIONS, readOptions } from '../../src/tools/pcp-ts/start/options.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { readShellPage, type ShellBlock, wordsOf } from '../lib/shell-blocks.ts'
import { RAW_TEXT, type WithoutPcp, withoutPcp } from '../lib/without-pcp.ts'

const top = process.cwd()
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => join('docs', file)),
]
const READ = new Map(PAGES.map((page) => [page, readShellPage(page)]))
const BLOCKS = [...READ.values()].flatMap(({ blocks }) => blocks)

/** System programs used on the pages. */
const OF_SYSTEM = [
  'cd',
  'eval',
  'curl',
  'man',
  'mkdir',
  'echo',
  'printf',
  'node',
  'openssl',
  'cp',
  'chown',
  'chmod',
  'duckdb',
  'useradd',
  'systemctl',
  'systemd-analyze',
  'install',
  'cat',
  'rm',
  'sed',
  'set',
  'for',
  'do',
  'done',
  '/usr/bin/pminfo',
  'docker',
  'helm',
  'kubectl',
  'podman',
  'sudo',
  '.',
  'source',
  '.ci/run',
  'share/rc_pmcd',
]

/** Returns the error in a command's name or options; undefined if there is no error. */
async function mistakeIn([first = '', ...args]: readonly string[]): Promise<string | undefined> {
  const name = first.replace(/^bin\//, '')
  if (name === 'npm') return mistakeInNpm(args)
  if (name === 'npx' && args[0] !== 'pcp-ts')
    return existsSync(join('node_modules/.bin', args[0] ?? '')) ? undefined : 'no such program'
  const subcommand = name === 'pcp-ts' && TOOLS.find((tool) => tool.name === `pcp-ts-${args[0]}`)
  if (subcommand) return mistakeIn([subcommand.name, ...args.slice(1)])
  if (name === 'npx' && args[0] === 'pcp-ts') return mistakeIn(args)
  if (name === 'pcp-ts' && !(args[0] ?? '-').startsWith('-')) return mistakeIn(args)
  if (name === 'pcp' && TOOLS.some((tool) => tool.name === `pcp-${args[0]}`))
    return mistakeIn([`pcp-${args[0]}`, ...args.slice(1)])
  // Upper case stands for any command.
  if (/^[A-Z]+$/.test(name)) return undefined
  const tool = TOOLS.find((entry) => entry.name === name)
  if (tool !== undefined) {
    const { options } = await tool.load()
    return options === undefined ? undefined : parseOptions(options, { args, env: {} }).problems[0]
  }
  const agent = AGENTS.find((entry) => `pmda${entry.name}` === name)
  if (agent !== undefined) {
    const parsed = parseDaemonOptions(args, Number, (await agent.load()).options)
    return 'problems' in parsed ? parsed.problems[0] : undefined
  }
  return OF_SYSTEM.includes(name) ? undefined : 'no such command'
}

function mistakeInNpm([command = '', ...args]: readonly string[]): string | undefined {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  if (command === 'start') {
    const parsed = parseOptions(OPTIONS, { args: args[0] === '--' ? args.slice(1) : args, env: {} })
    if (parsed.problems.length > 0) return parsed.problems[0]
    try {
      readOptions(parsed, AGENTS.map(({ name }) => name).concat('pmcd'), 'npm start --')
      return undefined
    } catch (error) {
      return String(error)
    }
  }
  if (command === 'run') return (args[0] ?? '') in scripts ? undefined : 'no such script'
  return ['test', 'pack', 'install', 'init', 'pkg', 'ci', 'root', 'uninstall'].includes(command)
    ? undefined
    : 'no such command of npm'
}

const OURS = [...TOOLS.map(({ name }) => name), ...AGENTS.map(({ name }) => `pmda${name}`)]
/** Start of a command line of this package, or of npm. */
const BEGINS_COMMAND = new RegExp(
  `^(?:\\$ |(?:bin/)?(?:${OURS.join('|').replaceAll('.', '\\.')}) |(?:npm|npx) )`,
)

test('commands and options of marked blocks exist', async () => {
  const commands = BLOCKS.flatMap((block) =>
    block.commands.flatMap(wordsOf).map((words) => ({ block, words })),
  )
  const mistakes = await Promise.all(
    commands.map(async ({ block, words }) => {
      const mistake = await mistakeIn(words)
      return mistake === undefined ? [] : [`${block.page}:${block.line}: ${words.join(' ')}: ${mistake}`]
    }),
  )
  expect(commands.length).toBeGreaterThan(60)
  expect(mistakes.flat()).toEqual([])
})

test('commands and options in inline code exist', async () => {
  const spans = PAGES.flatMap((page) => READ.get(page)!.spans.map((span) => ({ page, span }))).filter(
    ({ span }) => BEGINS_COMMAND.test(span),
  )
  const mistakes = await Promise.all(
    spans.flatMap(({ page, span }) =>
      wordsOf(span).map(async (words) => {
        const mistake = await mistakeIn(words)
        return mistake === undefined || /requires an argument/.test(mistake)
          ? []
          : [`${page}: ${span}: ${mistake}`]
      }),
    ),
  )
  expect(spans.length).toBeGreaterThan(60)
  expect(mistakes.flat()).toEqual([])
})

test('commands are in blocks that are run', () => {
  const elsewhere = PAGES.flatMap((page) =>
    READ.get(page)!
      .otherCode.filter((line) => BEGINS_COMMAND.test(line) && !/[─├└]/.test(line))
      .map((line) => `${page}: ${line}`),
  )
  expect(elsewhere).toEqual([])
})

/** Files read by commands of the pages, besides those that a page shows. */
const FILES: Readonly<Record<string, string>> = {
  'few.config': 'kernel.all.load\n',
  rules: 'metric kernel.all.load { name -> kernel.all.average }\n',
  'readings.csv': 'when,north\n2026-01-01 12:00:00,20.5\n2026-01-01 12:01:00,21\n',
  'map.xml':
    '<sheet heading="1" timezone="+0000" datefmt="YMD"><metric>roof.temperature</metric><datetime/><data>roof.temperature</data></sheet>\n',
  'app.js': `const server = require('node:http').createServer((_, response) => response.end('sold'))
server.listen(0, '127.0.0.1', async () => {
  await (await fetch('http://127.0.0.1:' + server.address().port + '/orders/1')).text()
  console.log('shop is open')
})
`,
}

/** Daily archives by name, with their dates. */
const ARCHIVES: Readonly<Record<string, string>> = {
  ARCHIVE: '2026-11-19',
  '20260101': '2026-01-01',
  yesterday: '2026-11-22',
  monday: '2026-11-16',
  tuesday: '2026-11-17',
  old: '2026-11-18',
  '20261120': '2026-11-20',
  '20261121': '2026-11-21',
  'archives/db1/20261119.00.00': '2026-11-19',
  'archives/HOST/20261119.00.00': '2026-11-19',
}

const MINUTES_A_RECORD = 5

/** Writes a day of a Linux host. */
function writeDay(base: string, day: string, version: 2 | 3): void {
  mkdirSync(dirname(base), { recursive: true })
  const made = createArchive(base, { hostname: 'db1', timezone: 'UTC', version })
  made.addMetric('kernel.all.load', { indom: 'averages' })
  made.addMetric('mem.util.free', { type: PM_TYPE_U64, units: 'Kbyte' })
  made.addMetric('hinv.ncpu', { type: PM_TYPE_U32 })
  for (const name of ['disk.dev.read', 'disk.dev.write', 'disk.dev.total'])
    made.addMetric(name, { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'count', indom: 'disks' })
  for (let minute = 0; minute < 24 * 60; minute += MINUTES_A_RECORD) {
    for (const [i, name] of ['1 minute', '5 minute', '15 minute'].entries())
      made.put('kernel.all.load', (minute % 60) / 10 + i, name)
    made.put('mem.util.free', 4_000_000 + minute)
    if (minute === 0) made.put('hinv.ncpu', 4)
    for (const disk of ['sda', 'sdb'])
      for (const name of ['read', 'write', 'total']) made.put(`disk.dev.${name}`, minute * 600, disk)
    made.write(new Date(Date.parse(`${day}T00:00:00Z`) + minute * 60_000))
  }
  made.close()
}

/** Pages whose reader runs `npm start`, on a separate machine. */
const STARTS_COLLECTOR: ReadonlySet<string> = new Set(['README.md', join('docs', 'start', 'index.md')])

let dir: string
let files: string
let web: readonly number[]
let collector: Running
let shared: Place

/** Machine and directory in which commands run. */
interface Place {
  readonly machine: WithoutPcp
  readonly env: Readonly<Record<string, string>> & { readonly PMCD_SOCKET: string }
}

/** A running command in one of the reader's terminals. */
interface Running {
  readonly child: ChildProcess
  readonly text: () => string
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docs-'))
  files = join(dir, 'files')
  mkdirSync(files)
  for (const [name, day] of Object.entries(ARCHIVES)) writeDay(join(files, name), day, name === 'old' ? 2 : 3)
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(files, name), text)
  const shims = join(dir, 'shims')
  mkdirSync(shims)
  // The tree may be another user's, for which npm start checks whether to rebuild; ports may be in use.
  const npm = `#!/bin/sh
[ "$1" = start ] || exit 1
shift; [ "$1" = -- ] && shift
case " $* " in *" --port "*) ;; *) set -- --port "$PMCD_PORT" --web-port "$DOCS_WEB_PORT" "$@" ;; esac
exec node '${join(top, 'bin/pcp-ts')}' start "$@"
`
  writeFileSync(join(shims, 'npm'), npm)
  chmodSync(join(shims, 'npm'), 0o755)
  web = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()]
  shared = await makePlace()
  collector = start(
    'npm start -- --agents linux,mmv,node,pmcd,proc,sample,simple',
    shared.machine.home,
    shared,
  )
  await printed(collector, (text) => text.includes('listening'))
})
afterAll(async () => {
  await interrupt(collector)
  rmSync(dir, { recursive: true })
})

async function makePlace(): Promise<Place> {
  const machine = withoutPcp(dir)
  return {
    machine,
    env: {
      ...machine.env,
      PATH: `${join(dir, 'shims')}:${resolve('bin')}:${machine.env['PATH']}`,
      PMCD_PORT: String(await freePort()),
      PMCD_SOCKET: join(machine.home, 'no.socket'),
      DOCS_WEB_PORT: String(await freePort()),
      PMPROXY_PORT: `${web[0]},${web[1]}`,
    },
  }
}

/** Runs a line in a new shell; `state` passes directory and variables to the next one. */
function start(line: string, cwd: string, { env: { PMCD_SOCKET, ...env }, machine }: Place): Running {
  const state = join(machine.home, `${cwd.slice(cwd.lastIndexOf('/') + 1)}.state`)
  const script = `[ ! -e '${state}' ] || . '${state}'
${line}
status=$?
{ export -p | grep -v PMCD_SOCKET; printf 'cd %q\\n' "$PWD"; } > '${state}'
exit $status`
  const child = spawn('bash', ['-c', script], {
    cwd,
    // pcp.conf names the socket; without it a collector of this machine might be used.
    env: line.includes('PCP_CONF=') ? env : { ...env, PMCD_SOCKET },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...machine.user,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal }))
  return { child, text: () => text, ended }
}

/** Waits until a command has printed a text. */
async function printed(
  { child, text, ended }: Running,
  isEnough: (text: string) => boolean,
): Promise<boolean> {
  let hasEnded = false
  const end = ended.then(() => {
    hasEnded = true
  })
  const onData = (): Promise<unknown> =>
    Promise.race([once(child.stdout!, 'data'), once(child.stderr!, 'data'), end])
  while (!hasEnded && !isEnough(text())) await onData()
  return isEnough(text())
}

/** Sends Ctrl-C. */
async function interrupt({ child, ended }: Running): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT')
  await ended
}

/** Creates a directory with the files of a page's reader. */
function makeDirectory(page: string, { machine }: Place): string {
  const made = join(machine.home, page.replace(/\W/g, '-'))
  cpSync(files, made, { recursive: true })
  for (const [name, text] of READ.get(page)!.files) writeFileSync(join(made, name), text)
  for (const name of ['bin', 'dist']) symlinkSync(join(top, name), join(made, name))
  mkdirSync(join(made, 'node_modules'))
  symlinkSync(top, join(made, 'node_modules', 'pcp-ts'))
  const { uid, gid } = machine.user
  if (uid !== undefined && gid !== undefined)
    for (const file of ['.', ...readdirSync(made, { recursive: true, encoding: 'utf8' })])
      if (!/^(?:bin|dist|node_modules\/pcp-ts)\//.test(file)) lchownSync(join(made, file), uid, gid)
  return made
}

/** Replaces ports and paths that another program of this machine may use. */
function adapted(line: string, { machine }: Place): string {
  const ports: Readonly<Record<string, number>> = {
    44322: web[0]!,
    44323: web[1]!,
    44400: web[2]!,
    44401: web[3]!,
    44402: web[4]!,
  }
  return line
    .replace(/(?<=[: ])44\d{3}\b/g, (port) => String(ports[port] ?? port))
    .replaceAll('/tmp/', `${machine.env['TMPDIR']}/`)
}

const RUN = PAGES.filter((page) => READ.get(page)!.blocks.some(({ needs }) => needs === undefined))

describe.each(RUN)('%s', (page) => {
  let cwd: string
  let place: Place
  const serving: { readonly line: string; readonly running: Running }[] = []

  beforeAll(async () => {
    place = STARTS_COLLECTOR.has(page) ? await makePlace() : shared
    cwd = makeDirectory(page, place)
  })
  afterAll(async () => {
    for (const { running } of serving) await interrupt(running)
  })

  const blocks = READ.get(page)!.blocks.filter(({ needs }) => needs === undefined)
  test.each(
    blocks.flatMap((block) =>
      block.commands.map((command) => ({ command: command.replace(/ +#.*/, ''), block })),
    ),
  )('$command', async ({ command, block }) => {
    const running = start(adapted(command, place), cwd, place)
    const { servesAfter, linesBeforeInterrupt: most }: ShellBlock = block
    if (servesAfter !== undefined && command === block.commands.at(-1)?.replace(/ +#.*/, '')) {
      serving.push({ line: command, running })
      expect(await printed(running, (text) => text.includes(servesAfter)), running.text()).toBe(true)
      return
    }
    if (most !== undefined && (await printed(running, (text) => text.split('\n').length > most)))
      await interrupt(running)
    const { status, signal } = await running.ended
    expect({ status, signal }, running.text()).toBeOneOf([
      { status: 0, signal: null },
      ...(most === undefined
        ? []
        : [
            { status: null, signal: 'SIGINT' },
            { status: 130, signal: null },
          ]),
    ])
    expect(running.text()).not.toMatch(RAW_TEXT)
  })

  test.runIf(blocks.some(({ servesAfter }) => servesAfter !== undefined))('ends by Ctrl-C', async () => {
    for (const { line, running } of serving) {
      await interrupt(running)
      const { status, signal } = await running.ended
      expect(running.text(), line).not.toMatch(RAW_TEXT)
      expect(status === 0 || status === 130 || signal === 'SIGINT', `${line}: ${status} ${signal}`).toBe(true)
    }
  })
})
