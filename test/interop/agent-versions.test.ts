/** C agents of every interface version give the same results under our collector and the reference's. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig } from '../../src/pmcd/open-agents.ts'
import { loadPmns } from '../../src/pmns/load.ts'
import { readHostLabels } from '../../src/routing/host-labels.ts'
import { parseConfig } from '../../src/routing/pmcd-conf.ts'
import { loadConfig } from '../../src/sys/config.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { pmnsFiles } from '../../src/sys/pmns-files.ts'
import { hasReference, launch, run } from './lib/programs.ts'

const isPossible =
  hasReference && existsSync('/usr/include/pcp/pmda.h') && spawnSync('gcc', ['--version']).status === 0
if (!isPossible) console.log("skipped: needs the reference's headers (libpcp-pmda3-dev) and gcc")

const PMNS = `root { vers }
vers { value 470:0:0 inst 470:0:1 text 470:0:2 some 470:0:3 again 470:0:4 user 470:0:5 none 470:0:6 gone 470:0:99 dyn 470:*:* }
`
const COMMANDS: readonly (readonly string[])[] = [
  ['pminfo', '-dmtTf', 'vers'],
  ['pminfo', '-l', 'vers'],
  ['pminfo', 'vers.dyn'],
  ['pminfo', '-f', 'vers.dyn.a', 'vers.dyn.deep.b', 'vers.dyn.nosuch'],
  ['pminfo', '-m', '-b', '1', 'vers'],
  ['pmprobe', '-v', 'vers'],
  ['pmprobe', '-I', 'vers.inst'],
  ['pmval', '-s', '2', '-t', '0.01', '-i', 'green', 'vers.inst'],
  ['pmstore', 'vers.value', '7'],
  ['pmstore', 'vers.inst', '7'],
  ['pmprobe', '-v', 'vers.value'],
]

let dir = ''
let program = ''
beforeAll(() => {
  if (!isPossible) return
  dir = mkdtempSync(join(tmpdir(), 'agent-versions-'))
  program = join(dir, 'versions-agent')
  const source = fileURLToPath(new URL('lib/versions-agent.c', import.meta.url))
  const built = spawnSync('gcc', ['-O1', '-o', program, source, '-lpcp_pmda', '-lpcp'], { encoding: 'utf8' })
  expect(built.stderr).toBe('')
  writeFileSync(join(dir, 'root'), PMNS)
})
afterAll(() => {
  if (isPossible) rmSync(dir, { recursive: true })
})

/** Returns the output of clients without times. */
async function printed(host: string, commands: typeof COMMANDS): Promise<string[]> {
  const all: string[] = []
  for (const [command, ...args] of commands) {
    const { stdout, stderr, status } = await run(command!, ['-h', host, ...args])
    all.push(`${command} ${args.join(' ')} => ${status}`, ...`${stdout}${stderr}`.split('\n'))
  }
  return all.map((line) =>
    line
      .replaceAll(host, 'HOST')
      .replace(/^(host|start): .*/, '$1')
      .replace(/^\d\d:\d\d:\d\d\.\d+/, 'TIME')
      .replace(/"(hostname|machineid|domainname)":"[^"]*"/g, '"$1"'),
  )
}

async function underReference(line: string, use: (host: string) => Promise<string[]>): Promise<string[]> {
  const home = mkdtempSync(join(dir, 'reference-'))
  const port = await freePort()
  writeFileSync(join(home, 'pmcd.conf'), `${line}\n`)
  const files = [
    '-c',
    'pmcd.conf',
    '-s',
    join(home, 's'),
    '-l',
    join(home, 'pmcd.log'),
    '-n',
    join(dir, 'root'),
  ]
  const collector = await launch('/usr/lib/pcp/bin/pmcd', ['-f', '-p', String(port), ...files], port, home)
  try {
    return await use(collector.host)
  } finally {
    await collector.stop()
  }
}

async function underOurs(line: string, use: (host: string) => Promise<string[]>): Promise<string[]> {
  const { variables } = loadConfig({})
  const home = mkdtempSync(join(dir, 'ours-'))
  const collector = await startCollector({
    agents: parseConfig(`${line}\n`).agents.map(agentFromConfig),
    pmns: loadPmns(join(dir, 'root'), pmnsFiles(variables)),
    ports: [0],
    socketPath: join(home, 's'),
    hostname: 'vm',
    log: {
      ...logOnFd(openSync(join(home, 'log'), 'w'), { progname: 'pmcd', host: 'vm' }),
      notice: () => {},
      line: () => {},
    },
    agentDir: home,
    credsTimeoutSec: 60, // starting a process is slow on a busy machine
    variables,
    readLabels: () =>
      readHostLabels({ sysconfDir: variables['PCP_SYSCONF_DIR']!, hostname: 'vm', root: '/' }),
  })
  try {
    return await use(`localhost:${collector.port}`)
  } finally {
    await collector.close()
  }
}

describe.skipIf(!isPossible)('C agents', () => {
  test.each([2, 3, 4, 5, 6, 7])('of interface version %i', async (version) => {
    const line = `versions 470 pipe binary ${program} ${version}`
    // Agents below version 4 have no names: PCP then shows the dynamic root as a metric that cannot be fetched.
    const commands = COMMANDS.filter(([, ...args]) => version >= 4 || args.join() !== 'vers.dyn')
    const theirs = await underReference(line, (host) => printed(host, commands))
    const ours = await underOurs(line, (host) => printed(host, commands))
    expect(ours).toEqual(theirs)
    const has = (text: string): boolean => ours.some((each) => each.includes(text))
    expect(has('vers.dyn.deep.b')).toBe(true)
    console.log(`version ${version}: ${ours.length} lines are the same`)
  })
})
