import { expect, test } from 'vitest'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import { includesInstance } from '../../src/model/profile.ts'
import { PM_SEM_INSTANT, PM_TYPE_32, PM_TYPE_STRING } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { LoggedMetric } from '../../src/pmlogger/logged-metric.ts'
import { planTasks, selectSets } from '../../src/pmlogger/tasks.ts'

function metric(
  pmid: number,
  indom: number,
  ...wishes: (readonly [inst: number | undefined, text: string])[]
) {
  const made = new LoggedMetric(`m${pmid}`, { pmid, type: PM_TYPE_32, indom, sem: PM_SEM_INSTANT, units: 0 })
  for (const [inst, text] of wishes) {
    const [control, state, delta = '0'] = text.split(' ')
    const request = { control, state, deltaMs: Number(delta) } as Parameters<typeof made.states.requestAll>[0]
    if (inst === undefined) made.states.requestAll(request)
    else made.states.requestOne(inst, request)
  }
  return made
}

test('metrics with the same control and interval share a task; metrics that are off have none', () => {
  const tasks = planTasks([
    metric(1, PM_INDOM_NULL, [undefined, 'mandatory on 5']),
    metric(2, PM_INDOM_NULL, [undefined, 'mandatory on 5']),
    metric(3, PM_INDOM_NULL, [undefined, 'advisory on 5']),
    metric(4, PM_INDOM_NULL, [undefined, 'mandatory off']),
    metric(5, PM_INDOM_NULL, [undefined, 'mandatory on 0']),
  ])
  expect(tasks.map(({ key, fetches }) => [key, ...fetches.map(({ pmids }) => pmids)])).toEqual([
    ['mandatory 5', [2, 1]],
    ['advisory 5', [3]],
    ['mandatory 0', [5]],
  ])
})

test('metrics that select many instances of a domain are fetched separately, with only these instances', () => {
  const many = Array.from({ length: 9 }, (_, i) => [i, 'advisory on 5'] as const)
  const [task, ...others] = planTasks([
    metric(1, 7, ...many),
    metric(2, 7, [20, 'advisory on 5']),
    metric(3, 8, [1, 'advisory on 5']),
    metric(4, PM_INDOM_NULL, [undefined, 'advisory on 5']),
  ])
  expect(others).toEqual([])
  expect(task!.metrics.map(({ desc }) => desc.pmid)).toEqual([4, 3, 2, 1])
  expect(task!.fetches.map(({ pmids }) => pmids)).toEqual([[4, 3], [2], [1]])
  const [, second, first] = task!.fetches
  expect([8, 20].map((inst) => includesInstance(first!.profile, 7, inst))).toEqual([true, false])
  expect([8, 20].map((inst) => includesInstance(second!.profile, 7, inst))).toEqual([false, true])
})

test('unrequested instances are excluded by the profile, instances of other metrics afterwards', () => {
  const [task] = planTasks([
    metric(1, 7, [1, 'advisory on 5'], [2, 'advisory on 5'], [3, 'advisory off']),
    metric(2, 7, [4, 'advisory on 5']),
    metric(3, 8, [5, 'advisory on 5']),
    metric(4, 8, [undefined, 'advisory on 5']),
    metric(5, 9, [undefined, 'advisory on 5']),
  ])
  const fetch = task!.fetches[0]!
  expect([1, 2, 3, 4].map((inst) => includesInstance(fetch.profile, 7, inst))).toEqual([
    true,
    true,
    false,
    true,
  ])
  expect([includesInstance(fetch.profile, 8, 6), includesInstance(fetch.profile, 9, 1)]).toEqual([true, true])
  const sets = [
    makeSet(1, PM_TYPE_STRING, [4, 2, 1], ['four', 'two', 'one']),
    makeSet(2, PM_TYPE_32, [4], [44]),
    makeSet(3, PM_TYPE_32, [5, 6], [5, 6]),
    makeSet(4, PM_TYPE_32, [5, 6], [5, 6]),
  ]
  const selected = selectSets(fetch, sets)
  expect(selected.map(({ inst }) => [...inst])).toEqual([[2, 1], [4], [5], [5, 6]])
  expect([0, 1].map((i) => extract(selected[0]!, i, PM_TYPE_STRING))).toEqual(['two', 'one'])
})

/** Compares with the task's last result, then records the new one. */
function note(made: LoggedMetric, task: string, ids: readonly number[], wanted?: Set<number>): string {
  const inst = Int32Array.from(ids)
  const how = made.compare(task, inst, wanted)
  if (how !== 'same') made.seen(task, inst, wanted)
  return how
}

test('a comparison alone changes nothing', () => {
  const made = metric(1, 7)
  expect([1, 2].map(() => made.compare('a', Int32Array.of(1)))).toEqual(['changed', 'changed'])
  expect([made.hasResult, made.isLogged(1)]).toEqual([false, false])
})

test('a metric remembers its recorded instances', () => {
  const made = metric(1, 7)
  const seen = (...ids: number[]): string => note(made, 'a', ids)
  expect([seen(1, 2), seen(1, 2), seen(2, 1), seen(3)]).toEqual(['changed', 'same', 'moved', 'changed'])
  expect([1, 3].map((inst) => made.isAvailable(inst))).toEqual([false, true])
  expect([1, 3, 4].map((inst) => made.isLogged(inst))).toEqual([true, true, false])
  expect([...made.instances].sort()).toEqual([1, 2, 3])
})

test('tasks with different instances of a metric do not affect each other', () => {
  const made = metric(1, 7)
  const [ones, twos] = [new Set([1]), new Set([2])]
  expect(note(made, 'a', [1], ones)).toBe('changed')
  expect(note(made, 'b', [2], twos)).toBe('changed')
  expect(note(made, 'a', [1], ones)).toBe('moved')
  expect(note(made, 'b', [2], twos)).toBe('moved')
  expect([1, 2].map((inst) => made.isAvailable(inst))).toEqual([true, true])
  // The first task now requests other instances, which does not mean that the old one is gone.
  expect(note(made, 'a', [3], new Set([3]))).toBe('changed')
  expect([1, 2, 3].map((inst) => made.isAvailable(inst))).toEqual([true, true, true])
  made.seen('b', new Int32Array(0), twos)
  expect([made.isAvailable(2), made.isLogged(2)]).toEqual([false, true])
})

test('the latest of many short-lived instances are remembered', () => {
  const made = metric(1, 7)
  for (let inst = 0; inst < 3000; inst++) made.seen('a', Int32Array.of(inst))
  for (let task = 0; task < 100; task++) made.seen(`task ${task}`, Int32Array.of(5000))
  expect(made.instances.size).toBeLessThan(1100)
  expect([0, 2999, 5000].map((inst) => made.isLogged(inst))).toEqual([false, true, true])
})
