/** Shell completion, and man pages checked by their formatters. Skips, with a message, tools that are not installed. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TOOLS } from '../../src/tools/registry.ts'

const top = process.cwd()
const BASH = join(top, 'dist/completion/bash/pcp-ts')
const ZSH = join(top, 'dist/completion/zsh')
const MAN = join(top, 'dist/man/man1')

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-completion-'))
  writeFileSync(
    join(dir, 'names'),
    'root {\n kernel\n hinv 60:0:1\n}\nkernel {\n all\n percpu 60:0:2\n}\nkernel.all {\n load 60:2:0\n look 60:2:1\n}\n',
  )
  for (const name of ['web.index', 'web.meta', 'web.0']) writeFileSync(join(dir, name), '')
})
afterAll(() => rmSync(dir, { recursive: true }))

const env = { ...process.env, PATH: `${join(top, 'bin')}:${process.env['PATH']}`, TERM: 'dumb' }

function has(command: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
  if (!found) console.log(`skipped: ${command} is not installed`)
  return found
}

/** Returns bash's completions of the last word. */
function complete(...words: string[]): string[] {
  const script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pcp; declare -p COMPREPLY'
  const text = execFileSync('bash', ['--norc', '-c', script, 'bash', BASH, ...words], {
    cwd: dir,
    env,
    encoding: 'utf8',
  })
  return Array.from(text.matchAll(/\[\d+\]="(.*?)"/g), ([, word]) => word!).sort()
}

test('bash reads the file', () => {
  expect(spawnSync('bash', ['-n', BASH], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test('options by letter and by name', () => {
  expect(complete('pminfo', '--fetch')).toEqual(['--fetch', '--fetchall'])
  expect(complete('/usr/bin/pminfo', '--hos')).toEqual(['--host=', '--hostzone'])
  expect(complete('pminfo', '-')).toContain('-f')
  expect(complete('cat', '-')).toEqual([])
})

test('the command that runs the others: their names, then their completions', () => {
  expect(complete('pcp-ts', 'pminf')).toEqual(['pminfo'])
  expect(complete('pcp-ts', 'pminfo', '--fetch')).toEqual(['--fetch', '--fetchall'])
  expect(complete('pcp-ts', 'pmval', '-n', 'names', 'ker')).toEqual(['kernel.'])
})

test('metric names, one level at a time, from the source on the command line', () => {
  expect(complete('pminfo', '-n', 'names', '')).toEqual(['event.', 'hinv', 'kernel.'])
  expect(complete('pmval', '-n', 'names', 'ker')).toEqual(['kernel.'])
  expect(complete('pminfo', '--namespace', '=', 'names', '-f', 'kernel.all.lo')).toEqual([
    'kernel.all.load',
    'kernel.all.look',
  ])
  expect(complete('pminfo', '-n', 'names', 'nosuch.')).toEqual([])
})

test('arguments: archives by their base name, files, names of diagnostics', () => {
  expect(complete('pminfo', '-a', 'w')).toEqual(['web'])
  expect(complete('pminfo', '--archive', '=', 'w')).toEqual(['web'])
  expect(complete('pminfo', '-fa', 'w')).toEqual(['web'])
  expect(complete('pminfo', '-n', 'na')).toEqual(['names'])
  expect(complete('pminfo', '-D', 'pdu,fet')).toEqual(['pdu,fetch'])
  expect(complete('pminfo', '-h', 'loc')).toContain('local:')
})

/** An interactive shell on a terminal. */
class Terminal {
  readonly #shell: ReturnType<typeof spawn>
  #shown = ''

  constructor(command: string) {
    this.#shell = spawn('script', ['-qfc', command, '/dev/null'], { cwd: dir, env })
    this.#shell.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      this.#shown += chunk
    })
  }

  /** Types keys and waits until a text has appeared. */
  async type(keys: string, text: string): Promise<void> {
    this.#shell.stdin!.write(keys)
    while (!this.#shown.includes(text)) await once(this.#shell.stdout!, 'data')
    this.#shown = ''
  }

  async end(): Promise<void> {
    const ended = once(this.#shell, 'close')
    this.#shell.stdin!.end('\x15exit\n')
    await ended
  }
}

test('Tab in an interactive bash completes', async () => {
  if (!has('script')) return
  const terminal = new Terminal('bash --noprofile --norc -i')
  await terminal.type(`source '${BASH}'; echo rea""dy\n`, 'ready')
  await terminal.type('pminfo -n names kernel.a\tloa\t\n', 'kernel.all.load\r\n')
  await terminal.end()
})

test('Tab in an interactive zsh completes', async () => {
  if (!has('zsh') || !has('script')) return
  expect(spawnSync('zsh', ['-n', join(ZSH, '_pcp-ts')], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
  const terminal = new Terminal('zsh -f -i')
  await terminal.type(
    `fpath=('${ZSH}' $fpath); autoload -U compinit; compinit -u -D; echo rea""dy\n`,
    'ready',
  )
  await terminal.type('pminfo --fetcha\t', '--fetchall')
  await terminal.type('\x15pminfo -n names kernel.all.loa\t', 'kernel.all.load')
  await terminal.end()
})

test('every command has a man page, with a summary of one line', () => {
  for (const { name } of TOOLS.filter(({ isForScripts }) => isForScripts !== true)) {
    const text = readFileSync(join(MAN, `${name}.1`), 'utf8')
    expect(text).toMatch(/^\.SH NAME\n\S+ \\- [^\n]{10,80}[^.\n]\n\.SH SYNOPSIS$/m)
  }
})

test('every man page is accepted by groff and mandoc', () => {
  const pages = readdirSync(MAN)
  expect(pages).toContain('pminfo.1')
  for (const page of pages) {
    const file = join(MAN, page)
    if (page === pages[0] && !has('groff') && !has('mandoc')) return
    const groff = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-z', file], { encoding: 'utf8' })
    if (groff.error === undefined) expect(groff).toMatchObject({ status: 0, stderr: '' })
    const lint = spawnSync('mandoc', ['-Tlint', '-Wwarning', file], { encoding: 'utf8' })
    if (lint.error === undefined)
      expect(lint.stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'))).toEqual(
        [],
      )
  }
})
