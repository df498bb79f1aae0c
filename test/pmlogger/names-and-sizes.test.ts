import { expect, test } from 'vitest'
import { archiveName, hasTime } from '../../src/pmlogger/archive-name.ts'
import { parseFarm } from '../../src/pmlogger/farm-file.ts'
import { intervalMs, parseSizeLimit, parseSync, syncMsOf } from '../../src/pmlogger/sizes.ts'

test.each([
  ['100', { kind: 'samples', count: 100 }],
  ['100b', { kind: 'bytes', bytes: 100 }],
  ['2 bytes', { kind: 'bytes', bytes: 2 }],
  ['3K', { kind: 'bytes', bytes: 3072 }],
  ['3KiB', { kind: 'bytes', bytes: 3072 }],
  ['1 megabytes', { kind: 'bytes', bytes: 1048576 }],
  ['1Gb', { kind: 'bytes', bytes: 1073741824 }],
  ['10 sec', { kind: 'time', ms: 10000 }],
  ['1 hour', { kind: 'time', ms: 3600000 }],
  ['5m', { kind: 'bytes', bytes: 5 * 1048576 }],
  ['4 kibibytes', { kind: 'bytes', bytes: 4096 }],
  ['1.5', { kind: 'time', ms: 1500 }],
  ['0.03', undefined],
  ['0.5sec', undefined],
  ['0', undefined],
  ['0b', undefined],
  ['-1', undefined],
  ['foo', undefined],
  ['', undefined],
])('parses the limit %j', (text, expected) => {
  expect(parseSizeLimit(text)).toEqual(expected)
})

test('a name with time conversions is expanded, and gets a suffix if it is taken', () => {
  const ms = new Date(2026, 0, 5, 7, 8, 9).getTime()
  expect(archiveName('a/%Y%m%d.%H.%M', ms, () => false)).toBe('a/20260105.07.08')
  expect(archiveName('%y-%j-%a-%b-%S-%%-%Q', ms, () => false)).toBe('26-005-Mon-Jan-09-%-%Q')
  expect(archiveName('%H', ms, (base) => ['07', '07-00'].includes(base))).toBe('07-01')
  expect(() => archiveName('%H', ms, () => true)).toThrow('archives of this name already')
  expect(archiveName('plain', ms, () => true)).toBe('plain')
  expect([hasTime('plain'), hasTime('%d')]).toEqual([false, true])
})

test('a farm has a line for each collector', () => {
  const text = [
    '# comment',
    'db1 /logs/db1/%Y%m%d db.conf',
    '',
    'db2:44322 logs/db2 db.conf interval=10sec version=2 size=1Gb volsize=100Mb label=two # why',
  ].join('\n')
  expect(parseFarm(text, 'f').hosts).toEqual([
    { host: 'db1', key: 'db1', archive: '/logs/db1/%Y%m%d', config: 'db.conf' },
    {
      host: 'db2:44322',
      key: 'db2:44322',
      archive: 'logs/db2',
      config: 'db.conf',
      defaultDeltaMs: 10000,
      version: 2,
      endLimit: { kind: 'bytes', bytes: 2 ** 30 },
      volumeLimit: { kind: 'bytes', bytes: 100 * 2 ** 20 },
      labelHost: 'two',
    },
  ])
})

test.each([
  ['db1 a', 'f[line 1]: expected a host, an archive and a configuration'],
  ['db1 a c\ndb2 a c', 'f[line 2]: archive a is written by line 1 already'],
  ['db1 a c speed=5', 'f[line 1]: unknown option "speed": use label, interval, version, size, volsize'],
  ['db1 a c version=1', 'f[line 1]: invalid value "1" for option version'],
  ['# none', 'f: no line names a collector'],
])('refuses the farm %j', (text, message) => {
  expect(() => parseFarm(text, 'f')).toThrow(message)
})

test('intervals may be below a second, and are limited by the control protocol', () => {
  expect(['0.5sec', '20 msec', '1 hour'].map(intervalMs)).toEqual([500, 20, 3_600_000])
  expect(['0', '80 hours', 'x', ''].map(intervalMs)).toEqual([undefined, undefined, undefined, undefined])
})

test('an archive that continues another one gets a suffix if its name has no time', () => {
  const taken = new Set(['a', 'a-00'])
  expect(archiveName('a', 0, (base) => taken.has(base), true)).toBe('a-01')
  expect(archiveName('b', 0, (base) => taken.has(base), true)).toBe('b')
  expect(archiveName('a', 0, (base) => taken.has(base))).toBe('a')
})

test.each([
  ['0', 0],
  ['5', 5000],
  ['2min', 120_000],
  ['500 msec', 500],
  ['soon', undefined],
  ['', undefined],
])('the sync limit of %o', (text, ms) => {
  expect(parseSync(text)).toBe(ms)
  expect(syncMsOf({ PMLOGGER_SYNC: text })).toBe(ms ?? 10_000)
})
