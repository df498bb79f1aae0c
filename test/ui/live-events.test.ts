/** Events of a host without a recording, as they happen. */
import { expect, test } from 'vitest'
import { watchEvents } from '../../src/ui/annotations/live-events.ts'
import type { LiveListener, LiveRequest } from '../../src/ui/data/live.ts'
import type { Mark } from '../../src/ui/marks/marks.ts'

const T = 1_700_000_000

/** Watches a host; `row` passes a time, the uptime and the status of agents called `linux` and `sample`. */
function watched() {
  let listener: LiveListener | undefined
  let asked: LiveRequest | undefined
  const changes: (readonly Mark[])[] = []
  const end = watchEvents(
    {
      subscribe: (_key, wish, own) => {
        asked = wish
        listener = own
      },
      unsubscribe: () => {
        listener = undefined
      },
    },
    'elsewhere',
    (found) => changes.push(found),
  )
  const described = { type: 'u32', sem: 'instant', units: '', help: '' } as const
  listener!.topic(
    asked!.metrics.map((name) => ({
      ...{ ...described, name, pmid: '1.1.1', indom: name === 'pmcd.agent.status' ? '2.1' : null },
    })) as never,
    'elsewhere',
  )
  const status = asked!.metrics.indexOf('pmcd.agent.status')
  listener!.instances(status, [60, 29], ['linux', 'sample'])
  const row = (at: number, uptime: number, statuses: readonly number[] = [0, 0]): void => {
    const values = { 'kernel.all.uptime': [uptime], 'pmcd.agent.status': statuses, 'pmcd.numagents': [2] }
    listener!.row(
      T + at,
      asked!.metrics.map((name) => values[name as keyof typeof values]),
    )
  }
  return { row, changes, end, host: asked!.host, isEnded: () => listener === undefined }
}

test('an agent that ends and starts again is one event, reported when it changes', () => {
  const { row, changes, host } = watched()
  expect(host).toBe('elsewhere')
  for (let at = 0; at <= 30; at += 10) row(at, 500 + at)
  expect(changes).toEqual([])
  for (let at = 40; at <= 60; at += 10) row(at, 500 + at, [0, 0x102])
  const lost = { at: T + 40, kind: 'agent', text: 'Agent sample has ended (exit status 1)' }
  expect(changes).toEqual([[{ ...lost, until: Number.POSITIVE_INFINITY }]])
  row(70, 570)
  expect(changes.slice(1)).toEqual([[{ ...lost, until: T + 70 }]])
})

test('reboots and steps of the clock are found; missed rows are not', () => {
  const { row, changes } = watched()
  for (let at = 0; at <= 30; at += 10) row(at, 500 + at)
  // The page slept for an hour.
  row(3640, 4140)
  row(3650, 4150)
  expect(changes).toEqual([])
  // The clock is set back by 15 s and forward by 115 s.
  row(3645, 4160)
  row(3770, 4170)
  const steps = [
    { at: T + 3645, kind: 'clock', text: 'The clock was set back by 15 s' },
    { at: T + 3770, kind: 'clock', text: 'The clock was set forward by 1 min 55 s' },
  ]
  expect(changes.at(-1)).toMatchObject(steps)
  row(3830, 20)
  row(3840, 30)
  expect(changes.at(-1)).toMatchObject([{ kind: 'reboot', at: T + 3810 }, ...steps])
})

test('the subscription ends with the source', () => {
  const { end, isEnded } = watched()
  end()
  expect(isEnded()).toBe(true)
})
