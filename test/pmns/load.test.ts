/** Name spaces as the reference loads them: 163 recorded files, with messages, child lists, look-ups and traversals. */
import { expect, test } from 'vitest'
import { isError, type PcpError } from '../../src/model/errors.ts'
import { PM_ID_NULL, pmidStr } from '../../src/model/ids.ts'
import { loadPmns, type PmnsFiles } from '../../src/pmns/load.ts'
import type { Pmns } from '../../src/pmns/tree.ts'
import { readVectors } from '../vectors.ts'

interface Expected {
  readonly status: number | string
  readonly messages?: string
  readonly traverse?: string[]
  readonly pmids?: Record<string, string>
  readonly byPmid?: Record<string, { nameID: string; nameAll: string[] | string }>
  readonly children?: Record<string, [string, string][]>
  readonly bulk?: { result: number | string; pmids: number[] }
  readonly lookups?: Lookup[]
}

interface Lookup {
  readonly name: string
  readonly single: number | string
  readonly pmid: number
  readonly traverse: string[] | string
  readonly children: number | string
}

interface Case {
  readonly title: string
  readonly loader: string
  readonly main?: string
  readonly files: Record<string, string>
  readonly result: Expected
}

/** Intentional differences, explained on the page about the format. */
const MENDED: Readonly<Record<string, string>> = {
  'missing final newline': 'loads',
  'C comments without cpp': '[root:1]',
  'hash comment': '[root:1]',
  'hash comment inside': '[root:2]',
  'hash comment (no cpp)': '[root:1]',
  'bad line control (no cpp)': '[root:1]',
  'macros need cpp': '[root:1]',
}

/** Names added by the derived-metric layer, which are not part of a file. */
const isDerived = (name: string): boolean => name === 'event' || name.startsWith('event.')
const without = (names: readonly string[]): string[] => names.filter((name) => !isDerived(name))

/** The part of the domain register that the recorded cases need. */
const STDPMID = '#define PMCD 2\n#define SAMPLE 29\n'

function filesOf(files: Readonly<Record<string, string>>): PmnsFiles {
  const fail = (code: string): never => {
    throw Object.assign(new Error(code), { code })
  }
  const readText = (path: string): string => {
    const isDirectory = Object.keys(files).some((name) => name.startsWith(`${path}/`))
    return files[path] ?? fail(isDirectory ? 'EISDIR' : 'ENOENT')
  }
  return {
    readText,
    findInclude: (name, mainFile) => {
      if (name === 'stdpmid') return { path: '/pmns/stdpmid', text: STDPMID }
      const beside = mainFile.includes('/') ? `${mainFile.slice(0, mainFile.lastIndexOf('/'))}/${name}` : name
      const path = [name, beside].find((candidate) => candidate in files)
      return path === undefined ? undefined : { path, text: files[path]! }
    },
  }
}

function load(testCase: Case): Pmns {
  return loadPmns(
    testCase.main ?? Object.keys(testCase.files)[0]?.split('/x')[0] ?? 'root',
    filesOf(testCase.files),
    {
      preprocess: testCase.loader.startsWith('pmLoadASCII'),
      unique: testCase.loader.endsWith('(dupok=0)'),
    },
  )
}

/** Returns the result of a request, errors by name. */
function outcome<T>(ask: () => T): T | string {
  try {
    return ask()
  } catch (error) {
    return (error as PcpError).code
  }
}

function checkLoaded(pmns: Pmns, expected: Expected): void {
  expect(pmns.traverse()).toEqual(without(expected.traverse!))
  for (const [name, id] of Object.entries(expected.pmids!)) {
    if (!isDerived(name)) expect(pmidStr(pmns.lookup(name) as number), name).toBe(id)
  }
  for (const [id, { nameAll }] of Object.entries(expected.byPmid!)) {
    const [domain, cluster, item] = id.split('.').map(Number)
    const names = pmns.namesOf(((domain! << 22) | (cluster! << 10) | item!) >>> 0)
    const isOurs = domain !== 511 || item === 0
    if (isOurs) expect(names, id).toEqual(nameAll === 'PM_ERR_PMID' ? [] : nameAll)
  }
  for (const [name, children] of Object.entries(expected.children!)) {
    if (isDerived(name)) continue
    const want = children.filter(([child]) => name !== '' || !isDerived(child))
    const got = pmns.children(name).map((child) => [child.name, child.isLeaf ? 'LEAF' : 'NONLEAF'])
    expect(got, `children of "${name}"`).toEqual(want)
  }
  for (const lookup of expected.lookups ?? []) checkLookup(pmns, lookup)
  const lookups = expected.lookups ?? []
  const ids = lookups.map(({ name }) => pmns.lookup(name)).map((id) => (isError(id) ? PM_ID_NULL : id))
  if (expected.bulk !== undefined) expect(ids).toEqual(expected.bulk.pmids)
}

function checkLookup(pmns: Pmns, { name, single, pmid, traverse, children }: Lookup): void {
  const id = pmns.lookup(name)
  if (typeof single === 'string') expect(isError(id) && id.code, name).toBe(single)
  else expect(id, name).toBe(pmid)
  const names = outcome(() => pmns.traverse(name))
  expect(names, name).toEqual(typeof traverse === 'string' ? traverse : without(traverse))
  const count = outcome(() => pmns.children(name).length)
  const derivedChildren = name === '' ? 1 : 0
  expect(count, name).toBe(typeof children === 'string' ? children : children - derivedChildren)
}

let mended = 0
const { cases } = readVectors<Case>('pmns/load.json')
for (const testCase of cases) {
  test(`${testCase.loader}: ${testCase.title}`, () => {
    const { status, messages } = testCase.result
    const isTooLong = messages?.includes('Absurdly long') ?? false
    const exception = MENDED[testCase.title] ?? (isTooLong ? '[root:2]' : undefined)
    if (exception === 'loads' && status !== 0) {
      mended++
      expect(load(testCase).size).toBeGreaterThan(0)
      return
    }
    if (status === 0) {
      checkLoaded(load(testCase), testCase.result)
      return
    }
    const error = outcomeError(() => load(testCase))
    expect(error.code).toBe(String(status).replace(/^-/, ''))
    if (exception === undefined) expect(`${error.message}\n`).toBe(messages!.replace(/\n+$/, '\n'))
    else {
      mended++
      const [, text] = /(Error Parsing ASCII PMNS: .*)/.exec(messages!)!
      expect(error.message).toContain(`${exception} ${text}`)
    }
  })
}

test('covers every recorded case', () => {
  expect(cases.length).toBe(163)
  console.log(`pmns/load: ${cases.length} cases, ${mended} of them with a defect mended`)
})

function outcomeError(ask: () => unknown): PcpError {
  try {
    ask()
  } catch (error) {
    return error as PcpError
  }
  throw new Error('loaded although the reference refuses')
}
