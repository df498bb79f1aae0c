import { expect, test } from 'vitest'
import type { Entry } from '../../../src/tools/pmlogconf/config-file.ts'
import {
  isRepConfig,
  NEW_REP_CONFIG,
  parseRepConfig,
  repConfigText,
  withOptions,
} from '../../../src/tools/pmlogconf/rep-file.ts'

const entry = (tag: string, choice: Entry['choice'], metrics: readonly string[]): Entry => ({
  tag,
  choice,
  delta: 'default',
  ident: [`About ${tag}`],
  lines: undefined,
  metrics,
})

const CONFIG = {
  ...NEW_REP_CONFIG,
  groupDir: '/groups',
  entries: [
    entry('disk/all', 'y', ['disk.dev.read [ sda sdb ] # two', 'disk.all']),
    entry('mem', 'n', ['mem']),
    entry('net', 'x', ['net']),
  ],
}

test('a set has the metrics of the included groups, without instances', () => {
  const text = repConfigText(CONFIG)
  expect(isRepConfig(text)).toBe(true)
  expect(text).toContain('[metrics]\ndisk.all = disk.all\ndisk.dev.read = disk.dev.read\n\n')
  expect(text).toContain(
    '#+ disk/all:y:\n## About disk/all\n#----\n#+ mem:n:\n## About mem\n#----\n#+ net:x:\n#----\n',
  )
})

test('a file is written unchanged, including the text below the groups', () => {
  const text = `${repConfigText(CONFIG)}[mine]\nmem.util.free = free\n`
  const read = parseRepConfig(text)
  expect(read.entries.map(({ tag, choice }) => `${tag} ${choice}`)).toEqual(['disk/all y', 'mem n', 'net x'])
  expect(read.groupDir).toBe('/groups')
  expect(repConfigText({ ...read, entries: CONFIG.entries })).toBe(text)
})

test('options replace earlier ones of the same name', () => {
  const { options } = withOptions(CONFIG, ['ignore_unknown=no', 'timestamp=yes'])
  expect(options).toEqual(['version=1', 'ignore_unknown=no', 'timestamp=yes'])
})
