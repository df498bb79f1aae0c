/** Compares the identification of unix socket clients by our collector with the reference's, for the same configuration. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { hasReference, launch, run, top } from './lib/programs.ts'

const isRoot = process.getuid?.() === 0
if (hasReference && !isRoot) console.log('skipped: only root can run clients as other users')

const OURS = join(top, 'bin', 'pmcd')
const THEIRS = '/usr/lib/pcp/bin/pmcd'
const AGENTS = [
  'pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so',
  'proc 3 pipe binary /var/lib/pcp/pmdas/proc/pmdaproc -d 3',
  'simple 253 pipe binary /var/lib/pcp/pmdas/simple/pmdasimple -d 253',
].join('\n')
const ROOT = [0, 0] as const
const PCP = [Number(id('passwd')), Number(id('group'))] as const
const NOBODY = [65534, 65534] as const

/** Returns the id of the user or group pcp. */
function id(database: 'passwd' | 'group'): string {
  return hasReference ? execFileSync('getent', [database, 'pcp'], { encoding: 'utf8' }).split(':')[2]! : ''
}

interface Running {
  readonly port: number
  readonly unix: string
}

/** Runs a collector with these access rules while `use` runs. */
async function withCollector<T>(
  pmcd: string,
  access: string,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-credentials-'))
  chmodSync(dir, 0o755)
  const [conf, socket] = [join(dir, 'pmcd.conf'), join(dir, 'socket')]
  writeFileSync(conf, `${AGENTS}\n${access === '' ? '' : `[access]\n${access}\n`}`)
  const args = ['-f', '-p', String(port), '-c', conf, '-s', socket, '-l', join(dir, 'log')]
  const collector = await launch(pmcd, args, port, dir)
  try {
    return await use({ port, unix: `unix:/${socket}` })
  } finally {
    await collector.stop()
  }
}

/** Runs one of the reference's clients as another user. */
const as = ([uid, gid]: readonly [number, number], ...command: string[]): ReturnType<typeof run> =>
  run('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...command])

describe.runIf(hasReference && isRoot)('users of the unix socket', () => {
  test("the reference's proc agent gives them the same values as under its own collector, and none over TCP", async () => {
    const asked = async ({ port, unix }: Running): Promise<unknown> => {
      const rss = async (who: readonly [number, number], host: string): Promise<string> => {
        const { stdout, stderr } = await as(who, 'pminfo', '-h', host, '-f', 'proc.psinfo.rss')
        return /inst \[\d+ or "0*1 /.test(stdout) ? 'values' : `${stdout}${stderr}`.trim()
      }
      return {
        root: await rss(ROOT, unix),
        nobody: await rss(NOBODY, unix),
        tcp: await rss(ROOT, `localhost:${port}`),
      }
    }
    const theirs = await withCollector(THEIRS, '', asked)
    const ours = await withCollector(OURS, '', asked)
    console.log(JSON.stringify(theirs))
    expect(ours).toEqual(theirs)
    expect(ours).toMatchObject({ root: 'values', tcp: expect.stringContaining('No permission') })
  })

  test('context labels name user and group', async () => {
    const labels = ({ unix }: Running): ReturnType<typeof run> =>
      as(PCP, 'pminfo', '-h', unix, '-l', 'simple.numfetch')
    const theirs = await withCollector(THEIRS, '', labels)
    const ours = await withCollector(OURS, '', labels)
    expect(ours.stdout).toContain(`"userid":${PCP[0]}`)
    expect(ours).toEqual(theirs)
  })

  test('controls and fencing require root on the unix socket', async () => {
    await withCollector(OURS, '', async ({ port, unix }) => {
      const results: string[] = []
      for (const [who, host] of [
        [ROOT, unix],
        [PCP, unix],
        [ROOT, `localhost:${port}`],
      ] as const)
        for (const [metric, value] of [
          ['pmcd.control.timeout', '6'],
          ['pmcd.agent.fenced', '0'],
          ['simple.numfetch', '5'],
        ] as const) {
          const { status } = await as(who, 'pmstore', '-h', host, metric, value)
          results.push(status === 0 ? 'stored' : 'refused')
        }
      expect(results).toEqual([
        ...['stored', 'stored', 'stored'],
        ...['refused', 'refused', 'stored'],
        ...['refused', 'refused', 'stored'],
      ])
    })
  })

  test('rules for users and groups', async () => {
    const cases = [
      'allow user pcp : all;',
      'allow group pcp : all;',
      'disallow user pcp : store; allow user root : all;',
      'allow user root : all; allow group nogroup : all;',
    ]
    const people = [ROOT, PCP, NOBODY] as const
    let compared = 0
    for (const access of cases) {
      const may = async ({ unix }: Running): Promise<string[]> => {
        const results: string[] = []
        for (const who of people) {
          const fetched = await as(who, 'pminfo', '-h', unix, '-f', 'simple.numfetch')
          const stored = await as(who, 'pmstore', '-h', unix, 'simple.numfetch', '5')
          results.push(
            `${/value \d/.test(fetched.stdout) ? 'fetch' : '-'} ${stored.status === 0 ? 'store' : '-'}`,
          )
        }
        return results
      }
      const theirs = await withCollector(THEIRS, access, may)
      expect(await withCollector(OURS, access, may), access).toEqual(theirs)
      compared += theirs.length
    }
    console.log(`access rules for users and groups: ${compared} cases as the reference decides them`)
  })
})
