import { expect, test } from 'vitest'
import { directoryOf, fileName } from '../../../../src/discovery/host.ts'
import { parseFarm } from '../../../../src/pmlogger/farm-file.ts'
import { farmText, uniqueHosts } from '../../../../src/tools/pcp-ts/container/farm-text.ts'

test.each([
  ['db1', 'db1'],
  ['db1:44322', 'db1'],
  ['pcps://db1.example:44322?secure', 'db1.example'],
  ['[fd00::1]:44321', 'fd00__1'],
  ['db1@proxy', 'db1'],
])('the archives of %s are in the directory %s', (spec, directory) => {
  expect(directoryOf(spec)).toBe(directory)
})

test.each(['..', '.', '', '../../etc', 'a/b', 'a b\nc d', 'x'.repeat(5000)])(
  'a collector that calls itself %j cannot leave the directory',
  (name) => {
    const file = fileName(name)
    expect(file).toMatch(/^[A-Za-z0-9._-]{1,200}$/)
    expect(file).not.toMatch(/^\.*$/)
  },
)

test('the farm file is one that pmlogger reads', () => {
  const hosts = uniqueHosts([
    { spec: '10.0.0.2:44321', name: 'n2' },
    { spec: '10.0.0.1:44321', name: 'n1' },
    { spec: '10.0.0.9:44321', name: 'n2' },
  ])
  const { hosts: entries } = parseFarm(farmText(hosts, '/archives', '/config'), 'farm')
  expect(entries.map(({ host, archive, config, labelHost }) => [host, archive, config, labelHost])).toEqual([
    ['10.0.0.1:44321', '/archives/n1/%Y%m%d.%H.%M', '/config', 'n1'],
    ['10.0.0.9:44321', '/archives/n2/%Y%m%d.%H.%M', '/config', 'n2'],
  ])
})
