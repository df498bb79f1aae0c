/** Exports of the entry points: constants in complete groups, and each group somewhere. */
import { expect, test } from 'vitest'
import * as archive from '../src/archive.ts'
import * as index from '../src/index.ts'
import * as events from '../src/model/events.ts'
import * as ids from '../src/model/ids.ts'
import * as labels from '../src/model/labels.ts'
import * as types from '../src/model/types.ts'
import * as units from '../src/model/units.ts'
import * as values from '../src/model/values.ts'
import * as pmapi from '../src/pmapi/index.ts'
import * as pmda from '../src/pmda/index.ts'

type Exports = Readonly<Record<string, unknown>>

/** Groups PCP's constants by prefix; those of one group are used together. */
function groupsOf(modules: readonly Exports[]): ReadonlyMap<string, readonly string[]> {
  const names = modules.flatMap((module) => Object.keys(module))
  const groupOf = (name: string): string | undefined =>
    /^PM_\w*_NULL$/.test(name) ? 'PM_*_NULL' : /^(?:PM_EVENT_FLAG|PM_[A-Z]+|PMCD|LABEL)_/.exec(name)?.[0]
  const groups = new Map<string, string[]>()
  for (const name of names) {
    const group = groupOf(name)
    if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), name])
  }
  return groups
}

const GROUPS = groupsOf([types, units, ids, labels, events, values])
const ENTRIES: Readonly<Record<string, Exports>> = { index, pmapi, pmda, archive }

test('the groups are the ones of pmapi.h that a program needs', () => {
  expect([...GROUPS.keys()].sort()).toEqual(
    [
      'LABEL_',
      'PMCD_',
      'PM_*_NULL',
      'PM_COUNT_',
      'PM_EVENT_FLAG_',
      'PM_EXTRA_',
      'PM_SEM_',
      'PM_SPACE_',
    ].concat(['PM_TIME_', 'PM_TYPE_', 'PM_VAL_']),
  )
})

for (const [group, names] of GROUPS) {
  test(`${group} is exported completely by the client library`, () => {
    for (const name of names) {
      expect(pmapi, name).toHaveProperty(name)
      expect(index, name).toHaveProperty(name)
    }
  })

  test.each(Object.entries(ENTRIES))(`${group} is complete or absent in %s`, (_, entry) => {
    const there = names.filter((name) => name in entry)
    expect(there.length === 0 ? names : there).toEqual(names)
  })
}

test('an agent can check which diagnostics are on', () => {
  expect(pmda.isDebug('libpmda')).toBe(false)
})
