import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LABEL_COMPOUND, LABEL_CONTEXT, LABEL_OPTIONAL } from '../../src/model/labels.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import {
  contextLabels,
  fileLabelsJson,
  type HostLabels,
  readHostLabels,
} from '../../src/routing/host-labels.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'labels-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function read(files: Record<string, string>): HostLabels {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return readHostLabels({ sysconfDir: join(dir, 'etc/pcp'), hostname: 'vm', root: dir })
}

test('a host without files has hostname, domainname and machineid', () => {
  const set = contextLabels(read({ 'etc/machine-id': 'abc\n' }), ANONYMOUS)
  expect(set.json).toBe('{"domainname":"localdomain","hostname":"vm","machineid":"abc"}')
  expect(set.labels.map(({ flags }) => flags)).toEqual([LABEL_CONTEXT, LABEL_CONTEXT, LABEL_CONTEXT])
})

test('files are read in order, later ones win, nested names get dots, optional ones a flag', () => {
  const host = read({
    'etc/pcp/labels/b': '{"role":"db","tier":{"a":1,"b":[1,{"c":null}]}}',
    'etc/pcp/labels/a': '{"role":"web","zone":"x"}',
    'etc/pcp/labels/.hidden': '{"no":1}',
    'etc/pcp/labels/optional/o': '{"note":"n"}',
  })
  expect(fileLabelsJson(host)).toBe('{"note":"n","role":"db","tier.a":1,"tier.b":[1,{"c":null}],"zone":"x"}')
  const flags = Object.fromEntries([...host.files.values()].map((label) => [label.name, label.flags]))
  expect(flags).toMatchObject({
    note: LABEL_CONTEXT | LABEL_OPTIONAL,
    role: LABEL_CONTEXT,
    'tier.a': LABEL_CONTEXT | LABEL_COMPOUND,
  })
})

test('an invalid file is skipped entirely and named', () => {
  const host = read({
    'etc/pcp/labels/a': '{"good":1,"1bad":2}',
    'etc/pcp/labels/b': '[1]',
    'etc/pcp/labels/c': '{',
    'etc/pcp/labels/d': '{"fine":true}',
  })
  expect(fileLabelsJson(host)).toBe('{"fine":true}')
  expect(host.problems).toHaveLength(3)
  expect(host.problems[0]).toContain('"1bad" cannot be the name of a label')
})

test('clients see labels of their container and user', () => {
  const host = read({})
  const requester = { ...ANONYMOUS, container: 'c1', credentials: { uid: 5, gid: 6, pid: 7 } }
  const set = contextLabels(host, requester)
  expect(JSON.parse(set.json)).toMatchObject({ container: 'c1', userid: 5, groupid: 6 })
  expect(set.labels.find(({ name }) => name === 'userid')?.flags).toBe(LABEL_CONTEXT | LABEL_OPTIONAL)
})

test('machineid can be replaced by a hash', () => {
  const host = read({
    'etc/machine-id': 'abc\n',
    'etc/pcp/labels.conf': '# x\n[global]\nmachineid_hash = sha256\n',
  })
  // printf abc | sha256sum
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(contextLabels(host, ANONYMOUS).json).toContain(`"machineid_sha256":"${hash}"`)
  expect(contextLabels(host, ANONYMOUS).json).not.toContain('"machineid"')
})
