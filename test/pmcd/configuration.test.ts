import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearDebug, replaceDebug } from '../../src/model/debug.ts'
import { FileConfiguration } from '../../src/pmcd/configuration.ts'
import { logOnFd } from '../../src/sys/log.ts'

let dir: string
let lines: string[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmcd-conf-'))
  lines = []
})
afterEach(() => {
  clearDebug('all')
  rmSync(dir, { recursive: true })
})

const GOOD = 'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so\n'

function files(topics: ReadonlySet<string> = new Set()): FileConfiguration {
  const log = { ...logOnFd(2, { progname: 'pmcd', host: 'vm' }), line: (text: string) => lines.push(text) }
  replaceDebug(topics, log.line)
  return new FileConfiguration({
    configPath: join(dir, 'pmcd.conf'),
    pmnsPath: join(dir, 'root'),
    isPmnsUnique: false,
    variables: {},
    log,
  })
}

const write = (name: string, text: string): void => writeFileSync(join(dir, name), text)

test('what has not changed is not read again; what has is, the access file and the name space too', async () => {
  write('pmcd.conf', GOOD)
  write('root', 'root { a 2:0:1 }')
  const configuration = files()
  expect((await configuration.read()).pmns?.traverse('')).toEqual(['a'])
  expect(await configuration.reload()).toBeUndefined()
  write('pmcd.conf.access', 'disallow * : store;\n')
  expect((await configuration.reload())?.access?.rules('host')).not.toEqual([])
  expect(await configuration.reload()).toBeUndefined()
  write('root', 'root { a 2:0:1 b 2:0:2 }')
  expect((await configuration.reload())?.pmns?.traverse('')).toEqual(['a', 'b'])
})

test('a configuration with errors has them every time, until it is mended', async () => {
  write('pmcd.conf', GOOD)
  write('root', 'root { a 2:0:1 }')
  const configuration = files()
  await configuration.read()
  write('pmcd.conf', 'pmcd 2 dll\n')
  for (let round = 0; round < 2; round++) {
    lines = []
    await expect(configuration.reload()).rejects.toMatchObject({ code: 'PM_ERR_CONV' })
    expect(lines.at(-1)).toMatch(/^pmcd config\[line 1\]: Error: expected `dso'/)
  }
  write('pmcd.conf', GOOD)
  expect((await configuration.reload())?.agents).toHaveLength(1)
})

test('names are read again by themselves when their file has changed, and told when that is asked for', async () => {
  write('pmcd.conf', GOOD)
  write('root', 'root { a 2:0:1 }')
  const configuration = files(new Set(['config', 'pmns']))
  await configuration.read()
  expect(configuration.reloadNames()).toBeUndefined()
  write('root', 'root { a 2:0:1 b 2:0:2 }')
  expect(configuration.reloadNames()?.traverse('')).toEqual(['a', 'b'])
  expect(configuration.reloadNames()).toBeUndefined()
  write('root', 'root { c }')
  expect(() => configuration.reloadNames()).toThrow(expect.objectContaining({ code: 'PM_ERR_PMNS' }))
  expect(lines).toEqual([
    `pmns: ${join(dir, 'root')} has 1 names`,
    `config: ${join(dir, 'pmcd.conf')} line 1: agent "pmcd", domain 2, dso`,
    `pmns: ${join(dir, 'root')} has 2 names`,
  ])
})
