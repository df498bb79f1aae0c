import { expect, test } from 'vitest'
import { parseOptions } from '../../../../src/tools/lib/options.ts'
import { OPTIONS, readArguments } from '../../../../src/tools/pcp-ts/service/options.ts'
import { splitAddress, startCommand } from '../../../../src/tools/pcp-ts/service/start-arguments.ts'

const read = (args: readonly string[], isRoot = false) =>
  readArguments(parseOptions(OPTIONS, { args, env: {} }), isRoot)

test.each([
  [['install'], false, 'user', 'start --no-record --no-web'],
  [['install'], true, 'system', 'start --system-dirs --no-record --no-web'],
  [['install', '--user', '--record'], true, 'user', 'start --no-web'],
  [
    ['install', '--system', '--record', '--web', 'localhost', '-p', '44421', '--keep-days', '3'],
    false,
    'system',
    'start --system-dirs --port=44421 --keep-days=3',
  ],
  [['install', '--web', 'all:8080'], false, 'user', 'start --no-record --web-listen=all --web-port=8080'],
  [
    ['install', '--web=8080', '--listen', '10.0.0.1', '--listen', '::1'],
    false,
    'user',
    'start --listen=10.0.0.1 --listen=::1 --no-record --web-listen=127.0.0.1 --web-port=8080',
  ],
])('%j of root %j', (args, isRoot, scope, command) => {
  const given = read(args, isRoot)
  expect(given.scope).toBe(scope)
  expect(startCommand(given, 'pcp-ts service install').args.join(' ')).toBe(command)
})

test.each([
  [[], 'No verb: use one of install, status, logs, uninstall'],
  [['start'], 'Unknown verb "start": use one of install, status, logs, uninstall'],
  [['logs', 'x'], 'Unexpected "x" after logs'],
  [['install', '--purge'], '--purge is an option of uninstall, not of install'],
  [['status', '--force'], '--force is an option of install and uninstall, not of status'],
  [['install', '--user', '--system'], '--user and --system exclude each other'],
  [['install', '--linger', '--system'], '--linger needs --user'],
  [['install', '--privileged-agents', '--user'], '--privileged-agents needs --system'],
  [
    ['install', '--system', '--privileged-agents', '--web', 'all'],
    '--privileged-agents and --web exclude each other: the web server would get the same rights',
  ],
])('%j is refused', (args, message) => {
  expect(() => read(args)).toThrow(message)
})

test.each([
  [['--port', 'x'], '--port x: must be a number from 0 to 65535'],
  [['--web', 'localhost:99999'], '--web-port 99999: must be a number from 0 to 65535'],
  [['--agents', 'nosuch'], '--agents: no agent is called "nosuch"'],
  [['--web', 'a b'], '--web a b: must be localhost, all, an address, a port, or ADDRESS:PORT'],
])('what pcp-ts start would refuse, install does: %j', (args, message) => {
  expect(() => startCommand(read(['install', ...args]), 'pcp-ts service install')).toThrow(message)
})

test.each([
  ['localhost', 'localhost', undefined],
  ['44401', 'localhost', '44401'],
  [':44401', 'localhost', '44401'],
  ['10.0.0.1:80', '10.0.0.1', '80'],
  ['::1', '::1', undefined],
  ['[::1]:80', '::1', '80'],
])('address %s', (text, host, port) => {
  expect(splitAddress(text)).toEqual({ host, port })
})
