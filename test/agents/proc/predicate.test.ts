/** The language of hot processes: what PCP 6.0.3 makes of a predicate, as it shows it in hotproc.control.config. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePattern } from '../../../src/agents/proc/hot/pattern.ts'
import { type HotVariables, parsePredicate } from '../../../src/agents/proc/hot/predicate.ts'
import { PcpError } from '../../../src/model/errors.ts'

const facts: HotVariables = {
  cpuburn: 0.5,
  ctxswitch: 10,
  virtualsize: 5000,
  residentsize: 400,
  iodemand: 4096,
  iowait: 0.1,
  schedwait: 0,
  uid: 1000,
  gid: 100,
  uname: 'ann',
  gname: 'users',
  fname: 'bash',
  psargs: 'bash -c sleep',
}

describe('a predicate', () => {
  test.each([
    ['true', '(true)'],
    ['cpuburn < 1.5 && true', '((cpuburn < 1.500000) && (true))'],
    ['uname == "a b"', '(uname == "a b")'],
    ['cpuburn>5', '(cpuburn > 5)'],
    ['1 < cpuburn', '(1 < cpuburn)'],
    ['uid == gid', '(uid == gid)'],
    ['fname == uname', '(fname == uname)'],
    ['"x" == fname', '("x" == fname)'],
    ['Version 1.0\nfname == "x"', '(fname == "x")'],
    ['fname ~ /ba"sh/', '(fname ~ "ba"sh")'],
    ['fname !~ /x/', '(fname !~ "x")'],
    ['cpuburn == .5', '(cpuburn == 0.500000)'],
    ['cpuburn > 5.', '(cpuburn > 5)'],
    ['cpuburn > 007', '(cpuburn > 7)'],
    ['cpuburn > 2147483647', '(cpuburn > 2147483647)'],
    ['cpuburn > 2147483648', '(cpuburn > 2147483648.000000)'],
    ['virtualsize > 18446744073709551615', '(virtualsize > 18446744073709551616.000000)'],
    ['!true && false || true', '(((! (true)) && (false)) || (true))'],
    ['!(!true)', '(! (! (true)))'],
    ['((true))', '(true)'],
    ['true || false || true', '(((true) || (false)) || (true))'],
    ['fname ~ /(/', '(fname ~ "(")'],
    [
      'gname != "root" && gid<=100 || schedwait>0.1 || iowait>0.1||residentsize<5',
      '(((((gname != "root") && (gid <= 100)) || (schedwait > 0.100000)) || (iowait > 0.100000)) || (residentsize < 5))',
    ],
  ])('%s is %s', (text, canonical) => {
    expect(parsePredicate(text)?.text).toBe(canonical)
  })

  test.each(['', '  \n', '# nothing', '#a\n#b\n'])('is absent in %j', (text) => {
    expect(parsePredicate(text)).toBeUndefined()
  })

  test.each([
    'bad(',
    'virtualsize >= 1e3',
    "fname == 'x'",
    'fname ~ "/x/"',
    'fname !~ "x"',
    'true and false',
    'fname = "x"',
    'version 1.0\ntrue',
    'Version 2.0\ntrue',
    'cpuburn == "x"',
    'fname < 3',
    'true &&',
    'syscalls > 3',
    'ctxswitch > -1',
    'fname ~ /[z/',
    '('.repeat(100_000),
  ])('is refused in %j', (text) => {
    expect(() => parsePredicate(text)).toThrow(expect.objectContaining({ code: 'PM_ERR_BADSTORE' }))
  })

  test('an error names the line and the expected token', () => {
    expect(() => parsePredicate('# one\ncpuburn > 1 &&\n  fname')).toThrow('line 3: expected ==, !=, ~ or !~')
  })

  test.each([
    ['cpuburn > 0.4', true],
    ['cpuburn > 0.4 && uid == 0', false],
    ['cpuburn > 0.4 || uid == 0', true],
    ['true || false && false', true],
    ['fname ~ /as/', true],
    ['psargs ~ /sleep$/', true],
    ['psargs !~ /^sleep/', true],
    ['uname == "ann" && gname != "root"', true],
    ['iodemand >= 4096', true],
    ['iodemand < 4096', false],
    ['! (iowait <= 0.1)', false],
  ])('%s holds or not: %s', (text, holds) => {
    expect(parsePredicate(text)?.matches(facts)).toBe(holds)
  })

  test('any text gives a predicate, none, or a PcpError', () => {
    const words = [
      '&&',
      '||',
      '!',
      '(',
      ')',
      'true',
      'cpuburn',
      '<',
      '5',
      'fname',
      '~',
      '/x/',
      '"y"',
      '==',
      '\n',
      '#',
    ]
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 3 }))), (parts) => {
        try {
          const found = parsePredicate(parts.join(' '))
          if (found === undefined) return
          found.matches(facts)
          if (!found.text.includes('~')) expect(parsePredicate(found.text)?.text).toBe(found.text)
        } catch (error) {
          expect(error).toBeInstanceOf(PcpError)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a pattern', () => {
  test.each([
    ['sle+p', 'sleep', true],
    ['slee|zzz', 'sleep', false],
    ['slee\\|zzz', 'sleep', true],
    ['sle\\{2\\}p', 'sleep', false],
    ['\\(ab\\)+c', 'xababc', true],
    ['(ab)', '(ab)', true],
    ['[[:digit:]]x', '7x', true],
    ['[]a]', ']', true],
    ['[^]a]', 'a', false],
    ['\\<ba', 'foo bar', true],
    ['\\<ar', 'foo bar', false],
    ['a.c$', 'xabc', true],
    ['a/b', 'a/b', true],
  ])('%s in %s: %s', (pattern, text, isFound) => {
    expect(compilePattern(pattern).test(text)).toBe(isFound)
  })
})
