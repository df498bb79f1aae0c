/** Plugins of dstat: their folders and errors. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pluginOf, readPlugins } from '../../../src/tools/pcp-dstat/plugins.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'plugins-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const read = (): ReturnType<typeof readPlugins> =>
  readPlugins({ HOME: join(dir, 'home') }, { PCP_SYSCONF_DIR: join(dir, 'etc') })

function put(folder: string, name: string, text: string): void {
  mkdirSync(join(dir, folder), { recursive: true })
  writeFileSync(join(dir, folder, name), text)
}

describe('plugins', () => {
  it('of this package are valid', () => {
    const { plugins, folders } = read()
    expect(folders.map(({ path }) => path)).toEqual([expect.stringMatching(/share\/dstat$/)])
    for (const [name, keys] of plugins) expect(pluginOf(name, keys).columns.length, name).toBeGreaterThan(0)
    expect([...plugins.keys()]).toEqual(
      expect.arrayContaining([
        'cpu',
        'disk-util',
        'md',
        'nfs4',
        'part-tps',
        'top-io-adv',
        'vm-adv',
        'zfs-zil',
      ]),
    )
  })

  it('of the system and of the user are merged key by key', () => {
    put('etc/dstat', 'cpu', '[cpu]\nlabel = processors\nusr = kernel.all.cpu.user\n')
    put('home/.pcp/dstat', 'mine', '[cpu]\nusr.label = mine\n[queue]\nwaiting = my.queue\n')
    const { plugins, folders } = read()
    const { label, columns } = pluginOf('cpu', plugins.get('cpu')!)
    expect([label, columns.map((column) => [column.metric, column.label])]).toEqual([
      'processors',
      [['kernel.all.cpu.user', 'mine']],
    ])
    expect(folders.map(({ names }) => names.includes('queue'))).toEqual([false, false, true])
    expect(folders[0]!.names).not.toContain('cpu')
  })

  it('are not read from backup files', () => {
    for (const name of ['.swp', 'cpu~', 'cpu.rpmsave', 'cpu.dpkg-old']) put('etc/dstat', name, 'nothing')
    mkdirSync(join(dir, 'etc', 'dstat', 'folder'))
    expect(read().plugins.has('cpu')).toBe(true)
  })

  it.each([
    ['printtype = x', 'printtype'],
    ['width = wide', 'width'],
    ['grouptype = 9', 'grouptype'],
    ['grouptype = 4', 'top'],
    ['filtertype = everything', 'filtertype'],
    ['cullinsts = (', 'cullinsts'],
    ['b.label = beta', 'b.label'],
  ])('with %s are refused', (line, word) => {
    put('etc/dstat', 'odd', `[odd]\na = x.y\n${line}\n`)
    expect(() => pluginOf('odd', read().plugins.get('odd')!)).toThrow(`Plugin [odd]: ${word}`.slice(0, 13))
    expect(() => pluginOf('odd', read().plugins.get('odd')!)).toThrow(word)
  })
})
