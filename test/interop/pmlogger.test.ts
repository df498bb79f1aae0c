/** Our pmlogger and PCP's: each with the other's pmlc, and PCP's archive tools on our archives. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pmlogcheck } from '../../src/tools/pmlogcheck/index.ts'
import { tool as pmdumplog } from '../../src/tools/pmlogdump/index.ts'
import { bundleTools } from '../lib/bundle-tools.ts'
import { testIo } from '../tools/run-tool.ts'
import { sortBlocks } from './lib/dump-order.ts'
import {
  hasReference,
  type Printed,
  plainEnv,
  run,
  startReference,
  type TestCollector,
} from './lib/programs.ts'

const MAPS = '/var/lib/pcp/tmp/pmlogger'

let dir: string
let collector: TestCollector
let started = 0
const children: ChildProcess[] = []

beforeAll(async () => {
  if (!hasReference) return
  dir = mkdtempSync(join(tmpdir(), 'pmlogger-interop-'))
  await bundleTools(dir, { pmlogger: 'pmlogger.ts', pmlc: 'pmlc/index.ts' })
  collector = await startReference(['pmcd', 'sample'])
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) await terminate(child)
  }
})
afterAll(async () => {
  await collector?.stop()
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
})

type Side = 'ours' | 'theirs'

interface Running {
  readonly child: ChildProcess
  readonly archive: string
  /** Control port. */
  readonly port: number
}

/** Starts a logger of one side; resolves once it accepts control requests. */
async function startLogger(side: Side, config: string, ...options: string[]): Promise<Running> {
  const archive = join(dir, `a${started++}`)
  writeFileSync(`${archive}.conf`, config)
  const args = ['-h', collector.host, '-c', `${archive}.conf`, '-l', `${archive}.log`, ...options, archive]
  const own = { PCP_RUN_DIR: dir, PCP_TMP_DIR: dir }
  const child =
    side === 'ours'
      ? spawn(process.execPath, [join(dir, 'pmlogger.cjs'), ...args], {
          env: plainEnv(own),
          stdio: 'ignore',
          cwd: dir,
        })
      : spawn('pmlogger', args, { env: plainEnv(), stdio: 'ignore', cwd: dir })
  children.push(child)
  const map = join(side === 'ours' ? join(dir, 'pmlogger') : MAPS, String(child.pid))
  while (!existsSync(map) || !/^\d+\n/.test(readFileSync(map, 'utf8'))) {
    if (child.exitCode !== null) throw new Error(readFileSync(`${archive}.log`, 'utf8'))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { child, archive, port: Number.parseInt(readFileSync(map, 'utf8'), 10) }
}

async function stop({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error('The logger has ended unexpectedly')
  await terminate(child)
}

/** PCP's logger misses about 1 of 40 signals, those right before it waits for the next event. Another signal wakes it. */
async function terminate(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const again = setInterval(() => child.kill('SIGTERM'), 1000)
  await gone
  clearInterval(again)
}

/** Returns the output of one side's pmlc for some commands. */
async function control(side: Side, port: number, commands: readonly string[]): Promise<Printed> {
  const script = join(dir, 'script')
  writeFileSync(script, `${commands.join('\n')}\n`)
  const pmlc = side === 'ours' ? `${process.execPath} ${join(dir, 'pmlc.cjs')}` : 'pmlc'
  return run('/bin/sh', ['-c', `${pmlc} -p ${port} < ${script}`])
}

/** Returns the output and errors of one of our tools. */
async function ours(tool: Tool, ...args: readonly string[]): Promise<[stdout: string, stderr: string]> {
  const io = testIo(tool.name, args, { TZ: 'UTC' })
  await tool.run(io)
  return [io.printed.stdout, io.printed.stderr]
}

describe.runIf(hasReference)('with PCP', () => {
  test.each(['2', '3'])('its tools find no errors in an archive of version %s', async (version) => {
    const config =
      'log on once { sample.colour sample.string }\nlog on 50 msec { sample.bin sample.proc sample.event.records }\nlog on 100 msec sample.long\n'
    const logger = await startLogger('ours', config, '-V', version, '-s', '40', '-v', '15')
    await once(logger.child, 'exit')
    const check = await run('pmlogcheck', ['-w', logger.archive])
    expect([check.status, check.stdout, check.stderr]).toEqual([0, '', ''])
    const dump = await run('pmdumplog', ['-a', logger.archive])
    expect(dump.status).toBe(0)
    const records = [...dump.stdout.matchAll(/^\[\d+ bytes\]\n(\S+) +(\d+) metrics?$/gm)].map(([, , count]) =>
      Number(count),
    )
    console.log(
      `version ${version}: ${records.length} records, ${dump.stdout.split('\n').length} lines of pmdumplog`,
    )
    expect([records[0], records.at(-1)]).toEqual([5, 5])
    expect(records.length).toBeGreaterThanOrEqual(42)
    const info = await run('pminfo', ['-a', logger.archive, '-dmtT', 'sample.bin', 'sample.string.hullo'])
    const live = await run('pminfo', ['-h', collector.host, '-dmtT', 'sample.bin', 'sample.string.hullo'])
    expect(info.stdout).toBe(live.stdout)
  })

  test.each([
    ['ours', '2', 'one volume'],
    ['ours', '2', 'volumes'],
    ['ours', '3', 'one volume'],
    ['ours', '3', 'volumes'],
    ['theirs', '2', 'one volume'],
    ['theirs', '2', 'volumes'],
    ['theirs', '3', 'one volume'],
    ['theirs', '3', 'volumes'],
  ] as const)(
    'both read the same from an archive of %s in version %s with %s',
    async (side, version, volumes) => {
      const config =
        'log on 50 msec { sample.bin sample.proc sample.float sample.string }\nlog on 100 msec sample.long\n'
      const options = ['-V', version, '-s', '40', ...(volumes === 'volumes' ? ['-v', '15'] : [])]
      const logger = await startLogger(side, config, ...options)
      await once(logger.child, 'exit')
      expect(existsSync(`${logger.archive}.1`)).toBe(volumes === 'volumes')
      const check = await run('pmlogcheck', ['-w', logger.archive])
      expect([check.status, check.stdout, check.stderr]).toEqual([0, '', ''])
      expect((await ours(pmlogcheck, '-w', logger.archive)).join('')).toBe('')
      const { stdout } = await run('pmdumplog', ['-az', logger.archive])
      const [dump] = await ours(pmdumplog, '-az', logger.archive)
      expect(sortBlocks(dump)).toBe(sortBlocks(stdout))
      console.log(`${side}, version ${version}, ${volumes}: ${stdout.split('\n').length} lines the same`)
    },
  )

  test("the first and last record are those of PCP's logger, except for identity and time", async () => {
    const dumps: string[] = []
    for (const side of ['ours', 'theirs'] as const) {
      const logger = await startLogger(side, 'log on once { sample.colour }\n', '-V', '3')
      // 'nl' marks metrics not logged yet.
      const logged = async (): Promise<string> =>
        (await control('theirs', logger.port, ['query sample.colour'])).stdout
      await expect.poll(logged).toMatch(/^ +adv +on +once +\[0 or "red"\]$/m)
      await stop(logger)
      const { stdout } = await run('pmdumplog', ['-dlm', logger.archive])
      dumps.push(
        stdout
          .replaceAll(logger.archive, 'ARCHIVE')
          .replaceAll(/\b\d{2}:\d{2}:\d{2}\.\d+/g, 'TIME')
          .replaceAll(new RegExp(`\\b${logger.child.pid}\\b`, 'g'), 'PID')
          .replaceAll(/(pmcd\.pmlogger\.(?:host|port)\): inst .* value ).*/g, '$1')
          .replaceAll(/(?<=red|green|blue)("\] value )\d+/g, '$1'),
      )
    }
    expect(dumps[0]).toBe(dumps[1])
  })

  test.each([
    ['ours', 'theirs'],
    ['theirs', 'ours'],
    ['ours', 'ours'],
  ] as const)("pmlc of %s controls the logger of %s like PCP's", async (client, server) => {
    const commands = [
      'query { sample.long.one hinv.nosuch }',
      'query { sample.long.one sample.colour sample.long.bin }',
      'log advisory off sample.long.one',
      'log mandatory on 2 sec { sample.long.ten sample.colour[red,green] }',
      'log mandatory on 90 sec sample.long.hundred',
      'log advisory on 1 sec sample.bin',
      'log mandatory off sample.bin[100]',
      'sleep 400',
      'query { sample.long sample.colour }',
      'log mandatory maybe sample.long.ten',
      'query sample.long.ten',
      'new volume',
      'bad command',
    ]
    // Over TCP, ours allows changes only if configured.
    const config = 'log mandatory on 1 sec { sample.long.one }\n[access]\nallow local:* : all;\n'
    const [mine, reference] = [await startLogger(server, config), await startLogger('theirs', config)]
    const plain = ({ stdout }: Printed): string =>
      // Whether a value is already in the archive depends on timing.
      stdout
        .replaceAll(/(mand|adv ) (on {2}|off )(?:nl|na| {2})/g, '$1 $2..')
        .replaceAll(/port \d+/g, 'port N')
    const ours = plain(await control(client, mine.port, commands))
    expect(ours).toBe(plain(await control('theirs', reference.port, commands)))
    console.log(`${client} drives ${server}: ${ours.split('\n').length} lines of pmlc`)
    await stop(mine)
    expect((await run('pmlogcheck', [mine.archive])).status).toBe(0)
  })
})
