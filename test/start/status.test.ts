import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Context } from '../../src/pmapi/context.ts'
import type { IndomSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { type InstanceStatus, statusOf } from '../../src/start/status.ts'
import { durationText, sizeText, statusText } from '../../src/tools/pcp-ts/status/text.ts'

const env = { HOME: '/nonexistent', PCP_RUN_DIR: '/nonexistent/run' }

test('nothing is shown where no collector runs, and what fails where one does not answer in time', async () => {
  const io = { env, now: () => 0, readText: () => undefined, serviceRunDir: '/nonexistent/service' }
  const absent = (): Promise<never> => Promise.reject(new PcpError('ENOENT', 'no socket'))
  expect(await statusOf({ ...io, connect: absent })).toEqual([])
  const hanging = (): Promise<never> => new Promise(() => {})
  const late = await statusOf({ ...io, connect: hanging, sourceMs: 1 })
  expect(late.map(({ kind, problems }) => [kind, problems])).toEqual(
    [
      ['user', '/nonexistent/.local/state/pcp/run'],
      ['pcp', '/nonexistent/run'],
      ['service', '/nonexistent/service'],
    ].map(([kind, dir]) => [
      kind,
      [`The collector does not answer: no answer from unix:${dir}/pmcd.socket within 0.001 s`],
    ]),
  )
})

test('a collector of PCP is shown, which lacks some of our metrics', async () => {
  const plain = { sem: 'discrete', units: 'none', help: 'A metric' } as const
  const agents: IndomSpec = {
    serial: 1,
    instances: () => ({ ids: [1, 2], names: ['linux', 'gone'] }),
    help: 'Agents',
  }
  const status = (inst: number): number => (inst === 2 ? 4 : 0)
  const pcp = defineAgent({
    name: 'pmcd',
    domain: 2,
    open: () => ({
      metrics: {
        'pmcd.version': { ...plain, item: 1, type: 'string', value: () => '6.0.3' },
        'pmcd.pid': { ...plain, item: 2, type: 'u32', value: () => 50 },
        'pmcd.agent.status': { ...plain, item: 3, type: 'u32', indom: agents, value: status },
      },
    }),
  })
  const io = { env, now: () => 0, readText: () => undefined, serviceRunDir: '/nonexistent/run' }
  const [user, only] = await statusOf({
    ...io,
    connect: async () => Context.over(openAgent(pcp), { hostname: 'h' }),
  })
  for (const shown of [user, only])
    expect(shown).toMatchObject({
      version: '6.0.3',
      pid: 50,
      agents: [
        { name: 'linux', isRunning: true },
        { name: 'gone', isRunning: false },
      ],
      problems: ['Agent gone could not be started'],
    })
})

test('sizes and durations have few digits', () => {
  expect([0, 1023, 1024, 1536, 200 * 1024, 3.25 * 1024 ** 3].map(sizeText)).toEqual([
    '0 bytes',
    '1023 bytes',
    '1.0 KiB',
    '1.5 KiB',
    '200 KiB',
    '3.3 GiB',
  ])
  expect([0, 59, 60, 3661, 86_400, 90_061].map(durationText)).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '1 h 1 min',
    '1 d',
    '1 d 1 h',
  ])
})

test('the text names what runs, and what fails without control characters', () => {
  const instance: InstanceStatus = {
    kind: 'user',
    runDir: '/r',
    pid: 50,
    version: '1.0.0',
    uptimeSeconds: 61,
    addresses: ['localhost:1', '/r/pmcd.socket'],
    web: 'http://localhost:2',
    clients: 2,
    agents: [
      { name: 'a', isRunning: true },
      { name: 'b', isRunning: false, problem: 'has ended' },
    ],
    recording: {
      dir: '/a',
      archive: 'x',
      bytes: 1024,
      lastMs: 1000,
      bytesPerDay: 2048,
      keepDays: 14,
      freeBytes: 1024,
      totalBytes: 4096,
    },
    processes: [{ name: 'collector', pid: 51, bytes: 1024, cpuSeconds: 1.26 }],
    problems: ['Agent b has ended\u001b[2J'],
  }
  expect(statusText([], 0)).toBe('Nothing runs. Start with: pcp-ts start\n')
  expect(statusText([instance], 5000)).toBe(`pcp-ts of this user 1.0.0, process 50, up 1 min 1 s
  listening  localhost:1 and /r/pmcd.socket
  charts     http://localhost:2
  recording  /a/x, last value 4 s ago
  disk       1.0 KiB used, 2.0 KiB a day, kept 14 days, 1.0 KiB of 4.0 KiB free
  agents     a, b (1 of 2 failing)
  clients    1
  processes  collector 51 (1.0 KiB, 1.3 s CPU)
  FAILS      Agent b has ended\\x1b[2J
`)
})
