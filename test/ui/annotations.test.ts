/** Events found in recorded values, notes of the user, and alerts as marks. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Alert, AlertAnswer } from '../../src/alerts/events.ts'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import { hasAlerts, keyed, markAlerts, nextAnswer } from '../../src/ui/alerts/alerts.ts'
import { beginDraft, draft, takeDraft, typeDraft } from '../../src/ui/annotations/draft.ts'
import { eventsIn } from '../../src/ui/annotations/events.ts'
import {
  LONGEST_TEXT,
  MOST_NOTES,
  markNotes,
  Notes,
  notesOf,
  notesText,
} from '../../src/ui/annotations/notes.ts'
import type { ConfigAnswer } from '../../src/ui/data/responses.ts'
import type { Source } from '../../src/ui/data/source.ts'
import { marks } from '../../src/ui/marks/marks.ts'

const T = 1_700_000_000

/** Time of a sample or of several, and the status, or the lowest and the highest. */
type StatusRow = readonly [at: number, status: number, highest?: number]

/** Returns an answer with uptime and number of agents at these times; `lowest` are minima of several samples. */
function answer(
  rows: readonly (readonly [at: number, uptime: number, agents?: number])[],
  {
    lowest = false,
    interruptions = [] as readonly number[],
    statuses = {} as Readonly<Record<string, readonly StatusRow[]>>,
  } = {},
): ChartRange {
  const column = { inst: -1, name: '', times: 0 }
  const own = Object.entries(statuses)
  const described = {
    pmid: '',
    type: 'u32',
    sem: 'instant',
    units: 'none',
    indom: null,
    help: '',
    rate: false,
  }
  return {
    start: T,
    finish: T + 1000,
    marks: interruptions,
    metrics: [
      {
        ...described,
        name: 'kernel.all.uptime',
        columns: [{ ...column, values: 1, ...(lowest ? { min: 1, max: 1 } : {}) }],
      },
      { ...described, name: 'pmcd.numagents', columns: [{ ...column, values: 2 }] },
      {
        ...described,
        name: 'pmcd.agent.status',
        columns: own.map(([name, own], inst) => {
          const first = 3 + 3 * inst
          const merged = own.some(([, , highest]) => highest !== undefined)
          return {
            ...{ inst, name, times: first, values: first + 1 },
            ...(merged ? { min: first + 1, max: first + 2 } : {}),
          }
        }),
      },
    ],
    lists: [
      Float64Array.from(rows, ([at]) => T + at),
      Float64Array.from(rows, ([, uptime]) => uptime),
      Float64Array.from(rows, ([, , agents = 10]) => agents),
      ...own.flatMap(([, rows]) => [
        Float64Array.from(rows, ([at]) => T + at),
        Float64Array.from(rows, ([, status]) => status),
        Float64Array.from(rows, ([, status, highest = status]) => highest),
      ]),
    ],
  }
}

const found = (given: ChartRange): unknown[] =>
  eventsIn(given).map(({ kind, at, until, text }) => [
    kind,
    at - T,
    until === undefined ? undefined : until - T,
    text,
  ])

const steady = Array.from({ length: 20 }, (_, i) => [10 * i, 5000 + 10 * i] as const)

describe('events', () => {
  it('are absent from an undisturbed recording, also with rounded times', () => {
    expect(found(answer(steady))).toEqual([])
    expect(found(answer(steady.map(([at, up]) => [at + (at % 3) / 2, up])))).toEqual([])
    expect(found(answer(steady.map(([at]) => [at, 5000])))).toEqual([]) // an uptime recorded only once
    expect(eventsIn({ start: T, finish: T, marks: [], metrics: [], lists: [] })).toEqual([])
  })

  it('shows a reboot at the time of the start, with the gap before it; agents are not lost then', () => {
    const after = [300, 310, 320, 330].map((at) => [at, at - 270, 9] as const)
    expect(found(answer([...steady, ...after]))).toEqual([
      ['reboot', 270, undefined, expect.stringMatching(/^The host rebooted after 1 ?h/)],
      ['gap', 190, 300, expect.stringMatching(/^Nothing was recorded for/)],
    ])
  })

  it('shows steps of the clock by the uptime, which continues', () => {
    const later = steady.map(([at, up], i) => (i < 10 ? ([at, up] as const) : ([at + 60, up] as const)))
    expect(found(answer(later))).toEqual([
      ['clock', 160, undefined, expect.stringMatching(/set forward by 1 ?min/)],
      ['gap', 90, 160, expect.any(String)],
    ])
    const kinds = found(answer(later, { lowest: true })).map((event) => (event as unknown[])[0])
    expect(kinds).toEqual(['clock', 'gap'])
  })

  it('shows a reboot, and no step of the clock, of a host that was off for longer than it had been up', () => {
    const rows = steady.map(([at], i) =>
      i < 10 ? ([at, 60 + at] as const) : ([at + 9000, at + 500] as const),
    )
    expect(found(answer(rows))).toEqual([
      ['reboot', 9100 - 600, undefined, 'The host rebooted after 2 min 30 s'],
      ['gap', 90, 9100, expect.any(String)],
    ])
  })

  it('shows lost agents', () => {
    const rows = steady.map(([at, up], i) => [at, up, i < 5 ? 10 : i < 8 ? 9 : 10] as const)
    expect(found(answer(rows))).toEqual([['agent', 50, undefined, 'The collector lost agents: 9 of 10 left']])
  })

  describe('of agents', () => {
    const ENDED = 2 | (3 << 8)
    const status = (statuses: Readonly<Record<string, readonly StatusRow[]>>, rows = steady): unknown[] =>
      found(answer(rows, { statuses }))

    it('name the agent, the reason and the recovery; an agent that is not ready has not failed', () => {
      expect(
        status({
          proc: [
            [0, 0],
            [50, ENDED],
            [80, 1],
            [90, 0],
            [120, 4],
            [190, 4],
          ],
          linux: [
            [0, 1],
            [90, 0],
          ],
        }),
      ).toEqual([
        ['agent', 50, 80, 'Agent proc has ended (exit status 3)'],
        ['agent', 120, Number.POSITIVE_INFINITY, 'Agent proc could not be started'],
      ])
    })

    it('that failed before the recording are named when they work again; those installed later when they fail', () => {
      expect(
        status({
          proc: [
            [0, 4],
            [50, ENDED],
            [80, 0],
          ],
          xfs: [
            [0, 4],
            [70, 0],
          ],
          kvm: [[60, 4]],
          linux: [[0, 4]],
        }),
      ).toEqual([
        ['agent', 50, 80, 'Agent proc has ended (exit status 3)'],
        ['agent', 60, Number.POSITIVE_INFINITY, 'Agent kvm could not be started'],
        ['agent', 70, undefined, 'Agent xfs works again'],
      ])
    })

    it('are found where several samples are one point', () => {
      expect(
        status({
          proc: [
            [0, 0, 0],
            [40, 0, ENDED],
            [80, 0, 0],
          ],
        }),
      ).toEqual([['agent', 40, 80, 'Agent proc has ended (exit status 3)']])
    })

    it('are those of the number of agents as long as only that is recorded', () => {
      const rows = steady.map(([at, up], i) => [at, up, i < 5 ? 10 : i < 15 ? 9 : 8] as const)
      expect(
        found(
          answer(rows, {
            statuses: {
              proc: [
                [100, 0],
                [150, 8],
              ],
            },
          }),
        ),
      ).toEqual([
        ['agent', 50, undefined, 'The collector lost agents: 9 of 10 left'],
        ['agent', 150, Number.POSITIVE_INFINITY, 'Agent proc broke the protocol'],
      ])
    })

    it('are bounded', () => {
      const rows = Array.from({ length: 900 }, (_, i) => [10 * i, i % 2 === 0 ? 0 : 8] as const)
      const statuses = { a: rows, b: rows }
      const agents = eventsIn(answer(steady, { statuses })).filter(({ kind }) => kind === 'agent')
      expect([agents.length, agents[0]!.text]).toEqual([200, 'Agent a broke the protocol'])
    })
  })

  it('shows interruptions that the recorder marked, even short ones', () => {
    const rows = steady.filter(([at]) => at !== 50 && at !== 60)
    expect(found(answer(rows))).toEqual([])
    expect(found(answer(rows, { interruptions: [T + 45] }))).toEqual([['gap', 40, 70, expect.any(String)]])
  })

  it('shows interruptions shorter than the interval of the uptime', () => {
    const rows = Array.from({ length: 10 }, (_, i) => [60 * i + 0.011, 5000 + 60 * i] as const)
    const often = Array.from({ length: 60 }, (_, i) => [10 * i, 0] as const)
    // The recorder started again after 15.5 s; the last sample was 3 s before.
    const proc = often.map(([at]) => (at > 300 ? ([at + 8.5, 0] as const) : ([at, 0] as const)))
    const interruptions = [T + 303]
    expect(found(answer(rows, { statuses: { proc }, interruptions }))).toEqual([
      ['gap', 300, 318.5, 'Nothing was recorded for 19 s'],
    ])
    expect(found(answer(rows, { statuses: { proc: often }, interruptions }))).toEqual([])
    expect(found(answer(rows, { statuses: { proc } }))).toEqual([])
    const long = often.filter(([at]) => at <= 300 || at >= 350)
    expect(found(answer(rows, { statuses: { proc: long } }))).toEqual([['gap', 300, 350, expect.any(String)]])
    // Of a metric that was recorded once, the value at both ends of the window is known.
    expect(
      found(
        answer(rows, {
          statuses: {
            proc: [
              [0, 0],
              [595, 0],
            ],
          },
        }),
      ),
    ).toEqual([])
  })

  it('do not show agents lost at a reboot, however many reboots there are', () => {
    // All agents that are lost here are lost at a reboot.
    const rows = Array.from(
      { length: 3000 },
      (_, i) => [10 * i, i % 2 === 0 ? 900 : 5, 10 - (i % 2)] as const,
    )
    expect(found(answer(rows)).filter((event) => (event as unknown[])[0] === 'agent')).toEqual([])
  })

  it('are bounded', () => {
    const rows = Array.from(
      { length: 3000 },
      (_, i) => [10 * i, i % 2 === 0 ? 900 : 5, 10 - (i % 2)] as const,
    )
    expect(eventsIn(answer(rows)).length).toBeLessThanOrEqual(800)
  })
})

describe('notes', () => {
  const memory = (): Storage & { readonly kept: Map<string, string> } => {
    const kept = new Map<string, string>()
    const store = {
      kept,
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => void kept.set(key, text),
    }
    return store as unknown as Storage & { readonly kept: Map<string, string> }
  }
  afterEach(() => markNotes([]))

  it('are added, edited and deleted, also beside those of another tab', () => {
    const store = memory()
    const [one, other] = [new Notes(() => store), new Notes(() => store)]
    one.save({ id: 'a', host: 'h', at: 20, text: ' deployed ' })
    other.save({ id: 'b', host: 'h', at: 10, until: 15, text: '<b>slow</b>' })
    one.save({ id: 'a', host: 'h', at: 20, text: 'deployed 1.2' })
    expect(one.all.value.map(({ id, text }) => [id, text])).toEqual([
      ['b', '<b>slow</b>'],
      ['a', 'deployed 1.2'],
    ])
    other.delete('b')
    one.refresh()
    expect(one.all.value.map(({ id }) => id)).toEqual(['a'])
    markNotes(notesOf(one.all.value, 'h'))
    expect(marks.value).toEqual([{ at: 20, kind: 'note', text: 'deployed 1.2' }])
    expect(notesOf(one.all.value, 'elsewhere')).toEqual([])
  })

  it('are bounded, and damaged ones are left out', () => {
    const store = memory()
    const notes = new Notes(() => store)
    for (let i = 0; i < MOST_NOTES + 2; i++)
      notes.save({ id: String(i), host: 'h', at: i, text: 'x'.repeat(2000) })
    expect(notes.all.value).toHaveLength(MOST_NOTES)
    expect(notes.all.value[0]).toMatchObject({ at: 2, text: 'x'.repeat(LONGEST_TEXT) })
    store.kept.set(
      'pcp-ts.notes',
      '[null, 5, {"id":"a","host":"h","text":"t","at":null}, {"id":"b","host":"h","text":"t","at":1,"until":0}]',
    )
    notes.refresh()
    expect(notes.all.value).toEqual([{ id: 'b', host: 'h', at: 1, text: 't' }])
    store.kept.set('pcp-ts.notes', '{')
    notes.refresh()
    expect(notes.all.value).toEqual([])
  })

  it('drop the first added note, never the saved one', () => {
    const store = memory()
    const notes = new Notes(() => store)
    for (let i = 0; i < MOST_NOTES; i++) notes.save({ id: String(i), host: 'h', at: 1000 + i, text: 't' })
    notes.save({ id: '0', host: 'h', at: 1000, text: 'edited' })
    notes.save({ id: 'old', host: 'h', at: 1, text: 'older than all' })
    const ids = (): string[] => notes.all.value.map(({ id }) => id)
    expect(ids()).toHaveLength(MOST_NOTES)
    expect(ids().slice(0, 2)).toEqual(['old', '1'])
    notes.refresh()
    expect(ids().slice(0, 2)).toEqual(['old', '1'])
  })

  it('are lines of text for the note of an incident', () => {
    const note = { id: 'a', host: 'h', text: 'deployed' }
    const own = [
      { ...note, at: T - 50 },
      { ...note, at: T - 50, until: T + 1, text: 'slow' },
      { ...note, at: T + 9 },
    ]
    expect(notesText(own, { from: T, to: T + 10 })).toBe(
      '2023-11-14 22:12:30 UTC: slow\n2023-11-14 22:13:29 UTC: deployed',
    )
  })

  it('stay on the page if the browser blocks storage, with an error', () => {
    const notes = new Notes(() => {
      throw new Error('blocked')
    })
    expect(() => notes.save({ id: 'a', host: 'h', at: 1, text: 't' })).toThrow('cannot store the note')
    expect(() => notes.save({ id: 'b', host: 'h', at: 2, text: 't' })).toThrow('cannot store the note')
    expect(notes.all.value.map(({ id }) => id)).toEqual(['a', 'b'])
  })
})

describe('the note in the form', () => {
  afterEach(() => void takeDraft())
  const [first, second] = [
    { id: 'a', host: 'db1', at: 1, text: '' },
    { id: 'b', host: 'db2', at: 2, text: 'kept' },
  ]

  it('gives way to another only without unsaved text', () => {
    expect(beginDraft(first)).toBe(true)
    expect(beginDraft(second)).toBe(true)
    typeDraft('changed')
    expect(beginDraft(first)).toBe(false)
    expect(draft.value).toEqual({ note: second, text: 'changed' })
    typeDraft('kept')
    expect(beginDraft(first)).toBe(true)
  })

  it('is saved with its text and its own host', () => {
    beginDraft(first)
    typeDraft(' deployed ')
    expect(takeDraft()).toEqual({ ...first, text: 'deployed' })
    expect(draft.value).toBeUndefined()
    expect(takeDraft()).toBeUndefined()
    beginDraft(first)
    expect(takeDraft()).toBeUndefined()
  })
})

describe('alerts', () => {
  afterEach(() => markAlerts([]))
  const alert: Alert = {
    rule: 'disk.slow',
    isDefault: true,
    instance: 'sda',
    at: 10,
    until: 90,
    value: 140.2,
  }

  it('are marks with title, instance and value', () => {
    markAlerts([
      alert,
      { ...alert, at: 20, until: null, value: null },
      { ...alert, rule: 'own', isDefault: false, instance: '', at: 30, until: 30 },
      { ...alert, isDefault: false, at: 40, until: 40 },
    ])
    expect(marks.value).toEqual([
      { at: 10, until: 90, kind: 'alert', text: 'A disk answers slowly: sda (140 ms)' },
      { at: 20, until: Number.POSITIVE_INFINITY, kind: 'alert', text: 'A disk answers slowly: sda' },
      { at: 30, kind: 'alert', text: 'own (140)' },
      { at: 40, kind: 'alert', text: 'disk.slow: sda (140)' },
    ])
  })

  it('have different keys in lists, even if guests see several that look the same', () => {
    const hidden = { ...alert, isDefault: false, instance: '' }
    const list = keyed([hidden, alert, hidden, hidden])
    expect(list.map(([, each]) => each)).toEqual([hidden, alert, hidden, hidden])
    expect(new Set(list.map(([key]) => key)).size).toBe(4)
  })

  it('belong to the host of the server and to its archives', () => {
    const config = { alerts: true, hosts: ['local:'], history: '0/here' } as unknown as ConfigAnswer
    const of = (key: string): boolean => hasAlerts({ key } as Source, config)
    expect(['host:local:', 'archive:0/here/20261128'].map(of)).toEqual([true, true])
    expect(['host:db1', 'archive:0/hereafter/20261128', 'file:made'].map(of)).toEqual([false, false, false])
    expect(hasAlerts({ key: 'host:local:' } as Source, { ...config, alerts: false })).toBe(false)
  })

  it('have their newest values without reading all', async () => {
    const active = { ...alert, at: 100, until: null }
    const first: AlertAnswer = { alerts: [active, alert], leftOut: 0, version: '1', evaluated: 1 }
    const next = { ...first, alerts: [{ ...active, value: 310 }], evaluated: 2 }
    expect(await nextAnswer(first, async () => next)).toEqual({ ...next, alerts: [next.alerts[0], alert] })
  })

  it('are read as a whole only after a change', async () => {
    const asked: boolean[] = []
    let version = '1'
    const ask = async (onlyActive: boolean): Promise<AlertAnswer> => {
      asked.push(onlyActive)
      return { alerts: onlyActive ? [] : [alert], leftOut: 0, version, evaluated: asked.length }
    }
    const first = await nextAnswer(undefined, ask)
    const second = await nextAnswer(first, ask)
    expect(second).toEqual({ ...first, evaluated: 2 })
    version = '2'
    expect((await nextAnswer(second, ask)).alerts).toEqual([alert])
    expect(asked).toEqual([false, true, true, false])
  })
})
