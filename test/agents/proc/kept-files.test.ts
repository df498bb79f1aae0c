import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { KeptFiles } from '../../../src/agents/proc/kept-files.ts'
import { ProcessFiles } from '../../../src/agents/proc/process-files.ts'

const isLinux = process.platform === 'linux'
if (!isLinux) console.log('skipped: there is no /proc')

test.skipIf(!isLinux)(
  'reads current contents through an open file descriptor, and nothing of ended processes',
  async () => {
    const files = new ProcessFiles('/')
    const kept = new KeptFiles(files)
    const textOf = (path: string): string => {
      const { bytes, end } = kept.read(path)
      return bytes.toString('latin1', 1, end)
    }
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    await once(child, 'spawn')
    const path = files.path(child.pid!, 'stat', false)
    const open = (): number => openFiles().filter((target) => target === path).length
    expect(textOf(path)).toMatch(new RegExp(`^${child.pid} \\(`))
    expect(open()).toBe(1)
    expect(textOf(path)).toMatch(new RegExp(`^${child.pid} \\(`))
    expect(open()).toBe(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(() => textOf(path)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
    expect(open()).toBe(0)
    textOf('/proc/self/stat')
    kept.close()
    expect(open()).toBe(0)
  },
)

/** What this process has open; other tests open and close files meanwhile. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
}
