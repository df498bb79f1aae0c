/** Untrusted names in commands of rules: instances of containers, processes or file systems, hosts, and values. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loggableMessage } from '../../src/base/printable.ts'
import { openLiveActions } from '../../src/pmie/live-actions.ts'
import { shellCommand } from '../../src/pmie/shell-command.ts'
import { prepareActions } from '../../src/rules/actions.ts'
import type { Binding } from '../../src/rules/bindings.ts'
import type { ActionName } from '../../src/rules/syntax.ts'
import { makeZone } from '../../src/time/zone.ts'
import { sendMail } from '../../src/tools/lib/admin/mail.ts'
import { seed } from '../lib/seed.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rules-'))
  writeFileSync(join(dir, 'witness'), '')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Names that create `mark` if a shell parses them. */
const NAMES = [
  'plain',
  'two words',
  '; touch mark; :',
  '&& touch mark',
  '| touch mark',
  '$(touch mark)',
  '`touch mark`',
  "'; touch mark; '",
  '"; touch mark; "',
  `'"; touch mark; "'`,
  '\u0024{x:=$(touch mark)}',
  '$HOME',
  '\ntouch mark\n',
  '# comment',
  '> mark',
  '* w?tness [w]itness ~',
  '\\',
  '\\"; touch mark; \\"',
  '-n',
  '',
  '\ttab ünïcödé \u202e',
  'a[$(touch mark)]',
  '(touch mark)',
  '){ touch mark',
]

const SHELLS = ['/bin/sh', '/bin/bash'].filter(existsSync)

/** Runs an action's command with one binding of this instance; returns its output and notices. */
async function runAction(
  args: readonly string[],
  bindings: readonly Partial<Binding>[],
  {
    action = 'shell',
    isUnquoted = false,
    written = [],
    form,
    env = { PATH: process.env['PATH'] },
  }: {
    action?: ActionName
    env?: Record<string, string | undefined>
    isUnquoted?: boolean
    written?: string[]
    form?: ((text: string) => string) | undefined
  } = {},
): Promise<{ done: boolean; text: string; notices: string[] }> {
  const out = join(dir, 'out')
  const fd = openSync(out, 'w')
  const notices: string[] = []
  const actions = openLiveActions({
    env: { ...env, HOME: '/nowhere' },
    zone: makeZone('UTC'),
    reporter: { print: () => {}, log: (_, text) => notices.push(text) },
    write: (text) => void written.push(text),
    ...(form === undefined ? {} : { form }),
    flush: async () => {},
    outputFd: fd,
    errorFd: fd,
    stomp: undefined,
    isJson: false,
    isUnquoted,
  })
  const before = process.cwd()
  process.chdir(dir)
  try {
    const prepared = prepareActions({ kind: 'action', name: action, holdoffSec: 0, args })
    const full = bindings.map((each) => ({
      host: 'host',
      connection: 'host',
      instance: 'instance',
      value: '1',
      ...each,
    }))
    const done = await prepared({
      rule: 'rule',
      file: 'file',
      line: 1,
      sec: 0,
      bindings: () => full,
      perform: actions.perform,
      onAction: () => {},
    })
    await actions.close()
    return { done, text: readFileSync(out, 'utf8'), notices }
  } finally {
    process.chdir(before)
    closeSync(fd)
  }
}

const hasMark = (): boolean => existsSync(join(dir, 'mark'))

test.each([
  ['without quotes', 'printf "[%s]" %i'],
  ['within double quotes', 'printf "[%s]" "%i"'],
  ['within single quotes', `printf "[%s]" '%i'`],
  ['after a backslash', 'printf "[%s]" \\%i'],
  ['in a command substitution', 'printf "[%s]" "$(printf %s %i; printf x)"'],
  ['in a quoted command substitution', 'printf "[%s]" "$(printf %s "%i"; printf x)"'],
  ['between backticks', 'printf "[%s]" "`printf %s %i; printf x`"'],
  ['as a default value', 'printf "[%s]" "\u0024{NOTHING:-%i}"'],
  ['after a comment', '# it\'s a "comment\nprintf "[%s]" %i'],
  ['in a subshell', '(printf "[%s]" %i)'],
  ['for a nested shell, as an argument', `sh -c 'printf "[%s]" "$1"' sh %i`],
])('a name is a single word %s', async (_, command) => {
  for (const instance of NAMES) {
    const { text } = await runAction([command], [{ instance }])
    // The command substitution has an end marker so that trailing newlines are kept.
    expect(text.replace(/x\]$/, ']')).toBe(`[${instance}]`)
    expect(hasMark()).toBe(false)
  }
})

test('names within words, of several bindings, hosts and values', async () => {
  const hostile = '$(touch mark); *'
  const binding = { host: hostile, connection: hostile, value: `"${hostile}"` }
  const { text } = await runAction(['printf "[%s]"', ' --to=%h:%c/%v', ' end'], [binding, binding])
  const word = `[--to=${hostile}:${hostile}/"${hostile}"]`
  expect(text).toBe(`${word}${word}[end]`)
  expect(hasMark()).toBe(false)
})

test('an undefined placeholder is a word, and an argument with placeholders is omitted if no value made the rule true', async () => {
  const { text } = await runAction(['printf "[%s]" %i'], [{ instance: undefined as never }])
  expect(text).toBe('[<%i undefined>]')
  expect((await runAction(['echo', ' %i', ' end'], [])).text).toBe('end\n')
})

test('in arithmetic only numbers are inserted, because shells run commands there', async () => {
  expect((await runAction(['echo $((%v + 1))'], [{ value: '41' }])).text).toBe('42\n')
  for (const template of ['echo $((%v + 1))', 'echo "$(("%v" + 1))"', 'if ((%v > 1)); then echo; fi']) {
    const { done, notices, text } = await runAction([template], [{ value: 'a[$(touch mark)]' }])
    expect([done, text, notices.length]).toEqual([false, '', 1])
    expect(hasMark()).toBe(false)
  }
})

/** Shells that evaluate more than /bin/sh must. */
const BASHES = ['/bin/bash', '/usr/bin/bash'].filter(existsSync).slice(0, 1)

/** Runs a command with a value for its placeholder; returns its output. */
function runIn(shell: string, template: string, value: string): string {
  const [head = '', ...rest] = template.split('%i')
  const inserted = { text: value, isInserted: true }
  const pieces = rest.flatMap((text) => [inserted, { text, isInserted: false }])
  const { command, variables } = shellCommand([{ text: head, isInserted: false }, ...pieces])
  const { stdout } = spawnSync(shell, ['--posix', '-c', command], {
    cwd: dir,
    env: { PATH: '/usr/bin:/bin', ...variables },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'], // with a socket as standard input, bash reads ~/.bashrc
  })
  return stdout
}

test.each(BASHES)('%s evaluates only numbers wherever it evaluates expressions', (shell) => {
  const evaluated: readonly [template: string, printed: string][] = [
    ['echo $[ %i + 1 ]', '2'],
    ['echo "$[%i+1]"', '2'],
    ['a=(x y); echo $[ a[0] + %i ]', '1'],
    ['v=abc; echo \u0024{v:%i:1}', 'b'],
    ['v=abc; echo "\u0024{v:"%i":1}"', 'b'],
    ['v=abc; echo "\u0024{v:0:%i}"', 'a'],
    ['v=abc; echo \u0024{v:(%i)}', 'bc'],
    ['v=abc; echo \u0024{v: %i}', 'bc'],
    ['set -- b c; echo \u0024{@:%i:1}', 'b'],
    ['a=(x y); echo \u0024{a[%i]}', 'y'],
    ['a=(x y); echo "\u0024{a["%i"]}"', 'y'],
    ['a=(x y); echo \u0024{a[0+%i]}', 'y'],
    ['a=(x y); echo \u0024{#a[%i]}', '1'],
    ['a=(x y); echo \u0024{a[@]:%i}', 'y'],
    ['a=(x yz); echo "\u0024{a[1]:%i}"', 'z'],
    ['a=(x y); echo \u0024{z:-\u0024{a[%i]}}', 'y'],
    ['a[%i]=z; echo \u0024{a[1]}', 'z'],
    ['a["%i"]+=z; echo \u0024{a[1]}', 'z'],
    ['cat <<E\n$((%i))\nE', '1'],
    ['declare a[%i]=z; echo \u0024{a[1]}', 'z'],
  ]
  for (const [template, printed] of evaluated) {
    expect([template, runIn(shell, template, '1')]).toEqual([template, `${printed}\n`])
    for (const value of ['x[$(touch mark)]', 'x', '1+x[$(touch mark)]', ''])
      expect(() => runIn(shell, template, value), template).toThrow(
        expect.objectContaining({ code: 'EINVAL' }),
      )
    expect(hasMark()).toBe(false)
  }
})

test('after a here-document with a quote, names are refused where they might be evaluated', () => {
  for (const template of ["cat <<E\nit's $((%i))\nE", "cat <<E\nit's\nE\necho \u0024{v:%i:1}"])
    expect(() => runIn('/bin/sh', template, 'x[$(touch mark)]')).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    )
})

test.each(BASHES)('%s receives names where brackets and colons are text', (shell) => {
  const value = 'x[$(touch mark)]'
  for (const template of [
    'echo "disk[%i]=1"',
    'echo "disk[0]=1" %i',
    'echo disk[%i] full',
    '[ %i = y ]; echo %i',
    'echo \u0024{v:-%i}',
    'echo "\u0024{v:=%i}"',
    'echo \u0024{v:-a[%i]}',
    'echo \u0024{v-a:%i}',
    'a=(x y); echo "\u0024{a[7]:-%i}"',
    'v=abc; echo \u0024{v:0:1} %i',
    'echo $[ 1 ] %i',
    "cat <<E\nit's %i\nE",
    'cat <<<"$((1)) "%i',
    'echo $(( $(echo %i >&2; echo 1) )) %i',
  ]) {
    expect(runIn(shell, template, value), template).toContain(value)
    expect(hasMark()).toBe(false)
  }
})

test('other actions treat a name as text', async () => {
  const logger = join(dir, 'logger')
  writeFileSync(logger, `#!/bin/sh\nprintf '[%s]' "$@"\n`, { mode: 0o755 })
  for (const instance of [...NAMES, 'a\0b', 'a\x1b[2J']) {
    const path = process.env['PATH']
    process.env['PATH'] = `${dir}:${path}`
    const { text } = await runAction(['%i'], [{ instance }], { action: 'syslog' })
    process.env['PATH'] = path
    expect(text).toBe(`[-p][daemon.notice][-t][pcp-pmie][--][${loggableMessage(instance)}]`)
    expect(hasMark()).toBe(false)
  }
})

test.each([{}, { PATH: '' }])('with %j no program in the working directory is run', async (env) => {
  for (const name of ['env', 'true']) writeFileSync(join(dir, name), '#!/bin/sh\n: > mark\n', { mode: 0o755 })
  const { done } = await runAction(['env true'], [], { env })
  expect([done, hasMark()]).toEqual([true, false])
})

test('a name that cannot be passed to a program does not stop the rules', async () => {
  expect((await runAction(['printf "[%s]" %i'], [{ instance: 'a\0b' }])).text).toBe('[ab]')
  const long = 'x'.repeat(1 << 21)
  for (const action of ['shell', 'syslog'] as const) {
    const { done, notices } = await runAction(['true %i'], [{ instance: long }], { action })
    expect([done, notices.length]).toEqual([false, 1])
  }
})

test('a name with a newline does not end a printed line in a log or on a terminal', async () => {
  const written: string[] = []
  for (const form of [undefined, loggableMessage])
    await runAction(['busy: %i\nin two lines'], [{ instance: 'a\nb' }], { action: 'print', written, form })
  const lines = written.map((text) => text.replace(/^.*?busy/, 'busy'))
  expect(lines).toEqual(['busy: a\nb\nin two lines\n', 'busy: a\\x0ab\nin two lines\n'])
})

test('a mail program finds no commands in logs and notices', () => {
  writeFileSync(join(dir, 'mail'), '#!/bin/sh\ncat > "$(dirname "$0")/sent"\n', { mode: 0o755 })
  writeFileSync(join(dir, 'log'), '~!touch mark\nname: ~x\r\n~!touch mark\n\n~~ \xff')
  const mail = { path: join(dir, 'log'), subject: 'log', to: 'root' }
  sendMail(mail, { PATH: `${dir}:/usr/bin:/bin` })
  const sent = readFileSync(join(dir, 'sent'), 'utf8')
  expect(sent).toBe(' ~!touch mark\nname: ~x\r\n ~!touch mark\n\n ~~ \xff')
})

test('with --unquoted the shell parses names, as in PCP', async () => {
  await runAction(['echo %i'], [{ instance: '; touch mark' }], { isUnquoted: true })
  expect(hasMark()).toBe(true)
})

const HOSTILE = 'x[$(touch mark)]$(touch mark)`touch mark`;touch mark\ntouch mark\n'

test('in any command, no part of a name is inserted or run by a shell', () => {
  const fragment = fc.constantFrom(
    ...[
      'echo ',
      '"',
      "'",
      '`',
      '$(',
      ')',
      '(',
      '\u0024{x:-',
      '}',
      '$((',
      '))',
      '$[',
      '[',
      ']',
      ']=',
      '\u0024{a[',
      '\u0024{x:',
      ':',
      '\\',
      '\n',
      '#',
      ' ',
      ';',
      '$',
      'a',
      '<<E\n',
      '\nE\n',
      'case x in x)',
    ],
  )
  const template = fc.array(fc.oneof(fragment, fc.constant(undefined)), { maxLength: 12 })
  const pieces = template.map((parts) =>
    parts.map((text) => ({
      text: text ?? HOSTILE,
      isInserted: text === undefined,
    })),
  )
  const commands: string[] = []
  fc.assert(
    fc.property(pieces, (each) => {
      try {
        const { command, variables } = shellCommand(each)
        expect(command).not.toContain('touch')
        if (Object.keys(variables).length > 0) commands.push(command)
      } catch (error) {
        expect(error).toMatchObject({ code: 'EINVAL' })
      }
    }),
    { seed, numRuns: 2000 },
  )
  const files = commands.slice(0, 120).map((command, i) => {
    writeFileSync(join(dir, `c${i}`), `${command}\n`)
    return `c${i}`
  })
  for (const shell of SHELLS)
    spawnSync(shell, ['-c', `for c in ${files.join(' ')}; do ${shell} $c </dev/null >/dev/null 2>&1; done`], {
      cwd: dir,
      env: { PATH: '/usr/bin:/bin', PMIE_1: HOSTILE, PMIE_2: HOSTILE },
      stdio: 'ignore',
    })
  expect(hasMark()).toBe(false)
  expect(readdirSync(dir).length).toBeGreaterThan(files.length)
})

test.each(SHELLS)('%s keeps names whole in every quoting context', (shell) => {
  const templates = [
    'printf %s ',
    'printf %s "',
    "printf %s '",
    'printf %s "$(printf %s ',
    'printf %s "`printf %s ',
  ]
  const ends = ['', '"', "'", '; printf x)"', '; printf x`"']
  for (const [i, template] of templates.entries())
    for (const name of NAMES) {
      const { command, variables } = shellCommand([
        { text: template, isInserted: false },
        { text: name, isInserted: true },
        { text: ends[i]!, isInserted: false },
      ])
      const env = { PATH: '/usr/bin:/bin', ...variables }
      const text = execFileSync(shell, ['-c', command], {
        cwd: dir,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      expect(i > 2 ? text.replace(/x$/, '') : text).toBe(name)
      expect(hasMark()).toBe(false)
    }
})
