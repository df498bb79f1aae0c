/**
 * Compares pmlogctl and pmiectl with the reference over generated control files: output and dry runs (-N), by name, by class and for all.
 * Omits cases with intended differences (docs/explanation/differences.md).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pmiectl } from '../../src/tools/pmiectl/index.ts'
import { tool as pmlogctl } from '../../src/tools/pmlogctl/index.ts'
import { isSampled } from '../lib/seed.ts'
import { runTool } from '../tools/run-tool.ts'
import { hasReference, run } from './lib/programs.ts'

/** Control files: several instances in one file, one per file, stopped ones, with blanks and comments. */
function controlFiles(place: (ident: string) => string): Record<string, string> {
  const line = (host: string, ident: string): string => `${host} n n ${place(ident)} -c /etc/x\n`
  const head = '# a comment\n$version=1.1\n\n'
  return {
    one: head + line('db1', 'db1'),
    two: `${head}$class=web\n${line('web1', 'w1')}#!#${line('web2', 'w2')}\n# between\n${line('db1', 'w3')}`,
    three: `${head}$class=farm\n${line('web1', 'f1')}${line('LOCALHOSTNAME', 'f2')}${line('local:', 'f3')}`,
    four: `${head}$class=web\n${line('web3', 'w4')}`,
    gone: `${head}#!#${line('gone', 'gone')}`,
  }
}

const HOSTS = [
  [],
  ['db1'],
  ['web1'],
  ['web2'],
  ['gone'],
  ['web.*'],
  ['nosuch'],
  ['nosuch', 'web3'],
  ['local:'],
  ['LOCALHOSTNAME'],
]
const CLASSES = [[], ['-c', 'web'], ['-c', 'farm'], ['-c', 'default'], ['-c', 'nosuch']]
const COMMANDS = [
  ['status'],
  ['-V', 'status'],
  ['-N', 'start'],
  ['-N', '-V', '-a', 'start'],
  ['-N', 'stop'],
  ['-N', '-V', '-a', 'stop'],
  ['-N', '-a', 'restart'],
  ['-N', '-V', '-a', '-f', 'destroy'],
  ['-N', 'destroy'],
]
const CREATIONS = [
  ['-N', 'create', 'new'],
  ['-N', '-V', 'create', 'new', 'other'],
  ['-N', '-V', '-i', 'web', 'create', 'new'],
  ['-N', '-i', 'one', 'create', 'new'],
  ['-N', '-c', 'nosuch', 'create', 'new'],
  ['-N', '-V', 'cond-create', 'new'],
  ['-N', 'fubar'],
  ['-N', '-i', 'x', 'stop', 'db1'],
]

/** One in this many command lines is run, others each day (CONTRIBUTING.md: Random tests). */
const EACH = 52

/** Masks temporary directories, times, and the order, which follows the reference's directory. */
function plain(text: string): string {
  return text
    .replace(/\S*\/pm(?:log|ie)ctl\.\w+\//g, 'SCRATCH/')
    .replace(/^(# created by \w+) on .*$/gm, '$1')
    .replace(/^System has not been booted.*\n|^Failed to connect to bus.*\n/gm, '')
    .split('\n')
    .sort()
    .join('\n')
}

test.skipIf(!hasReference).each<[string, Tool, string, (ident: string) => string]>([
  ['pmlogctl', pmlogctl, 'PCP_PMLOGGERCONTROL_PATH', (ident) => `PCP_ARCHIVE_DIR/${ident}`],
  ['pmiectl', pmiectl, 'PCP_PMIECONTROL_PATH', (ident) => `PCP_LOG_DIR/pmie/${ident}/pmie.log`],
])(
  '%s shows and plans the same as the reference',
  async (name, tool, variable, place) => {
    const dir = mkdtempSync(join(tmpdir(), `${name}-interop-`))
    const env = { [variable]: join(dir, 'control') }
    mkdirSync(join(dir, 'control.d'))
    for (const [file, text] of Object.entries(controlFiles(place)))
      writeFileSync(join(dir, 'control.d', file), text)
    const all = COMMANDS.flatMap((command) =>
      CLASSES.flatMap((className) => HOSTS.map((hosts) => [...className, ...command, ...hosts])),
    )
    // Each run of the reference takes half a second, so only some of every kind are run.
    const lines = all.filter((_, i) => isSampled(i, EACH))
    let compared = 0
    try {
      for (const args of [...lines, ...CREATIONS]) {
        const [theirs, ours] = await Promise.all([
          run(name, args, { env }),
          runTool(tool, args, undefined, env),
        ])
        const label = `${name} ${args.join(' ')}`
        expect(plain(ours.stderr), label).toBe(plain(theirs.stderr))
        expect(plain(ours.stdout), label).toBe(plain(theirs.stdout))
        expect(ours.status, label).toBe(theirs.status)
        compared += ours.stdout.split('\n').length + ours.stderr.split('\n').length
      }
    } finally {
      rmSync(dir, { recursive: true })
    }
    console.log(`${name}: ${lines.length + CREATIONS.length} runs, ${compared} lines compared`)
  },
  600_000,
)
