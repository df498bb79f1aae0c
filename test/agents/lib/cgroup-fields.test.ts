/** Files of control groups with a line for each field. */
import { expect, test } from 'vitest'
import { FieldReader, fieldOf } from '../../../src/agents/lib/cgroup-fields.ts'

const read = (reader: FieldReader, text: string, ...names: string[]): unknown[] => {
  const fields = reader.read(text)
  return names.map((name) => fieldOf(fields, name))
}

test('finds fields whatever numbers are in front of them', () => {
  const reader = new FieldReader()
  expect(read(reader, '\ncache 4096\nrss 0\nrss_huge 7\n', 'rss', 'rss_huge', 'cache')).toEqual([0, 7, 4096])
  expect(read(reader, '\ncache 1\nrss 123456\nrss_huge 8\n', 'rss', 'rss_huge', 'cache')).toEqual([
    123456, 8, 1,
  ])
  expect(read(reader, '\ncache 1\n', 'rss', 'cache')).toEqual([undefined, 1])
})

test('takes groups whose files have other lines, in turn', () => {
  const reader = new FieldReader()
  for (let i = 0; i < 20; i++) {
    expect(read(reader, `\nusage ${i}\n`, 'usage', 'user')).toEqual([i, undefined])
    expect(read(reader, `\nusage ${i}\nuser 5\n`, 'usage', 'user')).toEqual([i, 5])
    expect(read(reader, `\nuser${i} ${i}\nuser 6`, `user${i}`, 'user')).toEqual([i, 6])
  }
})

test('has no value for -1, words and empty files, and keeps every digit', () => {
  const reader = new FieldReader()
  expect(
    read(
      reader,
      '\nlimit -1\nstate some text\nbig 18446744073709551615\nodd\nlast 3\n',
      'limit',
      'state',
      'big',
      'odd',
      'last',
    ),
  ).toEqual([undefined, undefined, 18446744073709551615n, undefined, 3])
  expect(read(reader, '\n', 'limit')).toEqual([undefined])
  expect(read(reader, '\nlimit 1\n', 'limit')).toEqual([1])
})
