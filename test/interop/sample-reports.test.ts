/**
 * Compares live reports of the sample agent's metrics by our tools and the reference's, from the reference's collector. Digits of changing
 * values are masked. Commands for one metric are in tools.test.ts; pmdumptext has its own test.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasReference, type Printed, run, startReference, type TestCollector, top } from './lib/programs.ts'

const ENV = { PCP_DERIVED_CONFIG: '', TZ: 'UTC' }

/** RULES is replaced by a file with the rules below. */
const LINES: readonly string[] = [
  'pmrep -s 2 -t 0.1 sample.long.one sample.bin sample.string.hullo',
  'pmrep -s 2 -t 0.1 -X inst -u sample.bin sample.float.bin',
  'pmrep -s 2 -t 0.1 -o csv -u sample.long.ten sample.bin',
  'pmrep -s 2 -t 0.1 -p -u sample.colour',
  'pmrep -s 2 -t 0.1 -x -U sample.long.hundred',
  'pmrep -s 2 -t 0.1 -J 3 -u sample.bin',
  'pmrep -s 1 -r -9 500 sample.bin',
  'pmrep -s 1 -i bin-100,bin-300 -7 sample.bin',
  'pmrep -s 1 -g sample.long',
  'pmrep -C sample.bin sample.nosuch',
  'pmrep sample.aggregate.hullo',
  'pmevent -s 1 sample.long.one',
  'pmevent sample.nosuch',
  'pmie -v -t 0.3sec -T 0.5sec -c RULES',
  'pmie -V -e -t 0.3sec -T 0.5sec -c RULES',
  'pmie -q -v -t 0.3sec -T 0.5sec -c RULES',
  'pmie -j host -v -t 0.3sec -T 0.5sec -c RULES',
  'pmstat -s 2 -t 0.3',
  'pmstat -x -l -s 2 -t 0.3',
  'pmstat -z -s 1 -t 0.3',
  'pcp2csv -s 2 -t 0.1 sample.bin sample.string.hullo',
  'pcp2json -s 1 sample.long sample.bin',
  'pcp2json -s 2 -t 0.1 -x -X sample.string.hullo sample.colour',
  'pcp2xml -s 1 sample.long sample.bin',
  'pcp2xml -s 2 -t 0.1 -x -X sample.string.hullo sample.bin',
]

const RULES = `
one = sample.long.one;
bins = sample.bin #'bin-100' #'bin-300';
sums = sum_inst sample.bin;
some = some_inst sample.bin > 850;
all = all_inst sample.bin > 850;
high = count_inst sample.bin > 500;
mean = avg_sample sample.long.ten @0..2;
big = sample.long.million > 3 && sample.long.hundred < 200 -> print "yes %v";
each = some_inst sample.bin > 700 -> print "high %i=%v from %h";
`

describe.skipIf(!hasReference)('live reports', () => {
  let collector: TestCollector
  let runs = 0
  let lines = 0
  beforeAll(async () => {
    collector = await startReference(['pmcd', 'sample', 'linux'])
    writeFileSync(join(collector.dir, 'rules'), RULES)
  })
  afterAll(async () => {
    await collector?.stop()
    console.log(`live reports: ${runs} runs of both sides, ${lines} lines compared`)
  })

  const masked = ({ stdout, stderr }: Printed): string =>
    (stdout + stderr.replace(/^Usage: [\s\S]*/m, ''))
      .replace(/-?[0-9][0-9.e+]*[KMGmg]?(?![a-z])/g, 'N')
      .replace(/ +/g, ' ')

  test.each(LINES)('%s', async (line) => {
    const [name = '', ...words] = line.split(' ')
    const reference = `/usr/bin/${name}`
    if (!existsSync(reference)) return
    const rules = join(collector.dir, 'rules')
    const args = ['-h', collector.host, ...words.map((word) => (word === 'RULES' ? rules : word))]
    const theirs = await run(reference, args, { env: ENV })
    const ours = await run(join(top, 'bin', name), args, { env: ENV })
    expect(masked(ours)).toBe(masked(theirs))
    expect(ours.status).toBe(theirs.status)
    runs += 1
    lines += theirs.stdout.split('\n').length - 1
  })
})
