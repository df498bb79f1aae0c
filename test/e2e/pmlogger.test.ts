/** The logger as a process, with a collector and pmlc as processes beside it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { PcpError } from '../../src/model/errors.ts'
import type { FetchResult } from '../../src/model/values.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { tool as pmlogger } from '../../src/tools/pmlogger.ts'
import { bundleTools } from '../lib/bundle-tools.ts'
import { runTool } from '../tools/run-tool.ts'

let programs: string
let dir: string
let port: number
const children: ChildProcess[] = []

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'pmlogger-programs-'))
  await bundleTools(programs, { pmcd: 'pmcd.ts', pmlogger: 'pmlogger.ts', pmlc: 'pmlc/index.ts' })
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pmlogger-e2e-'))
  mkdirSync(join(dir, 'run'))
  mkdirSync(join(dir, 'tmp'))
  writeFileSync(
    join(dir, 'pcp.conf'),
    `PCP_RUN_DIR=${dir}/run\nPCP_TMP_DIR=${dir}/tmp\nPCP_SYSCONF_DIR=${dir}\nPCP_PMCDCONF_PATH=${dir}/pmcd.conf\nPCP_VAR_DIR=${dir}\n`,
  )
  writeFileSync(
    join(dir, 'pmcd.conf'),
    'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so\nsample 29 dso sample_init /lib/pmda_sample.so\n',
  )
  writeFileSync(
    join(dir, 'root'),
    'root { sample pmcd }\nsample { bin 29:0:6 colour 29:0:5 }\npmcd { pid 2:0:23 seqnum 2:0:24 hostname 2:0:21 }\n',
  )
  port = await freePort()
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  rmSync(dir, { recursive: true, force: true })
})

function start(name: string, args: readonly string[], input?: string): ChildProcess {
  const env = Object.entries(process.env).filter(
    ([key]) => !/^(?:PCP|PMCD|PMLOGGER|PMNS|NODE_EXTRA)_/.test(key),
  )
  const child = spawn(process.execPath, [join(programs, `${name}.cjs`), ...args], {
    cwd: dir,
    env: {
      ...Object.fromEntries(env),
      PCP_CONF: join(dir, 'pcp.conf'),
      PMCD_RECONNECT_TIMEOUT: '1',
      PMCD_PORT: String(port),
      PMCD_SOCKET: join(dir, 'pmcd.socket'),
      PMLOGGER_PORT: '0',
      PMLOGGER_LOCAL: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  child.stdin!.end(input)
  children.push(child)
  return child
}

async function startCollector(): Promise<ChildProcess> {
  const args = [
    '-f',
    '-p',
    String(port),
    '-s',
    join(dir, 'pmcd.socket'),
    '-n',
    join(dir, 'root'),
    '-l',
    'pmcd.log',
  ]
  const child = start('pmcd', args)
  await until(() => textOf('pmcd.log').includes(`${port} inet`))
  return child
}

function startLogger(config: string, ...args: string[]): ChildProcess {
  writeFileSync(join(dir, 'l.conf'), config)
  return start('pmlogger', ['-h', `localhost:${port}`, '-c', 'l.conf', '-l', 'l.log', '-V', '3', ...args])
}

const textOf = (file: string): string =>
  existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8') : ''

/** Waits for a logger's status files; returns port, host, archive and note. */
async function mapOf(logger: ChildProcess): Promise<string> {
  const file = join('tmp', 'pmlogger', String(logger.pid))
  await until(() => textOf(file).split('\n').length > 3)
  return textOf(file)
}

/** Polls every few milliseconds, because file events differ between systems. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function ended(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode ?? child.signalCode
}

/** Returns the number of records by kind in an archive, and its reader's warnings. */
async function records(base: string): Promise<{ results: number; marks: number; warnings: string[] }> {
  const warnings: string[] = []
  const context = await openArchive(join(dir, base), { onWarning: ({ message }) => warnings.push(message) })
  context.archive!.setMode('forward', context.archive!.start)
  let results = 0
  let marks = 0
  for (const record of recordsOf(context)) {
    if (record.sets.length === 0) marks++
    else results++
  }
  await context.close()
  return { results, marks, warnings }
}

function* recordsOf(context: Context): Generator<FetchResult> {
  for (;;) {
    try {
      yield context.archive!.fetchRecord()
    } catch (error) {
      if (PcpError.from(error).code === 'PM_ERR_EOL') return
      throw error
    }
  }
}

test('SIGHUP starts a new volume, SIGTERM ends in order and removes the files of the process', async () => {
  await startCollector()
  const logger = startLogger('log on 20 msec { sample.bin }\nlog on once sample.colour', '-m', 'a note', 'a')
  expect(await mapOf(logger)).toMatch(new RegExp(`^\\d+\\n.*\\n${dir}/a\\na note\\n$`))
  logger.kill('SIGHUP')
  await until(() => textOf('l.log').includes('New log volume 1, via SIGHUP'))
  const size = (): number => readFileSync(join(dir, 'a.1')).length
  await until(() => size() > 1000)
  logger.kill('SIGTERM')
  expect(await ended(logger)).toBe(0)
  expect(textOf('l.log')).toContain('pmlogger: Caught signal 15, exiting')
  expect(textOf('l.log')).toMatch(/\nLog finished .*\n$/)
  expect(readdirSync(join(dir, 'tmp', 'pmlogger'))).toEqual([])
  expect(readdirSync(join(dir, 'run'))).toEqual([])
  const { results, marks } = await records('a')
  expect(results).toBeGreaterThan(4)
  expect(marks).toBe(0)
})

test('SIGUSR2 continues in a new archive', async () => {
  await startCollector()
  const logger = startLogger('log on 20 msec { sample.bin }', '-m', 'pmlogger_check', 'x%Y')
  const archives = (): string[] => readdirSync(dir).filter((name) => name.endsWith('.index'))
  await until(() => textOf('Latest').includes('Archive:'))
  logger.kill('SIGUSR2')
  await until(
    () => archives().length === 2 && /reexec\n/.test(textOf(join('tmp', 'pmlogger', String(logger.pid)))),
  )
  logger.kill('SIGINT')
  expect(await ended(logger)).toBe(0)
  const year = new Date().getFullYear()
  expect(archives().sort()).toEqual([`x${year}-00.index`, `x${year}.index`])
  expect(textOf('Latest')).toMatch(
    new RegExp(`^PCPFolio\\nVersion: 1\\n[^]*\\nArchive: +\\S+ +x${year}-00\\n$`),
  )
  for (const name of archives())
    expect((await records(name.replace('.index', ''))).results).toBeGreaterThan(1)
})

test('a lost collector leaves a mark, and recording continues', async () => {
  const collector = await startCollector()
  const logger = startLogger('log on 50 msec { sample.bin }', 'a')
  await until(() => existsSync(join(dir, 'a.0')) && readFileSync(join(dir, 'a.0')).length > 800)
  collector.kill('SIGKILL')
  await until(() => textOf('l.log').includes('Lost connection to PMCD'))
  await startCollector()
  await until(() => textOf('l.log').includes('re-established connection to PMCD'))
  const size = readFileSync(join(dir, 'a.0')).length
  await until(() => readFileSync(join(dir, 'a.0')).length > size + 500)
  logger.kill('SIGTERM')
  expect(await ended(logger)).toBe(0)
  expect((await records('a')).marks).toBe(1)
})

test('the archive of a killed logger can be read up to its last record', async () => {
  await startCollector()
  const logger = startLogger('log on 5 msec { sample.bin }', '-v', '20', 'a')
  await until(() => existsSync(join(dir, 'a.2')))
  logger.kill('SIGKILL')
  await ended(logger)
  const { results, warnings } = await records('a')
  expect(warnings).toEqual([])
  expect(results).toBeGreaterThanOrEqual(40)
})

test('pmlc shows and changes logged metrics', async () => {
  await startCollector()
  const logger = startLogger('log mandatory on 1 hour sample.bin', 'a')
  const control = (await mapOf(logger)).split('\n')[0]!
  const script = [
    'query sample.colour',
    'log mandatory on 2 sec sample.colour[red]',
    'log advisory off sample.bin',
    'query {',
    'sample.colour }',
    'new volume',
    'query sample.nosuch',
    'status',
    'wrong',
    'show loggers',
  ].join('\n')
  const pmlc = start('pmlc', ['-p', control], script)
  let out = ''
  let err = ''
  pmlc.stdout!.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  pmlc.stderr!.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  await once(pmlc, 'close')
  expect(pmlc.exitCode).toBe(0)
  expect(out.replaceAll(/(?<=on {2}) {2} |(?<=on {2})nl /g, '   ')).toContain(
    [
      'sample.colour',
      '    adv  off nl              [0 or "red"]',
      '    adv  off nl              [1 or "green"]',
      '    adv  off nl              [2 or "blue"]',
      '',
      'Warning: unable to change logging state for:',
      'sample.bin instance(s):',
    ].join('\n'),
  )
  expect(out).toMatch(/ {4}mand on {2}(?:nl| {2}) {7}2 sec {2}\[0 or "red"\]/)
  expect(out).toContain(`pmlogger [${logger.pid}] on host local: is logging metrics from host `)
  expect(out).toContain(`    ${logger.pid}\n`)
  expect(err).toBe(
    [
      'New log volume 1',
      'Warning [<stdin>, line 7]',
      'Problem with lookup for metric "sample.nosuch" ...',
      'Reason: Unknown metric name',
      'Logging statement ignored due to error(s)',
      'Error [<stdin>, line 9]',
      'syntax error',
      '',
    ].join('\n'),
  )
  expect(textOf('l.log')).toContain('mandatory on 2.0 sec\n  metric: sample.colour\n    instance: red\n')
})

test('a farm records each collector to a separate archive, even one that starts later', async () => {
  const later = await freePort()
  writeFileSync(join(dir, 'l.conf'), 'log on 50 msec { sample.bin }')
  writeFileSync(
    join(dir, 'farm'),
    `localhost:${port} one l.conf\nlocalhost:${later} two l.conf label=second\n`,
  )
  await startCollector()
  const farm = start('pmlogger', ['--farm', 'farm', '-l', 'l.log', '-V', '3'])
  await until(() => textOf('l.log').includes(`localhost:${later}: Cannot connect`))
  await until(() => existsSync(join(dir, 'one.0')))
  port = later
  rmSync(join(dir, 'pmcd.log'))
  await startCollector()
  await until(() => existsSync(join(dir, 'two.0')))
  farm.kill('SIGHUP')
  await until(() => existsSync(join(dir, 'one.1')) && existsSync(join(dir, 'two.1')))
  farm.kill('SIGTERM')
  expect(await ended(farm)).toBe(0)
  expect((await records('one')).results).toBeGreaterThan(1)
  const two = await openArchive(join(dir, 'two'))
  expect(two.archive!.label.hostname).toBe('second')
  await two.close()
})

test('a farm ends after a time, or with a process, even without any collector', async () => {
  await startCollector()
  writeFileSync(join(dir, 'l.conf'), 'log on 50 msec { sample.bin }')
  writeFileSync(
    join(dir, 'farm'),
    `localhost:${port} one l.conf\nlocalhost:${await freePort()} two l.conf size=100\n`,
  )
  const byTime = start('pmlogger', ['--farm', 'farm', '-l', 'l.log', '-T', '2sec'])
  expect(await ended(byTime)).toBe(0)
  expect(textOf('l.log')).toContain('End of run time, exiting')
  const watched = spawn('sleep', ['1000'])
  writeFileSync(join(dir, 'farm'), `localhost:${port} three l.conf\n`)
  const byProcess = start('pmlogger', ['--farm', 'farm', '-l', 'm.log', '-p', String(watched.pid)])
  await until(() => existsSync(join(dir, 'three.0')))
  watched.kill()
  expect(await ended(byProcess)).toBe(0)
  expect(textOf('m.log')).toContain('process from -p has vanished, exiting')
})

test('the documented configuration is valid, and -C finds errors that the logger would refuse', async () => {
  await startCollector()
  const docs = readFileSync(join(import.meta.dirname, '../../docs/reference/pmlogger.md'), 'utf8')
  const block = /## Configuration\n\n(?:<!--.*-->\n)?((?: {4}.*\n|\n)+)/
    .exec(docs)![1]!
    .replaceAll(/^ {4}/gm, '')
  writeFileSync(
    join(dir, 'l.conf'),
    `${block.replace('[access]', 'log on 50 msec { sample.bin }\n\n[access]')}`,
  )
  const check = start('pmlogger', ['-C', '-c', 'l.conf', '-h', `localhost:${port}`])
  expect(await ended(check)).toBe(0)
  const logger = start('pmlogger', ['-c', 'l.conf', '-h', `localhost:${port}`, '-l', 'l.log', '-s', '2', 'a'])
  expect(await ended(logger)).toBe(0)
  expect((await records('a')).results).toBeGreaterThanOrEqual(2)
  for (const access of ['disallow * : all; allow local:* : all;', 'allow no-such-host.invalid : all;']) {
    writeFileSync(join(dir, 'l.conf'), `log on 1 sec { sample.bin }\n[access]\n${access}\n`)
    expect(await ended(start('pmlogger', ['-C', '-c', 'l.conf', '-h', `localhost:${port}`]))).toBe(1)
  }
})

test('a farm refuses options for a single recorder', async () => {
  for (const [option, ...value] of [
    ['-c', 'x'],
    ['-h', 'y'],
    ['-H', 'y'],
    ['-o'],
    ['-P'],
    ['-I', '3'],
    ['-m', 'n'],
  ]) {
    const { stderr, status } = await runTool(pmlogger, ['--farm', 'farm', option!, ...value])
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${option} cannot be used with --farm: `)])
  }
})

test('there is one primary logger, and its links are removed with it', async () => {
  await startCollector()
  // The host of a primary logger is set by its environment, not by an argument.
  const primary = (...args: string[]): ChildProcess =>
    start('pmlogger', ['-P', '-c', 'l.conf', '-l', ...args])
  writeFileSync(join(dir, 'l.conf'), 'log on 50 msec sample.bin\n')
  const first = primary('l.log', 'a')
  await until(() => existsSync(join(dir, 'run', 'pmlogger.primary.socket')))
  const second = primary('m.log', 'b')
  expect(await ended(second)).toBe(1)
  expect(textOf('m.log')).toContain(`there is already a primary pmlogger running, pid ${first.pid}`)
  first.kill('SIGTERM')
  expect(await ended(first)).toBe(0)
  expect([...readdirSync(join(dir, 'run')), ...readdirSync(join(dir, 'tmp', 'pmlogger'))]).toEqual([])
})

test('a recording is ended by its parent through a file descriptor, or after a time or with a process', async () => {
  await startCollector()
  const recording = startLogger('log on 20 msec sample.bin\n', '-x', '3', 'a')
  await until(() => existsSync(join(dir, 'a.0')) && readFileSync(join(dir, 'a.0')).length > 500)
  ;(recording.stdio[3] as Writable).write('?\nQ\n')
  expect(await ended(recording)).toBe(0)
  expect(textOf('l.log')).toContain('has been in progress for')
  expect(textOf('l.log')).toContain('Recording session terminated, exiting')
  const timed = startLogger('log on 20 msec sample.bin\n', '-T', '1 sec', 'b')
  expect(await ended(timed)).toBe(0)
  expect(textOf('l.log')).toContain('End of run time, exiting')
  const watched = spawn('sleep', ['100'])
  children.push(watched)
  const watching = startLogger('log on 20 msec sample.bin\n', '-p', String(watched.pid), 'c')
  await until(() => existsSync(join(dir, 'c.0')))
  watched.kill('SIGKILL')
  expect(await ended(watching)).toBe(0)
  expect(textOf('l.log')).toContain('process from -p has vanished, exiting')
})

test('clients denied every operation are refused, others may do what is allowed', async () => {
  await startCollector()
  const rules = 'log on 1 hour sample.bin\n[access]\ndisallow * : all;\nallow 127.0.0.1 : enquire;\n'
  const logger = startLogger(rules, 'a')
  const control = (await mapOf(logger)).split('\n')[0]!
  const pmlc = start(
    'pmlc',
    ['-p', control],
    'query sample.bin\nnew volume\nlog advisory off sample.bin\nstatus\n',
  )
  let out = ''
  for (const stream of [pmlc.stdout!, pmlc.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
  await once(pmlc, 'close')
  expect(out.match(/No permission to perform requested operation/g)).toHaveLength(2)
  expect(out).toContain('adv  on')
  expect(out).toContain('log volume       0')
})

test('invalid arguments are reported, with an error status', async () => {
  const say = async (...args: string[]): Promise<string> => {
    const child = start('pmlogger', args, '')
    let text = ''
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    await once(child, 'close')
    return `${child.exitCode} ${text.split('\n').filter((line) => /^pmlogger\S*:|Cannot|^\[line/.test(line))[0]}`
  }
  expect(await say()).toBe('1 pmlogger.cjs: insufficient arguments')
  expect(await say('-P', '-h', 'x', 'a')).toContain('1 pmlogger.cjs: -P and -h are mutually exclusive')
  expect(await say('-s', 'foo', 'a')).toBe("1 pmlogger.cjs: illegal size argument 'foo' for exit size")
  expect(await say('-V', '4', 'a')).toBe('1 pmlogger.cjs: -V requires a version number of 2 or 3')
  expect(await say('-c', 'nosuch', '-l-', 'a')).toBe(
    '1 pmlogger.cjs: Cannot open config file "nosuch": No such file or directory',
  )
  writeFileSync(join(dir, 'bad.conf'), 'log on\n')
  expect(await say('-c', 'bad.conf', '-l-', 'a')).toBe('1 [line 2] syntax error')
  writeFileSync(join(dir, 'l.conf'), '')
  expect(await say('-c', 'l.conf', '-h', `localhost:${port}`, '-l-', 'a')).toMatch(
    /^1 pmlogger.cjs: Cannot connect to PMCD on host/,
  )
})
