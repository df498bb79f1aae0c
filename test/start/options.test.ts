import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { readOptions } from '../../src/start/options.ts'

const known = ['pmcd', 'jbd2', 'linux', 'mmv', 'node', 'pmproxy', 'proc', 'simple', 'xfs']
const problem = (...args: string[]): string => {
  try {
    readOptions(args, known)
  } catch (error) {
    expect(error).toBeInstanceOf(PcpError)
    return (error as PcpError).message
  }
  throw new Error(`${args.join(' ')} was accepted`)
}

test('without options: PCP port, loopback, the usual agents', () => {
  const expected = {
    port: 44321,
    webPort: 44323,
    dir: undefined,
    agents: ['jbd2', 'linux', 'mmv', 'node', 'pmcd', 'pmproxy', 'proc', 'simple', 'xfs'],
    threads: [],
    listen: undefined,
    records: true,
    keepDays: 14,
    keepBytes: 2 ** 30,
  }
  expect(readOptions([], known)).toEqual(expected)
})

test('every option is taken', () => {
  const args = [
    '--port',
    '44400',
    '--web-port=44401',
    '--dir',
    '/x',
    '--agents',
    'simple,pmcd',
    '--threads',
    'simple',
    '--listen',
    'all',
    '--listen',
    '::1',
    '--no-record',
    '--keep-days',
    '3',
    '--keep-size=500Mb',
  ]
  const expected = {
    port: 44400,
    webPort: 44401,
    dir: '/x',
    agents: ['simple', 'pmcd'],
    threads: ['simple'],
    listen: ['all', '::1'],
    records: false,
    keepDays: 3,
    keepBytes: 500 * 2 ** 20,
  }
  expect(readOptions(args, known)).toEqual(expected)
})

test('--agents all is every agent there is', () => {
  expect(readOptions(['--agents', 'all'], known)).toMatchObject({ agents: known })
})

test('--help gives the usage text', () => {
  expect(readOptions(['--help'], known)).toMatch(/^Usage: npm start [\s\S]*--web-port=N/)
})

test.each([
  [['--port', 'x'], '--port x: a port is a number from 0 to 65535'],
  [['--web-port', '65536'], '--web-port 65536: a port is a number from 0 to 65535'],
  [
    ['--agents', 'linux,nosuch'],
    '--agents: no agent is called "nosuch"; there are pmcd, jbd2, linux, mmv, node, pmproxy, proc, simple, xfs',
  ],
  [['--threads', 'simple', '--agents', 'linux'], '--threads: no agent is called "simple"; there are linux'],
  [
    ['--agents', ','],
    '--agents: name at least one of pmcd, jbd2, linux, mmv, node, pmproxy, proc, simple, xfs',
  ],
  [['--keep-days', '0'], '--keep-days 0: a number of days is at least 1'],
  [['--keep-size', '500'], '--keep-size 500: a size is a number with its unit, as 500Mb or 2Gb'],
  [['--keep-size', '2hours'], '--keep-size 2hours: a size is a number with its unit, as 500Mb or 2Gb'],
  [['--nosuch'], "unrecognized option '--nosuch'; npm start -- --help lists the options"],
  [['file'], 'Unexpected "file"; npm start -- --help lists the options'],
])('%j gets one clear line', (args, expected) => {
  expect(problem(...args)).toBe(expected)
})
