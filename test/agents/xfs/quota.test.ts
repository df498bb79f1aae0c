/** Project quotas of XFS, for invented file systems. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  parseProjects,
  parseXfsMounts,
  type QuotaOptions,
  quotaMetrics,
} from '../../../src/agents/xfs/quota.ts'
import { defineAgent } from '../../../src/pmda/index.ts'
import { openAgent } from '../../../src/pmda/open-agent.ts'
import type { NativeCalls } from '../../../src/sys/native/calls.ts'
import { openProjectQuotas } from '../../../src/sys/native/project-quota.ts'
import { allAnswers } from '../../lib/agent-answers.ts'

const MOUNTS = `/dev/sda1 /x xfs rw,prjquota 0 0
/dev/sdb1 /y xfs rw 0 0
/dev/old /z xfs rw 0 0
/dev/sdd1 /e ext4 rw 0 0
/dev/sda1 /bind xfs rw 0 0
`
const PROJECTS = '# comment\n0:/x\n5:/x/five\n9:/y/nine\nbroken\n5:/x/more\n'
const NOW = 1_999_999_000

const root = mkdtempSync(join(tmpdir(), 'pcp-ts-xfs-quota-'))
mkdirSync(join(root, 'proc'))
mkdirSync(join(root, 'etc'))
writeFileSync(join(root, 'proc/mounts'), MOUNTS)
writeFileSync(join(root, 'etc/projects'), PROJECTS)
afterAll(() => rmSync(root, { recursive: true }))

/** A kernel: structures written field by field, as linux/dqblk_xfs.h has them on this machine. */
function kernel(asked: string[]): NativeCalls {
  const quotactl = (command: number, device: string, id: number, answer: Uint8Array): number => {
    asked.push(`${command.toString(16)} ${device} ${id}`)
    const view = new DataView(answer.buffer)
    if (device === '/dev/old' || id === 9) return -1
    if (command === 0x580502) view.setUint16(2, device === '/dev/sda1' ? 0x30 : 0, true)
    else {
      for (const [at, number] of [2001n, 1001n, 33n, 22n, 501n, 7n].entries())
        view.setBigUint64(8 + 8 * at, number, true)
      if (id === 0) view.setInt32(60, 2_000_000_000, true)
    }
    return 0
  }
  return { bind: () => quotactl as never, errno: () => 2 } as unknown as NativeCalls
}

function open(options: Partial<QuotaOptions>): ReturnType<typeof openAgent> {
  const definition = defineAgent({
    name: 'quota',
    domain: 11,
    metrics: quotaMetrics({ root, clock: () => NOW * 1000, log: () => undefined, ...options }),
  })
  return openAgent(definition, { root })
}

test('finds devices and projects', () => {
  expect(parseXfsMounts(MOUNTS)).toEqual(['/dev/sda1', '/dev/sdb1', '/dev/old'])
  expect(parseProjects(PROJECTS)).toEqual([0, 5, 9])
})

// PCP 6.0.3 has the same instances and values for the same answers of the kernel, except for the remaining time.
test('queries file systems with accounting for every project', async () => {
  const asked: string[] = []
  const source = open({ openQuotas: () => openProjectQuotas(() => kernel(asked)) })
  const state = 'quota.state.project'
  const project = 'quota.project'
  expect(
    await allAnswers(
      source,
      [...source.names()].map(([name]) => name),
    ),
  ).toEqual({
    [`${state}.accounting`]: { '0 /dev/sda1': 1, '1 /dev/sdb1': 0 },
    [`${state}.enforcement`]: { '0 /dev/sda1': 1, '1 /dev/sdb1': 0 },
    [`${project}.space.hard`]: { '0 0:/dev/sda1': 1000, '1 5:/dev/sda1': 1000 },
    [`${project}.space.soft`]: { '0 0:/dev/sda1': 500, '1 5:/dev/sda1': 500 },
    [`${project}.space.used`]: { '0 0:/dev/sda1': 250, '1 5:/dev/sda1': 250 },
    [`${project}.space.time_left`]: { '0 0:/dev/sda1': 1000, '1 5:/dev/sda1': 0 },
    [`${project}.files.hard`]: { '0 0:/dev/sda1': 33, '1 5:/dev/sda1': 33 },
    [`${project}.files.soft`]: { '0 0:/dev/sda1': 22, '1 5:/dev/sda1': 22 },
    [`${project}.files.used`]: { '0 0:/dev/sda1': 7, '1 5:/dev/sda1': 7 },
    [`${project}.files.time_left`]: { '0 0:/dev/sda1': 0, '1 5:/dev/sda1': 0 },
  })
  expect(asked).toEqual([
    '580502 /dev/sda1 0',
    '580502 /dev/sdb1 0',
    '580502 /dev/old 0',
    '580302 /dev/sda1 0',
    '580302 /dev/sda1 5',
    '580302 /dev/sda1 9',
  ])
  await source.close()
})

test('logs once why quotas are not available', async () => {
  const said: string[] = []
  const source = open({ openQuotas: () => 'there is no koffi', log: (_level, text) => said.push(text) })
  const answers = await allAnswers(
    source,
    [...source.names()].map(([name]) => name),
  )
  expect(Object.values(answers).every((given) => given === null)).toBe(true)
  expect(said).toEqual(['No quotas of XFS: there is no koffi'])
  await source.close()
})

test('the kernel of this machine refuses an invalid file system', () => {
  const quotas = openProjectQuotas()
  if (typeof quotas === 'string') console.log(`skipped: ${quotas}`)
  else expect([quotas.state('/dev/null'), quotas.quota('/nowhere', 1)]).toEqual([undefined, undefined])
})
