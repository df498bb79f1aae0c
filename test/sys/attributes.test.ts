import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Attributes } from '../../src/sys/attributes.ts'

describe('Attributes', () => {
  it('notices creation, replacement and removal of files below another root', () => {
    const root = mkdtempSync(join(tmpdir(), 'attributes-'))
    const path = '/sys/class/net/eth0/mtu'
    const file = join(root, path)
    const attributes = new Attributes(root)
    try {
      expect(attributes.read(path)).toBeUndefined()
      mkdirSync(join(root, '/sys/class/net/eth0'), { recursive: true })
      writeFileSync(file, '1500\n')
      expect(attributes.read(path)).toBe('1500')
      writeFileSync(`${file}.new`, '9000\n')
      renameSync(`${file}.new`, file)
      expect(attributes.read(path)).toBe('9000')
      rmSync(file)
      expect(attributes.read(path)).toBeUndefined()
    } finally {
      attributes.close()
      rmSync(root, { recursive: true })
    }
  })

  it.runIf(existsSync('/sys/kernel/fscaps'))('rereads this system, also after close', () => {
    const attributes = new Attributes('/')
    const expected = readFileSync('/sys/kernel/fscaps', 'utf8').trim()
    for (let i = 0; i < 3; i++) expect(attributes.read('/sys/kernel/fscaps')).toBe(expected)
    attributes.close()
    expect(attributes.read('/sys/kernel/fscaps')).toBe(expected)
    attributes.close()
  })

  it('returns undefined, twice, for a missing attribute', () => {
    const attributes = new Attributes('/')
    expect(attributes.read('/sys/no/such/attribute')).toBeUndefined()
    expect(attributes.read('/sys/no/such/attribute')).toBeUndefined()
    attributes.close()
  })
})
