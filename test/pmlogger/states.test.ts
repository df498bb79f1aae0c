import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MetricStates, type StateRequest } from '../../src/pmlogger/states.ts'

const request = (text: string): StateRequest => {
  const [control, state, delta = '0'] = text.split(' ')
  return { control, state, deltaMs: Number(delta) } as StateRequest
}

/** Returns the state after requests for all instances. */
function after(...texts: string[]): string {
  const states = new MetricStates()
  const refused = texts
    .map((text) => (states.requestAll(request(text)) === undefined ? '' : ' refused'))
    .join('')
  const { isMandatory = false, isOn = false, deltaMs = 0 } = states.whole ?? {}
  return `${isMandatory ? 'mandatory' : 'advisory'} ${isOn ? `on ${deltaMs}` : 'off'}${refused}`
}

test.each([
  [[], 'advisory off'],
  [['advisory on 5'], 'advisory on 5'],
  [['mandatory on 5', 'advisory off'], 'mandatory on 5 refused'],
  [['mandatory off', 'advisory on 5'], 'mandatory off refused'],
  [['mandatory on 5', 'mandatory on 7'], 'mandatory on 7'],
  [['mandatory on 5', 'mandatory maybe'], 'advisory off'],
  [['advisory on 5', 'mandatory maybe'], 'advisory on 5'],
  [['mandatory on 5', 'mandatory maybe', 'advisory on 3'], 'advisory on 3'],
])('after %j it is %s', (texts, expected) => {
  expect(after(...texts)).toBe(expected)
})

test('a configuration may have several intervals for a metric', () => {
  const states = new MetricStates()
  const intervals = (): unknown => [
    states.whole?.deltaMs,
    states.otherIntervals.map(({ deltaMs }) => deltaMs),
  ]
  for (const text of [
    'advisory on 3',
    'mandatory on 5',
    'mandatory on 7',
    'mandatory on 7',
    'mandatory on 0',
  ])
    expect(states.requestAdditionally(request(text))).toBeUndefined()
  expect(intervals()).toEqual([0, [5, 7]])
  expect(states.requestAdditionally(request('advisory on 1'))).toBeDefined()
  expect(intervals()).toEqual([0, [5, 7]])
  states.requestAll(request('mandatory on 2'))
  expect(intervals()).toEqual([2, []])
})

test('single instances are refused while all are logged, and replaced by a request for all', () => {
  const states = new MetricStates()
  states.requestAll(request('advisory on 5'))
  expect(states.requestOne(3, request('advisory on 1'))).toMatchObject({ inst: 3 })
  states.requestAll(request('mandatory off'))
  for (const text of ['mandatory on 1', 'mandatory on 0', 'mandatory maybe', 'advisory on 1'])
    expect(states.requestOne(3, request(text))).toMatchObject({
      inst: 3,
      mode: { isMandatory: true, isOn: false },
    })
  states.requestAll(request('mandatory maybe'))
  states.requestAll(request('advisory on 5'))
  states.requestAll(request('advisory off'))
  expect(states.requestOne(3, request('advisory on 1'))).toBeUndefined()
  expect(states.requestOne(4, request('mandatory on 2'))).toBeUndefined()
  expect([states.modeOf(3)?.deltaMs, states.modeOf(4)?.deltaMs, states.modeOf(5)]).toEqual([1, 2, undefined])
  expect(states.requestAll(request('advisory on 9'))).toEqual({})
  expect(states.requestAll(request('mandatory on 9'))).toBeUndefined()
  expect(states.byInstance.size).toBe(0)
})

test('maybe hands back single instances too, and keeps the others', () => {
  const states = new MetricStates()
  states.requestOne(1, request('mandatory on 2'))
  states.requestOne(2, request('advisory on 3'))
  states.requestAll(request('mandatory maybe'))
  expect(states.modeOf(1)).toEqual({ isMandatory: false, isOn: false, deltaMs: 0 })
  expect(states.modeOf(2)).toEqual({ isMandatory: false, isOn: true, deltaMs: 3 })
  states.requestOne(2, request('mandatory maybe'))
  expect(states.modeOf(2)).toEqual({ isMandatory: false, isOn: false, deltaMs: 0 })
})

test('an advisory request never changes a mandatory state', () => {
  const wish = fc.record({
    control: fc.constantFrom('mandatory', 'advisory'),
    state: fc.constantFrom('on', 'off', 'maybe'),
    deltaMs: fc.nat(1000),
    inst: fc.option(fc.nat(3)),
  })
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 20 }), (wishes) => {
      const states = new MetricStates()
      for (const { inst, ...rest } of wishes) {
        const mode = {
          ...rest,
          state: rest.control === 'advisory' && rest.state === 'maybe' ? 'off' : rest.state,
        }
        const before = [0, 1, 2, 3].map((id) => states.modeOf(id))
        if (inst === null) states.requestAll(mode as StateRequest)
        else states.requestOne(inst, mode as StateRequest)
        if (rest.control === 'mandatory') continue
        before.forEach((old, id) => {
          if (old?.isMandatory === true) expect(states.modeOf(id)).toBe(old)
        })
      }
    }),
  )
})
