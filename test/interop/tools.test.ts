/**
 * Compares our commands with the reference on the reference's collector: the same arguments must print the same bytes. Changing values
 * are compared with their digits masked.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasReference, type Printed, run, startReference, type TestCollector, top } from './lib/programs.ts'

/** Only the derived metrics that every context has; a fixed time zone. */
const ENV = { PCP_DERIVED_CONFIG: '', TZ: 'EAST-3' }

/** Command lines that must print the same bytes. */
const EXACT: readonly string[] = [
  'pminfo',
  'pminfo -d',
  'pminfo -I sample',
  'pminfo -M',
  'pminfo -tT sample simple kernel mem pmcd hinv',
  'pminfo -dmtT sample simple',
  'pminfo -l sample.bin simple kernel.percpu hinv pmcd.control event',
  'pminfo -v sample.bad sample.noinst sample.needprofile simple',
  'pminfo -f sample.bin sample.bogus_bin sample.hordes sample.long sample.string sample.aggregate sample.bad',
  'pminfo -F sample.bogus_bin sample.needprofile sample.ulonglong.one',
  'pminfo -b 3 -f sample.long sample.bad sample.double',
  'pminfo -dtTI 29.2 253.0 60.1 29.99 99.9',
  'pminfo -l 29.2 253.0 99.9',
  'pminfo -m 29.0.6 253.0.1 99.1.1 29.0.999 nosuch 9x 29.',
  'pminfo -d kvm.trace',
  'pminfo -Q',
  'pminfo --he',
  'pminfo --fetch=3',
  'pminfo --batch',
  'pminfo -b x',
  'pminfo -D nosuch',
  'pminfo -z -Z UTC x',
  'pmprobe sample.bin sample.bad sample.bogus_bin sample.needprofile nosuch',
  'pmprobe -v sample.long sample.bin sample.bad sample.string sample.aggregate sample.float',
  'pmprobe -i sample.bin sample.long.one sample.bogus_bin sample.bad',
  'pmprobe -I sample.bin sample.long.one sample.bogus_bin sample.bad',
  'pmprobe -iI sample.bin sample.long.one sample.bogus_bin sample.bad sample.noinst',
  'pmprobe -fiI sample.bin sample.long.one sample.needprofile sample.bad',
  'pmprobe -F sample nosuch sample.bin',
  'pmprobe -F -v sample.bin nosuch sample.long.one',
  'pmprobe -v mmv',
  'pmprobe -b 1 -v sample.long',
  'pmprobe -V sample.bin',
  'pmprobe -V -b 2 -v sample.bin sample.long',
  'pmprobe -V -b 4 -i sample.bin sample.long sample.bad',
  'pmprobe -V -fI -b 3 sample.long sample.bin',
  'pmprobe -vi x',
  'pmval -s 2 -t 0.05 sample.bin',
  'pmval -s 2 -t 0.05 -i bin-100,bin-300 sample.bin',
  'pmval -s 2 -t 0.05 sample.bin[bin-100,bin-300]',
  'pmval -s 1 -i bin-100,nope sample.bin',
  'pmval -s 1 sample.long.one[x]',
  'pmval -s 2 -t 0.05 sample.noinst',
  'pmval -s 2 -t 0.05 sample.bad.fetch.again',
  'pmval -s 2 -t 0.05 sample.bogus_bin',
  'pmval -s 1 sample.bad.unknown',
  'pmval -s 1 sample.bad.nosupport',
  'pmval -s 1 sample.needprofile',
  'pmval -s 1 -w 5 sample.bin',
  'pmval -s 1 -f 2 sample.float.bin',
  'pmval -s 1 -f 30 sample.float.bin',
  'pmval -s 1 -f 0 sample.float.million',
  'pmval -s 1 -w 3 sample.float.million',
  'pmval -s 1 sample.double.bin',
  'pmval -s 1 sample.string.hullo',
  'pmval -s 1 sample.aggregate.hullo',
  'pmval -s 2 -t 0.05 sample.long.bin_ctr',
  'pmval -s 2 -t 0.05 -w 9 sample.long.bin_ctr',
  'pmval -s 2 -t 0.05 -r sample.long.bin_ctr',
  'pmval -s 2 -t 0.05 sample.dynamic.counter',
  'pmval -s 0 sample.bin',
  'pmval -T 0.25 -t 0.1 sample.long.one',
  'pmval -z -s 1 sample.long.one',
  'pmval -Z UTC -s 1 sample.long.one',
  'pmval -s 1 -t 5furlongs sample.bin',
  'pmval -s x sample.bin',
  'pmval -w 0 sample.bin',
  'pmval -f -1 sample.bin',
  'pmval -d sample.bin',
  'pmval -U x sample.bin',
  'pmval -S @00:00 sample.bin',
  'pmval x/sample.bin',
  'pmval sample',
  'pmval nosuch',
  'pmval a b',
  'pmval -x foo -s 1 sample.long.one',
  'pmval -x foo -s 1 sample.event.records',
  'pmstore nosuch 1',
  'pmstore sample 1',
  'pmstore sample.long.ten 3',
  'pmstore sample.long.one x',
  'pmstore sample.long.one 3000000000',
  'pmstore sample.bad.unknown 1',
  'pmstore sample.bad.novalues 1',
  'pmstore sample.bad.fetch.again 1',
  'pmstore sample.aggregate.write_me x',
  'pmstore sample.event.records x',
  'pmstore -i nope sample.bin 7',
  'pmstore -i x sample.long.one 3',
]

/** Command lines whose digits change. */
const MASKED: readonly string[] = [
  'pminfo -f simple hinv kernel.all.load mem.util network.interface',
  'pminfo -dfmtT simple',
  'pmprobe -v simple kernel.all mem.util network.interface',
  'pmprobe -i kernel disk network hinv',
  'pmval -s 2 -t 0.05 sample.colour',
  'pmval -s 2 -t 0.05 sample.seconds',
  'pmval -s 1 kernel.all.load',
]

/** Stores, each between stores of the same values by the reference. */
const STORES: readonly string[] = [
  'sample.long.write_me 0x10',
  'sample.long.write_me -5',
  'sample.ulonglong.write_me -1',
  'sample.longlong.write_me -9223372036854775808',
  'sample.double.write_me -1.5e3',
  'sample.double.write_me nan',
  'sample.float.write_me 3.5',
  'sample.float.write_me 1e-40',
  'sample.string.write_me hello',
  'sample.bin 5',
  '-i bin-100,bin-300 sample.bin 7',
  '-F sample.bin 3',
]

describe.skipIf(!hasReference)('our commands print the same as the reference', () => {
  let collector: TestCollector
  let runs = 0
  let lines = 0

  beforeAll(async () => {
    collector = await startReference(['pmcd', 'sample', 'linux', 'simple'])
  })
  afterAll(async () => {
    await collector?.stop()
    console.log(`commands: ${runs} runs of both sides, ${lines} lines compared`)
  })

  const ours = (name: string, args: readonly string[]): Promise<Printed> =>
    run(join(top, 'bin', name), ['-h', collector.host, ...args], { env: ENV })
  const theirs = (name: string, args: readonly string[]): Promise<Printed> =>
    run(`/usr/bin/${name}`, ['-h', collector.host, ...args], { env: ENV })

  const compare = (
    mine: Printed,
    reference: Printed,
    mask: (text: string) => string = (text) => text,
  ): void => {
    expect(mask(mine.stdout)).toBe(mask(reference.stdout))
    // Usage texts are our own.
    const messages = (text: string): string => text.replace(/^Usage: [\s\S]*/m, '')
    expect(messages(mine.stderr)).toBe(messages(reference.stderr))
    expect(mine.status).toBe(reference.status)
    runs += 1
    lines += reference.stdout.split('\n').length - 1
  }

  test.each(EXACT)('%s', async (line) => {
    const [name, ...args] = line.split(' ')
    compare(await ours(name!, args), await theirs(name!, args))
  })

  test.each(MASKED)('%s, digits masked', async (line) => {
    const [name, ...args] = line.split(' ')
    const mask = (text: string): string => text.replace(/-?[0-9][0-9.e+]*/g, 'N').replace(/ +/g, ' ')
    compare(await ours(name!, args), await theirs(name!, args), mask)
  })

  test.each(STORES)('pmstore %s', async (line) => {
    const args = line.split(' ')
    const reset = async (): Promise<void> => {
      for (const type of ['long', 'longlong', 'ulonglong', 'float', 'double', 'string'])
        await theirs('pmstore', [`sample.${type}.write_me`, '13'])
      for (let bin = 100; bin <= 900; bin += 100)
        await theirs('pmstore', ['-i', `bin-${bin}`, 'sample.bin', String(bin)])
    }
    await reset()
    const reference = await theirs('pmstore', args)
    await reset()
    compare(await ours('pmstore', args), reference)
  })

  const eventCases = [0, 1, 2, 3, 4].flatMap((state) =>
    ['pminfo -x sample.event.records', 'pmval -s 2 -t 0.05 sample.event.highres_records'].map(
      (line): readonly [number, string] => [state, line],
    ),
  )
  test.each(eventCases)('event records in state %d: %s', async (state, line) => {
    const [name, ...args] = line.split(' ')
    const reset = async (): Promise<void> => {
      for (const metric of ['sample.event.reset', 'sample.event.reset_highres'])
        await theirs('pmstore', [metric, String(state)])
    }
    // Only one of the two instances follows the state; the other one counts fetches.
    const mask = (text: string): string =>
      text
        .split(/^(?=\S|\s+inst )/m)
        .filter((part) => !part.includes('bogus'))
        .join('')
        .replace(/\d\d:\d\d:\d\d\.\d+/g, 'T')
    await reset()
    const reference = await theirs(name!, args)
    await reset()
    compare(await ours(name!, args), reference, mask)
  })
})
