/** Compares -L and -K: our commands with our agents in their process, and the reference's with its shared objects. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasReference, run, top } from './lib/programs.ts'

const SUBTREES = ['hinv', 'kernel', 'mem', 'network', 'disk', 'filesys', 'swap', 'nfs', 'ipc', 'vfs', 'tty']
const SIMPLE = 'add,253,simple/pmda_simple.so,simple_init'

describe.runIf(hasReference)('local contexts', () => {
  const both = async (
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<readonly [theirs: string, ours: string]> => {
    const results = [command, join(top, 'bin', command)].map((path) => run(path, args, { env }))
    const [theirs, ours] = (await Promise.all(results)).map(
      ({ status, stdout, stderr }) =>
        `${stdout}${stderr.replace(/^Usage: [\s\S]*/m, 'Usage\n')}status ${status}\n`,
    )
    return [theirs!, ours!]
  }

  test('names, identifiers, descriptors and labels are the same', async () => {
    // Derived metrics of the installation are not supported yet; what their agents log goes to standard error.
    const { stdout } = await run('pminfo', ['-L', '-m', ...SUBTREES])
    const derived = new Set([...stdout.matchAll(/^(\S+) PMID: 511\./gm)].map(([, name]) => name))
    let lines = 0
    for (const flags of ['-md', '-l'])
      for (const subtree of SUBTREES) {
        const [theirs, ours] = await both('pminfo', ['-L', flags, subtree])
        const blocks = (text: string): string[] =>
          text
            .replace(/^ {4}inst \[.*\n/gm, '') // numbered in order of discovery
            .split(/\n(?=\S)/)
            .map((block) => block.trim())
            .filter((block) => block !== '' && !block.startsWith('[') && !derived.has(block.split(/\s/)[0]!))
        expect(blocks(ours)).toEqual(blocks(theirs))
        lines += ours.split('\n').length
      }
    console.log(`local contexts: ${lines} lines of pminfo are the same`)
  })

  test.each([
    ['pminfo', '-L', '-f', 'hinv.ncpu', 'hinv.pagesize', 'kernel.uname'],
    ['pminfo', '-L', '-f', 'simple.numfetch'],
    ['pminfo', '-L', '-l', 'simple.numfetch'],
    ['pminfo', '-L', '-d', 'pmcd.numagents'],
    ['pminfo', '-L', '-t', 'simple.numfetch'],
    ['pminfo', '-L', '-K', SIMPLE, '-f', 'simple.numfetch', 'simple.color'],
    ['pminfo', '-L', '-K', 'add,253,simple/pmda_simple,simple_init', '-f', 'simple.numfetch'],
    [
      'pminfo',
      '-L',
      '-K',
      'add,253,simple/pmda_simple.so,simple_init',
      '-K',
      'del,253',
      '-f',
      'simple.numfetch',
    ],
    ['pminfo', '-L', '-K', 'clear', '-f', 'hinv.ncpu'],
    ['pminfo', '-L', '-K', 'del,60', '-f', 'hinv.ncpu'],
    ['pminfo', '-L', '-K', 'add,60,linux/pmda_linux.so,nosuch', '-f', 'hinv.ncpu'],
    ['pminfo', '-L', '-h', 'nosuchhost', '-f', 'hinv.ncpu'],
    ['pminfo', '-L', '-f', 'nosuch'],
    ['pminfo', '-L', '-K', 'bogus', '-f', 'hinv.ncpu'],
    ['pminfo', '-K', 'add,1', '-f', 'hinv.ncpu'],
    ['pmprobe', '-L', '-v', 'hinv.ncpu', 'simple.numfetch', 'pmcd.numagents', 'nosuch'],
    ['pmprobe', '-L', '-I', 'kernel.all.load'],
    ['pmval', '-L', '-s', '1', 'hinv.ncpu'],
    ['pmval', '-L', '-s', '1', 'simple.numfetch'],
    ['pmstore', '-L', 'simple.numfetch', '7'],
    ['pmstore', '-L', 'hinv.ncpu', '7'],
    ['pmstore', '-L', '-K', SIMPLE, '-F', 'simple.numfetch', '7'],
  ])('%s %s %s %s %s %s', async (command, ...args) => {
    const [theirs, ours] = await both(command!, args)
    expect(ours).toBe(theirs)
  })

  test.each([{ PCP_LOCALMODE: '1' }, { PCP_LOCALPMDA: '1' }, { PCP_LOCALMODE: '', PCP_SPECLOCAL: 'clear' }])(
    'the environment %o opens one as well',
    async (env) => {
      const [theirs, ours] = await both('pminfo', ['-f', 'hinv.ncpu'], env)
      expect(ours).toBe(theirs)
    },
  )
})
