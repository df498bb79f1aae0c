/** Command lines of pmval that once differed from the reference, compared byte for byte. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import { tool } from '../../src/tools/pmval/index.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const canCompare = hasSuite && existsSync('/usr/bin/pmval')
if (!canCompare) console.log('skipped: the archives of the reference or /usr/bin/pmval are not installed')

const env = { TZ: 'UTC', PCP_DERIVED_CONFIG: '' }

const LINES: readonly (readonly string[])[] = [
  // Instances of event records.
  ['-a', 'eventrec', '-i', 'fungus', 'sample.event.records'],
  ['-a', 'eventrec', '-i', 'bogus', 'sample.event.records'],
  ['-a', 'eventrec', '-s', '2', 'sample.event.records[bogus]'],
  ['-U', 'eventrec', '-i', 'bogus,fungus', 'sample.event.records'],
  ['-a', 'eventrec', '-i', 'nosuch', 'sample.event.records'],
  // Rows of rates without values.
  ['-a', 'pcp-pidstat-process-args', '-s', '1', 'network.icmp.outdestunreachs'],
  ['-a', 'numa', '-s', '2', 'mem.vmstat.numa_miss'],
  ['-a', 'new_snmp', '-s', '9', '-t', '0.06', 'network.tcp.outrsts'],
  ['-U', 'dm-io', '-S', '+120.78', '-s', '5', 'mem.vmstat.pgscan_direct_high'],
  ['-U', '20130706', '-w', '5', '-s', '2', '-O', '+81690.79', 'network.ib.total.errors.vl15'],
  // A filter, and an instance named twice.
  ['-a', 'cputime', '-s', '1', '-t', '1.6', '-x', 'foo', 'kernel.percpu.cpu.vuser'],
  ['-a', 'section-a', '-s', '4', 'pmcd.pmlogger.port[28390,"28390"]'],
]

test.skipIf(!canCompare).each(LINES)('pmval %s %s %s %s ...', async (...words) => {
  const args = words.map((word, i) =>
    /^-[aU]$/.test(words[i - 1] ?? '') ? `${suiteFolder('archives')}/${word}` : word,
  )
  const theirs = await run('/usr/bin/pmval', args, { env })
  const io = testIo('pmval', args, env)
  let status = 1
  try {
    status = await tool.run({
      ...io,
      openArchive: (names, options) => openArchive(names, { ...options, nearest: false }),
    })
  } catch (error) {
    io.stderr.write(`pmval: ${(error as Error).message}\n`)
  }
  expect({ ...io.printed, status }).toEqual({
    stdout: theirs.stdout,
    stderr: theirs.stderr,
    status: theirs.status,
  })
})

test.skipIf(!canCompare)(
  'a list of archives of which one is damaged ends with an error, as in the reference',
  async () => {
    const args = ['-a', `${suiteFolder('archives')}/multi-corrupted`, '-t', '5', 'kernel.percpu.cpu.user']
    const theirs = await run('/usr/bin/pmval', args, { env })
    const io = testIo('pmval', args, env)
    const open: typeof openArchive = (names, options) => openArchive(names, { ...options, nearest: false })
    await expect(tool.run({ ...io, openArchive: open })).rejects.toThrow(
      'pmFetch: Corrupted record in a PCP archive log',
    )
    expect(io.printed.stdout).toBe(theirs.stdout)
    expect(theirs.status).toBe(1)
  },
)
