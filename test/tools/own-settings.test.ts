/** Settings in a home and a working directory that other users can write. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configFiles, readConfigFiles } from '../../src/pmproxy/config.ts'
import { readResources } from '../../src/tools/pcp-atop/resource.ts'
import { readPlugins } from '../../src/tools/pcp-dstat/plugins.ts'
import { toolClasses } from '../../src/tools/pmafm/classes.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-own-'))
  mkdirSync(join(dir, 'home'))
  mkdirSync(join(dir, 'cwd'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const home = (): { readonly HOME: string } => ({ HOME: join(dir, 'home') })
const system = (): { readonly PCP_SYSCONF_DIR: string } => ({ PCP_SYSCONF_DIR: join(dir, 'etc') })
const proxy = (): ReadonlyMap<string, string> => {
  const files = configFiles(undefined, { ...home(), ...system() }, join(dir, 'cwd'))
  return readConfigFiles(files, (problem) => expect.fail(problem)).values
}

const USERS: readonly (readonly [string, string, string, () => unknown])[] = [
  ['pcp-atop', 'home/.atoprc', 'interval 5\n', () => readResources(home()).intervalSec],
  ['pcp-dstat', 'home/.pcp/dstat/x', '[x]\nx = a.b\n', () => readPlugins(home(), system()).plugins.has('x')],
  ['pmafm', 'home/.pcp/pmafm/x', 'REPLAY="x"\n', () => toolClasses(home()).replay.has('x')],
  ['pmproxy', 'home/.pcp/pmproxy.conf', '[ui]\nnames = x\n', () => proxy().get('ui.names')],
  ['pmproxy', 'cwd/pmproxy.conf', '[ui]\nnames = x\n', () => proxy().get('ui.names')],
]

test.each(USERS)('%s runs without %s, and refuses one that other users can write', (_, name, text, read) => {
  const top = join(dir, dirname(name).split('/')[0]!)
  for (const mode of [0o777, 0o1777]) {
    chmodSync(top, mode)
    const without = read()
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
    chmodSync(join(dir, name), 0o666)
    expect(read).toThrow(
      expect.objectContaining({ code: 'EACCES', message: expect.stringMatching(/ is writable by /) }),
    )
    chmodSync(top, 0o755)
    chmodSync(join(dir, name), 0o644)
    expect(read()).not.toEqual(without)
    rmSync(join(dir, name), { recursive: true })
    rmSync(join(top, '.pcp'), { recursive: true, force: true })
  }
})
