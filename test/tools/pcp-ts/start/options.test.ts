import { expect, test } from 'vitest'
import { PcpError } from '../../../../src/model/errors.ts'
import { parseOptions } from '../../../../src/tools/lib/options.ts'
import { invocationOf, OPTIONS, readOptions } from '../../../../src/tools/pcp-ts/start/options.ts'

const known = ['pmcd', 'jbd2', 'linux', 'mmv', 'node', 'pmproxy', 'proc', 'root', 'simple', 'xfs']
const read = (args: readonly string[]) =>
  readOptions(parseOptions(OPTIONS, { args, env: {} }), known, 'pcp-ts start')
const problem = (...args: string[]): string => {
  try {
    read(args)
  } catch (error) {
    expect(error).toBeInstanceOf(PcpError)
    return (error as PcpError).message
  }
  throw new Error(`${args.join(' ')} was accepted`)
}

test('without options: PCP port, loopback, the usual agents', () => {
  const expected = {
    command: 'pcp-ts start',
    port: 44321,
    charts: true,
    alerts: true,
    webListen: undefined,
    webPort: 44323,
    dir: undefined,
    usesSystemDirs: false,
    agents: ['jbd2', 'linux', 'mmv', 'node', 'pmcd', 'pmproxy', 'proc', 'root', 'simple', 'xfs'],
    threads: [],
    listen: undefined,
    logsToOutput: false,
    records: true,
    keepDays: 14,
    keepBytes: 2 ** 30,
  }
  expect(read([])).toEqual(expected)
})

test('every option is parsed', () => {
  const args = [
    '--port',
    '44400',
    '--web-port=44401',
    '--web-listen=10.0.0.1',
    '--web-listen',
    '::1',
    '--no-web',
    '--no-alerts',
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
    '--no-web',
    '--keep-days',
    '3',
    '--keep-size=500Mb',
  ]
  const expected = {
    command: 'pcp-ts start',
    port: 44400,
    charts: false,
    alerts: false,
    webListen: ['10.0.0.1', '::1'],
    webPort: 44401,
    dir: '/x',
    usesSystemDirs: false,
    agents: ['simple', 'pmcd'],
    threads: ['simple'],
    listen: ['all', '::1'],
    logsToOutput: false,
    records: false,
    keepDays: 3,
    keepBytes: 500 * 2 ** 20,
  }
  expect(read(args)).toEqual(expected)
})

test('--agents all is every agent there is', () => {
  expect(read(['--agents', 'all'])).toMatchObject({ agents: known })
})

test.each([
  [{ npm_lifecycle_event: 'start' }, { command: 'npm start --', tools: 'bin/' }],
  [
    { npm_lifecycle_event: 'npx', npm_lifecycle_script: '"pcp-ts" "start"' },
    { command: 'npx pcp-ts start', tools: 'npx pcp-ts ' },
  ],
  [
    { npm_lifecycle_event: 'npx', npm_lifecycle_script: 'vitest' },
    { command: 'pcp-ts start', tools: 'pcp-ts ' },
  ],
  [{}, { command: 'pcp-ts start', tools: 'pcp-ts ' }],
])('%j: advice names the command that the user can run', (env, expected) => {
  expect(invocationOf(env, 'bin')).toEqual(expected)
})

test.each([
  [['--port', 'x'], '--port x: must be a number from 0 to 65535'],
  [['--web-port', '65536'], '--web-port 65536: must be a number from 0 to 65535'],
  [
    ['--agents', 'linux,nosuch'],
    '--agents: no agent is called "nosuch"; use one of pmcd, jbd2, linux, mmv, node, pmproxy, proc, root, simple, xfs',
  ],
  [['--threads', 'simple', '--agents', 'linux'], '--threads: no agent is called "simple"; use one of linux'],
  [
    ['--agents', ','],
    '--agents: name at least one of pmcd, jbd2, linux, mmv, node, pmproxy, proc, root, simple, xfs',
  ],
  [['--keep-days', '0'], '--keep-days 0: must be at least 1'],
  [['--keep-size', '500'], '--keep-size 500: must be a number with its unit, e.g. 500Mb or 2Gb'],
  [['--keep-size', '2hours'], '--keep-size 2hours: must be a number with its unit, e.g. 500Mb or 2Gb'],
  [['--dir', '/x', '--system-dirs'], '--dir and --system-dirs both name the directories: choose one'],
  [['file'], 'Unexpected "file"; pcp-ts start --help lists the options'],
])('%j is refused with one line', (args, expected) => {
  expect(problem(...args)).toBe(expected)
})
