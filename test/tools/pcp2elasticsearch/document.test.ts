import { expect, test } from 'vitest'
import { SampleDocument } from '../../../src/tools/pcp2elasticsearch/document.ts'

test('names are nested, and metrics with the same parent share their instances', () => {
  const document = new SampleDocument({ '@host-id': 'h' })
  expect(document.isEmpty).toBe(true)
  document.add('hinv.ncpu', 8)
  document.addOf('disk.dev.read', 'sda', 1)
  document.addOf('disk.dev.read', 'sdb', 2, "{'a':'b'}")
  document.addOf('disk.dev.write', 'sdb', 3)
  document.add('mem.free', 4, '{}')
  expect(document.isEmpty).toBe(false)
  expect(JSON.parse(document.json())).toEqual({
    '@host-id': 'h',
    hinv: { ncpu: 8 },
    disk: {
      dev: {
        '@instances': [
          { '@id': 'sda', read: 1 },
          { '@id': 'sdb', read: 2, '@labels': "{'a':'b'}", write: 3 },
        ],
      },
    },
    mem: { free: [4, '{}'] },
  })
})

test('any name of a metric is safe, even below another metric', () => {
  const document = new SampleDocument({})
  document.add('constructor.name', 1)
  document.add('a.b', 2)
  document.add('a.b.c.d', 3)
  document.addOf('toString.x', 'i', 4)
  expect(document.json()).toBe(
    '{"constructor":{"name":1},"a":{"b":2,"b.c.d":3},"toString":{"@instances":[{"@id":"i","x":4}]}}',
  )
})
