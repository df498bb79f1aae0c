/**
 * Interoperability matrix: clients and tools of both sides, collectors of both, agents of both in C, Perl, Python, JavaScript and of the
 * oldest interface, over every transport. Each cell is run; the table is in docs/explanation/interworking.md.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { connect } from '../../src/pmapi/index.ts'
import {
  hasReference,
  isListening,
  launch,
  type Printed,
  plainEnv,
  run,
  type TestCollector,
  top,
} from './lib/programs.ts'

const SIDES = ['ours', 'theirs'] as const
type Side = (typeof SIDES)[number]

/** Metrics of each kind of agent: name to cluster and item; the first one is fetched, `stored` is stored. */
const SHAPES = {
  simple: {
    metrics: { color: '0:1', numfetch: '0:0', now: '2:4', user: '1:2', sys: '1:3' },
    probed: 'color',
    stored: 'numfetch',
  },
  trivial: { metrics: { time: '0:0' }, probed: 'time', stored: undefined },
  old: { metrics: { side: '0:1', value: '0:0' }, probed: 'side', stored: undefined },
} as const

interface Row {
  readonly agent: string
  readonly shape: keyof typeof SHAPES
  readonly transports: readonly Transport[]
  /** The command without options, or the arguments of `dso`. */
  readonly command: readonly string[]
  /** The only domain it supports. */
  readonly domain?: number
  /** The only collector it supports. */
  readonly only?: Side
  /** Why it cannot run on this machine. */
  readonly lacks?: string | undefined
}

/** 'running' means an agent started before the collector. */
type Transport = 'in process' | 'thread' | 'pipe' | 'inet' | 'ipv6' | 'unix' | 'inet running' | 'unix running'
const DAEMON: readonly Transport[] = ['pipe', 'inet', 'ipv6', 'unix', 'inet running', 'unix running']

const PMDAS = '/var/lib/pcp/pmdas'
const root = mkdtempSync(join(tmpdir(), 'pcp-ts-matrix-'))
const OLD = join(root, 'pmdaold')
const MODULE = join(root, 'module.mjs')

function compile(source: string, to: string): string | undefined {
  const args = ['-o', to, source, '-lpcp_pmda', '-lpcp']
  return spawnSync('cc', args).status === 0 ? undefined : 'a C compiler with the headers of PCP'
}

function lacksFile(path: string, ...check: readonly string[]): string | undefined {
  if (!existsSync(path)) return path
  const [command, ...args] = check
  return command === undefined || spawnSync(command, args).status === 0 ? undefined : check.join(' ')
}

function tableOfAgents(): readonly Row[] {
  const perl = (file: string): string | undefined => lacksFile(file, 'perl', '-MPCP::PMDA', '-e', '1')
  const python = (file: string): string | undefined => lacksFile(file, 'pmpython', '-c', 'import pcp.pmda')
  const simple = `${PMDAS}/simple/pmdasimple`
  const trivial = `${PMDAS}/trivial/pmdatrivial`
  const old = { shape: 'old', lacks: compile(join(top, 'test/interop/agents/old.c'), OLD) } as const
  const c = { shape: 'simple', lacks: lacksFile(simple) } as const
  const dso = `${PMDAS}/simple/pmda_simple.so`
  return [
    { agent: 'C', ...c, transports: DAEMON, command: [simple] },
    { agent: 'C', ...c, transports: ['in process'], command: ['simple_init', dso], only: 'theirs' },
    { agent: 'C, interface 2', ...old, transports: DAEMON, command: [OLD] },
    {
      agent: 'Perl',
      shape: 'simple',
      transports: ['pipe'],
      command: ['perl', `${simple}.perl`],
      domain: 253,
      lacks: perl(`${simple}.perl`),
    },
    {
      agent: 'Python',
      shape: 'simple',
      transports: ['pipe'],
      command: ['pmpython', `${simple}.python`],
      domain: 253,
      lacks: python(`${simple}.python`),
    },
    {
      agent: 'Perl, one metric',
      shape: 'trivial',
      transports: ['pipe'],
      command: ['perl', `${trivial}.perl`],
      domain: 250,
      lacks: perl(`${trivial}.perl`),
    },
    {
      agent: 'Python, one metric',
      shape: 'trivial',
      transports: ['pipe'],
      command: ['pmpython', `${trivial}.python`],
      domain: 250,
      lacks: python(`${trivial}.python`),
    },
    {
      agent: 'ours',
      shape: 'simple',
      transports: DAEMON,
      command: [process.execPath, join(top, 'bin/pmdasimple')],
    },
    {
      agent: 'ours',
      shape: 'simple',
      transports: ['in process'],
      command: ['simple_init', dso],
      only: 'ours',
    },
    {
      agent: 'ours',
      shape: 'simple',
      transports: ['thread'],
      command: ['worker:simple_init', dso],
      only: 'ours',
    },
    { agent: 'a module', shape: 'old', transports: ['pipe'], command: [process.execPath, MODULE] },
    { agent: 'a module', shape: 'old', transports: ['in process'], command: ['agent', MODULE], only: 'ours' },
    {
      agent: 'a module',
      shape: 'old',
      transports: ['thread'],
      command: ['worker:agent', MODULE],
      only: 'ours',
    },
  ]
}

/** A user's own agent, with the metrics of the old one. */
const MODULE_TEXT = `
import { defineAgent, runDaemon } from './pmda.mjs'
const common = { sem: 'instant', units: 'none' }
const sides = { serial: 0, instances: { left: 0, right: 1 }, help: 'sides' }
export const agent = defineAgent({
  name: 'module',
  domain: 241,
  metrics: {
    'module.value': { ...common, item: 0, type: 'u32', help: 'the same always', value: () => 42 },
    'module.side': { ...common, item: 1, type: '32', indom: sides, help: 'by side', value: (inst) => (inst === 0 ? -1 : 1) },
  },
})
if (process.argv[1] === import.meta.filename) await runDaemon(agent)
`

/** An agent with one transport under one collector. */
interface Cell {
  readonly title: string
  readonly shape: keyof typeof SHAPES
  readonly name: string
  readonly domain: number
  readonly line: string
  /** Command to start before the collector. */
  readonly early: readonly string[] | undefined
  /** The socket it listens on. */
  readonly path: string
}

async function cellOf(row: Row, transport: Transport, number: number): Promise<Cell> {
  const name = `cell${number}`
  const domain = row.domain ?? 100 + number
  const port = await freePort()
  const path = join(root, `${name}.socket`)
  const base = [...row.command, '-d', String(domain), '-l', `${name}.log`]
  const isRunning = transport.endsWith(' running')
  const [kind] = transport.split(' ')
  const flags: Record<string, readonly string[]> = {
    inet: ['-i', String(port)],
    ipv6: ['-6', String(port)],
    unix: ['-u', path],
  }
  const argv = [...base, ...(flags[kind!] ?? [])]
  const place = kind === 'unix' ? path : String(port)
  const lines: Record<string, string> = {
    in: `dso ${row.command.join(' ')}`,
    thread: `dso ${row.command.join(' ')}`,
    pipe: `pipe binary ${argv.join(' ')}`,
  }
  const socket = `socket ${kind} ${place}${isRunning ? '' : ` ${argv.join(' ')}`}`
  return {
    title: `${row.agent} (${row.shape}), ${transport}`,
    shape: row.shape,
    name,
    domain,
    line: `${name} ${domain} ${lines[kind!] ?? socket}`,
    early: isRunning ? argv : undefined,
    path,
  }
}

function namesOf(cells: readonly Cell[]): string {
  const trees = cells.map(({ name, domain, shape }) => {
    const metrics = Object.entries(SHAPES[shape].metrics).map(([leaf, id]) => `  ${leaf} ${domain}:${id}`)
    return `${name} {\n${metrics.join('\n')}\n}`
  })
  const roots = ['pmcd', ...cells.map(({ name }) => name)].join('\n  ')
  return `root {\n  ${roots}\n}\npmcd {\n  timezone 2:0:5\n  hostname 2:0:21\n}\n${trees.join('\n')}\n`
}

/** Returns groups in which all agents have different domains. */
function groupsOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const groups: Row[][] = [[], []]
  for (const row of rows) {
    const isFree = (group: Row[]): boolean =>
      row.domain === undefined || !group.some(({ domain }) => domain === row.domain)
    groups.find(isFree)!.push(row)
  }
  return groups
}

const rows = hasReference ? tableOfAgents() : []
for (const { agent, shape, lacks } of rows)
  if (lacks !== undefined) console.log(`skipped: ${agent} (${shape}): this machine lacks ${lacks}`)
const hasLocalhost6 =
  hasReference &&
  spawnSync('getent', ['ahostsv6', 'localhost'], { encoding: 'utf8' }).stdout.startsWith('::1')
if (hasReference && !hasLocalhost6)
  console.log(
    'skipped: IPv6 agents under the reference: here localhost has no IPv6 address, which it connects to',
  )

const count = { cells: 0, commands: 0 }

beforeAll(async () => {
  if (!hasReference) return
  await build({
    entryPoints: [join(top, 'src/pmda/index.ts')],
    outfile: join(root, 'pmda.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
  })
  writeFileSync(MODULE, MODULE_TEXT)
})
afterAll(() => {
  console.log(`matrix: ${count.cells} cells run with ${count.commands} commands`)
  rmSync(root, { recursive: true, force: true })
})

describe.runIf(hasReference).each(SIDES)('%s pmcd', (side) => {
  const possible = rows.filter(({ lacks, only = side }) => lacks === undefined && only === side)
  describe.each(groupsOf(possible).map((group, i) => [i, group] as const))('group %i', (group, members) => {
    const dir = join(root, `${side}${group}`)
    const early: ChildProcess[] = []
    const cells: Cell[] = []
    let collector: TestCollector | undefined

    beforeAll(async () => {
      mkdirSync(dir)
      for (const row of members)
        for (const transport of row.transports)
          if (side === 'ours' || transport !== 'ipv6' || hasLocalhost6)
            cells.push(await cellOf(row, transport, cells.length))
      for (const { early: argv } of cells) if (argv !== undefined) early.push(await startEarly(argv, dir))
      const lines = cells.map(({ line }) => line)
      collector = await start(side, dir, lines, namesOf(cells))
    })
    afterAll(async () => {
      await collector?.stop()
      for (const child of early) child.kill('SIGKILL')
    })

    test.each(SIDES)('%s tools', async (tools) => {
      const printed = await Promise.all(cells.map((cell) => useTools(tools, collector!, cell)))
      for (const [i, text] of printed.entries()) expect(complaints(text), cells[i]!.title).toEqual([])
      console.log(`${side} pmcd, ${tools} tools: ${cells.map(({ title }) => title).join('; ')}`)
    })

    test('our client library', async () => {
      const context = await connect(collector!.host)
      for (const { name, shape, title } of cells) {
        const metrics = Object.keys(SHAPES[shape].metrics).map((leaf) => `${name}.${leaf}`)
        const { errors, values } = (await context.values(metrics)).toJSON()
        expect(errors, title).toEqual({})
        expect(Object.keys(values), title).toEqual(metrics)
        count.cells++
      }
      await context.close()
    })

    test('no errors in any log, and no leftovers', async () => {
      const active = readFileSync(join(dir, 'pmcd.log'), 'utf8')
      for (const { name, title } of cells) expect(active, title).toMatch(new RegExp(`^${name} +\\d`, 'm'))
      for (const file of readdirSync(dir).filter((each) => each.endsWith('.log')))
        expect(complaints(readFileSync(join(dir, file), 'utf8')), file).toEqual([])
      expect(collector!.printed()).toBe('')
      const ends = early.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined))
      expect(await collector!.stop()).toBe(0)
      collector = undefined
      await Promise.all(ends)
      for (const { path, title } of cells) expect(existsSync(path), title).toBe(false)
    })
  })
})

test.runIf(hasReference)(
  "the reference's pmcd accepts our lines about threads and modules, and serves the other agents",
  async () => {
    const dir = join(root, 'lines')
    mkdirSync(dir)
    const simple = `${PMDAS}/simple`
    const lines = [
      `module 101 dso agent ${MODULE}`,
      `thread 102 dso worker:agent ${MODULE}`,
      `simple 253 pipe binary ${simple}/pmdasimple -d 253`,
      // Must be the last line: a syntax error in it would prevent this pmcd from starting.
      `inthread 103 dso worker:simple_init ${simple}/pmda_simple.so`,
    ]
    const collector = await start('theirs', dir, lines, 'root {\n  cell 253:0:0\n}\n')
    const { status, stdout } = await run('pminfo', ['-h', collector.host, '-f', 'cell'])
    const log = readFileSync(join(dir, 'pmcd.log'), 'utf8')
    expect(await collector.stop()).toBe(0)
    expect({ status, stdout }).toEqual({ status: 0, stdout: '\ncell\n    value 1\n' })
    expect(log).toMatch(/^simple +253 /m)
    expect(log).not.toMatch(/^(module|thread|inthread) +\d/m)
    expect(log).not.toMatch(/pmcd config/)
    count.commands++
  },
)

/** Starts an agent before the collector; resolves when it listens. */
async function startEarly(argv: readonly string[], cwd: string): Promise<ChildProcess> {
  const [command, ...args] = argv
  const child = spawn(command!, args, { cwd, env: plainEnv(), stdio: 'ignore' })
  const isUnix = args.at(-2) === '-u'
  const place = args.at(-1)!
  const row = `:${Number(place).toString(16).toUpperCase().padStart(4, '0')} `
  // A test connection would be taken for the collector's: an agent accepts only one.
  const isThere = (): boolean =>
    isUnix ? isListening(place) : readFileSync('/proc/net/tcp', 'utf8').includes(row)
  while (!isThere()) {
    if (child.exitCode !== null) throw new Error(`${argv.join(' ')} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return child
}

async function start(
  side: Side,
  dir: string,
  agents: readonly string[],
  names: string,
): Promise<TestCollector> {
  const lines = [`pmcd 2 dso pmcd_init ${PMDAS}/pmcd/pmda_pmcd.so`, ...agents]
  writeFileSync(join(dir, 'pmcd.conf'), `${lines.join('\n')}\n`)
  writeFileSync(join(dir, 'names'), names)
  const port = await freePort()
  const files = ['-c', join(dir, 'pmcd.conf'), '-n', join(dir, 'names'), '-s', join(dir, 'pmcd.socket')]
  // Of two dozen agents that start at once on a busy machine, some need more than three seconds.
  const args = ['-f', '-q', '60', '-t', '60', '-p', String(port), ...files, '-l', join(dir, 'pmcd.log')]
  return side === 'theirs'
    ? launch('/usr/lib/pcp/bin/pmcd', args, port, dir)
    : launch(process.execPath, [join(top, 'bin', 'pmcd'), ...args], port, dir)
}

/** Returns the output of all tools of one side for an agent; each must succeed with nothing on standard error. */
async function useTools(tools: Side, { host }: TestCollector, cell: Cell): Promise<string> {
  const { name, shape, title } = cell
  const { probed, stored } = SHAPES[shape]
  const printed: string[] = []
  const use = async (tool: string, ...args: string[]): Promise<Printed> => {
    const all = ['-h', host, ...args]
    const ended =
      tools === 'theirs'
        ? await run(tool, all)
        : await run(process.execPath, [join(top, 'bin', tool), ...all])
    expect({ tool, args, title, status: ended.status, stderr: ended.stderr }).toMatchObject({
      status: 0,
      stderr: '',
    })
    printed.push(ended.stdout)
    count.commands++
    return ended
  }
  await use('pminfo', '-dfml', name)
  const { stdout } = await use('pmprobe', '-v', name)
  const values = stdout
    .trim()
    .split('\n')
    .map((line) => Number(line.split(' ')[1]))
  expect(Math.min(...values), `${title}: ${stdout}`).toBeGreaterThan(0)
  await use('pmprobe', '-I', `${name}.${probed}`)
  await use('pmval', '-s', '2', '-t', '0.05', '-r', `${name}.${probed}`)
  if (stored !== undefined) {
    const { stdout: changed } = await use('pmstore', `${name}.${stored}`, '7')
    expect(changed, title).toMatch(/new value=7$/m)
  }
  count.cells++
  return printed.join('')
}

/** Returns lines with errors. Two agents have no help texts: our C agent, and trivial as installed by Debian. */
function complaints(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !/pmdaInit: .*(old: No help text|trivial\/help": No such file)/.test(line))
    .filter((line) =>
      /error|warning|fail|unexpected|protocol(?! param)|cleanup|timeout|no pmcd agent/i.test(line),
    )
}
