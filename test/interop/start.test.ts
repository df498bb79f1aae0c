/** `npm start` with PCP's own clients, which must not report any errors. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasReference, run, startOurs, type TestCollector, top } from './lib/programs.ts'

describe.runIf(hasReference)('the reference against npm start', () => {
  let ours: TestCollector
  let dir: string

  beforeAll(async () => {
    ours = await startOurs()
    dir = mkdtempSync(join(tmpdir(), 'pcp-ts-start-'))
  })
  afterAll(async () => {
    rmSync(dir, { recursive: true, force: true })
    expect(await ours.stop()).toBe(0)
  })

  const quiet = async (command: string, ...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(command, ['-h', ours.host, ...args])
    expect({ command, stderr, status }).toEqual({ command, stderr: '', status: 0 })
    return stdout
  }

  test('pminfo reads names, descriptors, help, labels and values of every metric', async () => {
    // The web server starts after the collector, and adds metrics about itself.
    await expect
      .poll(async () => (await run('pminfo', ['-h', ours.host, 'pmproxy'])).stdout)
      .toContain('pmproxy.pid')
    const names = (await quiet('pminfo')).trim().split('\n')
    const all = await quiet('pminfo', '-dfmtTl')
    // Metrics may be added between the two runs, so the counts compared are of one.
    const listed = new Set(Array.from(all.matchAll(/^(\S+) PMID: /gm), ([, name]) => name))
    const described = all.match(/^ {4}Data Type: /gm)?.length
    const helped = all.match(/^Help:$/gm)?.length
    console.log(`pminfo: ${listed.size} metrics, ${all.split('\n').length} lines`)
    expect(names.length).toBeGreaterThan(700)
    expect(names.filter((name) => !listed.has(name))).toEqual([])
    expect(described).toBe(listed.size)
    expect(helped).toBe(listed.size)
    expect(all).not.toMatch(
      /One-line Help: Error|Full Help: Error|pmLookupDesc|pmFetch|pmNameIndom|DISAPPEARED/,
    )
  })

  test('pmprobe counts values of every metric', async () => {
    const lines = (await quiet('pmprobe', '-v')).trim().split('\n')
    const withValues = lines.filter((line) => Number(line.split(' ')[1]) > 0)
    console.log(`pmprobe: ${withValues.length} of ${lines.length} metrics have values on this machine`)
    expect(withValues.length).toBeGreaterThan(400)
    const unexpected = lines.filter((line) => /-1234[56]|-1235[78]|-12366|-12386/.test(line))
    expect(unexpected).toEqual([])
  })

  test('pmval, pmrep, pmstat and pcp report', async () => {
    expect(await quiet('pmval', '-s', '2', '-t', '0.2', 'kernel.all.load')).toMatch(/1 minute/)
    expect(await quiet('pmval', '-s', '2', '-t', '0.2', 'disk.dev.read')).toMatch(/converting to/)
    expect(await quiet('pmrep', '-s', '2', '-t', '0.2', 'kernel.all.load', 'mem.util.free')).toMatch(
      /k\.a\.load/,
    )
    expect((await quiet('pmstat', '-s', '2', '-t', '0.2')).trimEnd().split('\n')).toHaveLength(5)
    expect(await quiet('pcp')).toMatch(/pmcd: Version /)
  })

  test('pmval sees changes by pmstore', async () => {
    expect(await quiet('pmstore', 'simple.numfetch', '100')).toMatch(
      /^simple\.numfetch old value=\d+ new value=100$/m,
    )
    expect(Number((await quiet('pmprobe', '-v', 'simple.numfetch')).split(' ')[2])).toBeGreaterThanOrEqual(
      100,
    )
    const refused = await run('pmstore', ['-h', ours.host, 'simple.color', '300'])
    expect(refused.stdout).toMatch(/Bad input to pmstore/)
  })

  test('pmlogger records a minute that pmlogcheck accepts', async () => {
    const metrics = ['kernel', 'mem', 'swap', 'disk', 'network', 'filesys', 'hinv', 'simple', 'pmcd']
    const config = join(dir, 'config')
    writeFileSync(config, `log mandatory on 1 second { ${metrics.join(' ')} }\n`)
    const archive = join(dir, 'minute')
    const args = ['-h', ours.host, '-c', config, '-T', '60sec', '-l', join(dir, 'pmlogger.log'), archive]
    const recorded = await run('pmlogger', args, { timeoutMs: 110_000 })
    expect({ status: recorded.status, stderr: recorded.stderr }).toEqual({ status: 0, stderr: '' })
    const checked = await run('pmlogcheck', ['-v', archive])
    expect(checked.status).toBe(0)
    const complaints = `${checked.stdout}${checked.stderr}`
      .split('\n')
      .filter((line) => /error|warning|wrap/i.test(line))
      // A gauge of the kernel that PCP's catalog calls a counter: it 'wraps' in PCP's own archives, too.
      .filter((line) => !line.includes('mem.vmstat.workingset_nodes'))
    expect(complaints).toEqual([])
    const size = await run('pmdumplog', ['-l', archive])
    expect(size.stdout).toMatch(/Performance metrics from host/)
  })

  test('pmlogcheck and pmval read its archives, complete or being written, plain or compressed', async () => {
    const place = join(dir, 'recorded')
    mkdirSync(join(place, 'etc', 'pmlogger'), { recursive: true })
    // The default configuration, ten times as often.
    const shipped = readFileSync(join(top, 'share', 'pmlogger', 'config.default'), 'utf8')
    writeFileSync(join(place, 'etc', 'pmlogger', 'config.default'), shipped.replace('10 sec', '1 sec'))
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const first = await startOurs('--dir', place)
    await until(() => first.printed().includes('Ctrl-C'))
    const [archive = ''] = /\S*\/archives\/\S+\.\d\d\.\d\d/.exec(first.printed()) ?? []
    await until(() => statSync(`${archive}.0`).size > 15_000)
    const growing = await run('pmval', ['-a', archive, '-t', '1sec', 'kernel.all.load'])
    expect({ stderr: growing.stderr, status: growing.status }).toEqual({ stderr: '', status: 0 })
    expect(await first.stop()).toBe(0)
    const check = async (): Promise<string> => {
      expect(await run('pmlogcheck', [archive])).toEqual({ status: 0, stdout: '', stderr: '' })
      const { status, stdout, stderr } = await run('pmval', ['-a', archive, '-t', '1sec', 'disk.all.read'])
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
      return stdout
    }
    const plain = await check()
    const folder = join(archive, '..')
    const yesterday = Date.now() / 1000 - 90_000
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), yesterday, yesterday)
    const second = await startOurs('--dir', place)
    await until(
      () =>
        existsSync(`${archive}.0.gz`) && existsSync(`${archive}.meta.gz`) && !existsSync(`${archive}.meta`),
    )
    expect(await second.stop()).toBe(0)
    expect(readdirSync(folder).filter((name) => name.endsWith('.gz'))).toHaveLength(2)
    expect(await check()).toBe(plain)
    const labels = await run('pmdumplog', ['-l', archive])
    console.log(`${plain.trimEnd().split('\n').length} lines of pmval; ${labels.stdout.split('\n')[1]}`)
  })
})
