import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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

function files(topics: ReadonlySet<string> = new Set(), isPmnsOptional = false): FileConfiguration {
  const log = {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    line: (text: string) => lines.push(text),
    notice: (level: string, text: string) => lines.push(`${level}: ${text}`),
  }
  replaceDebug(topics, log.line)
  return new FileConfiguration({
    configPath: join(dir, 'pmcd.conf'),
    pmnsPath: join(dir, 'root'),
    isPmnsOptional,
    isPmnsUnique: false,
    variables: {},
    log,
  })
}

const write = (name: string, text: string): void => writeFileSync(join(dir, name), text)

test('only changed files are reread, including the access file and the name space', async () => {
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

test('errors of a configuration are reported every time until it is fixed', async () => {
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

test('a changed name space file is reread separately, and reported on reload', async () => {
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

test('without the default name space file the names are those of the agents, until there is one', async () => {
  write('pmcd.conf', GOOD)
  const root = join(dir, 'root')
  await expect(files().read()).rejects.toThrow(`Cannot open "${root}"`)
  const configuration = files(new Set(), true)
  expect(await configuration.read()).not.toHaveProperty('pmns')
  expect(lines).toEqual([`warning: No name space ${root}: only names that the agents report are known`])
  expect(configuration.reloadNames()).toBeUndefined()
  lines = []
  expect(await configuration.reload()).toBeUndefined()
  expect(lines).toEqual([`Configuration file '${join(dir, 'pmcd.conf')}' unchanged`])
  write('root', 'root { a 2:0:1 }')
  expect((await configuration.reload())?.pmns?.traverse('')).toEqual(['a'])
  rmSync(root)
  await expect(configuration.reload()).rejects.toThrow('Cannot open')
})

test('a default name space that exists but cannot be read is an error', async () => {
  write('pmcd.conf', GOOD)
  symlinkSync(join(dir, 'nowhere'), join(dir, 'root'))
  await expect(files(new Set(), true).read()).rejects.toThrow('Cannot open')
})
