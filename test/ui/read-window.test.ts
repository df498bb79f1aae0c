/** Times entered on the page, in every form of PCP's -S, -T and -O. */
import { describe, expect, test } from 'vitest'
import { formatTime } from '../../src/ui/time/format.ts'
import { readWindow, type TypedWindow, type WindowBase } from '../../src/ui/time/read-window.ts'

const at = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`) / 1000

const NOW = at('2026-11-23 11:56:30')
const HOST: WindowBase = {
  frame: { from: NOW - 300.25, to: NOW },
  isLive: true,
  bounds: {},
  now: NOW,
  zone: 'UTC',
}
const PAUSED: WindowBase = { ...HOST, isLive: false, frame: { from: NOW - 600.25, to: NOW - 300.5 } }
const [START, END] = [at('2023-11-14 22:13:20'), at('2023-11-16 04:00:00')]
const ARCHIVE: WindowBase = {
  ...HOST,
  frame: { from: START, to: END },
  isLive: false,
  bounds: { start: START, end: END },
}

function shown(typed: TypedWindow, base: WindowBase): string {
  const { from, to, isLive } = readWindow(typed, base)
  return `${formatTime(from, base.zone)} to ${isLive ? 'now' : formatTime(to, base.zone)}`
}

describe('From, of a host', () => {
  test.each([
    ['-10min', '2026-11-23 11:46:30'],
    ['-2 hours', '2026-11-23 09:56:30'],
    ['10 minutes ago', '2026-11-23 11:46:30'],
    ['yesterday', '2026-11-22 00:00:00'],
    ['02:45', '2026-11-23 02:45:00'],
    ['@02:45', '2026-11-23 02:45:00'],
    ['11:30', '2026-11-23 11:30:00'],
    ['@11:30:15', '2026-11-23 11:30:15'],
    ['23:00', '2026-11-22 23:00:00'],
    ['@11:58', '2026-11-22 11:58:00'],
    ['10pm', '2026-11-22 22:00:00'],
    ['@10:15 am', '2026-11-23 10:15:00'],
    ['@Nov 20 10:00', '2026-11-20 10:00:00'],
    ['@Dec 24 10:00', '2025-12-24 10:00:00'],
    ['Dec 24 10:00', '2025-12-24 10:00:00'],
    ['monday 10:00', '2026-11-23 10:00:00'],
    ['@tuesday 10:00', '2026-11-17 10:00:00'],
    ['@Mon Nov 23 02:45:00 2026', '2026-11-23 02:45:00'],
    ['2026-11-22', '2026-11-22 00:00:00'],
    ['2026-11-22 10:04:36', '2026-11-22 10:04:36'],
    ['2026-11-22T10:04:36', '2026-11-22 10:04:36'],
    ['@2026-11-22 10:04', '2026-11-22 10:04:00'],
    ['midnight', '2026-11-23 00:00:00'],
    ['yesterday noon', '2026-11-22 12:00:00'],
    ['yesterday 12 noon', '2026-11-22 12:00:00'],
    ['12 midnight', '2026-11-23 00:00:00'],
    ['an hour ago', '2026-11-23 10:56:30'],
    ['an hr ago', '2026-11-23 10:56:30'],
  ])('%s', (from, expected) => {
    expect(shown({ from }, HOST)).toBe(`${expected} to now`)
  })

  test.each([
    ['', /Enter a start time/],
    ['now', /From \(2026-11-23 11:56:30\) must be before the present/],
    ['10min', /10min\n\^ -- counts from the start of an archive/],
    ['+10min', /counts from the start/],
    ['9999-12-31', /From \(9999-12-31 00:00:00\) must be before the present/],
    ['25:00', /hours are 0 to 23/],
    ['@25:00', /^@25:00\n\^ -- hours are 0 to 23/],
    ['noon nonsense', /^noon nonsense\n\^ -- unexpected value/],
    ['-99999999 days', /^That is too long; at most 366 d can be shown$/],
    ['2027-01-01', /From \(2027-01-01 00:00:00\) must be before the present/],
    ['tomorrow', /must be before the present/],
    ['2019-01-01', /That is 2883 d 11 h; at most 366 d can be shown/],
    ['2026-13-45', /unexpected value/],
    ['nonsense', /nonsense\n\s*\^/],
    ['@nonsense', /nonsense\n\s*\^/],
  ])('refuses %j', (from, message) => {
    expect(() => readWindow({ from }, HOST)).toThrow(message)
  })
})

test('the end that was not edited stays unchanged, and live stays live', () => {
  expect(readWindow({ from: '-10min' }, HOST)).toEqual({ from: NOW - 600, to: NOW, isLive: true })
  expect(readWindow({ from: '-20min' }, PAUSED)).toEqual({ from: NOW - 1200, to: NOW - 300.5, isLive: false })
  expect(readWindow({ to: 'now' }, PAUSED)).toEqual({ from: NOW - 600.25, to: NOW, isLive: true })
  expect(readWindow({ to: '-1min' }, HOST)).toEqual({ from: NOW - 300.25, to: NOW - 60, isLive: false })
  expect(() => readWindow({ from: '-1min' }, PAUSED)).toThrow(
    'To (2026-11-23 11:51:29) must be after From (2026-11-23 11:55:30)',
  )
})

test('an end is the first match after From, and an interval counts from there', () => {
  expect(shown({ from: '02:45', to: '03:15' }, HOST)).toBe('2026-11-23 02:45:00 to 2026-11-23 03:15:00')
  expect(shown({ from: '23:00', to: '01:00' }, HOST)).toBe('2026-11-22 23:00:00 to 2026-11-23 01:00:00')
  expect(shown({ from: '02:45', to: '10min' }, HOST)).toBe('2026-11-23 02:45:00 to 2026-11-23 02:55:00')
  expect(shown({ from: '02:45', to: '@Nov 24 10:00' }, HOST)).toBe(
    '2026-11-23 02:45:00 to 2026-11-23 11:56:30',
  )
})

test.each([
  ['10min', undefined, '2023-11-14 22:23:20 to 2023-11-16 04:00:00'],
  ['-10min', undefined, '2023-11-16 03:50:00 to 2023-11-16 04:00:00'],
  ['@23:00', undefined, '2023-11-14 23:00:00 to 2023-11-16 04:00:00'],
  ['02:45', '03:15', '2023-11-15 02:45:00 to 2023-11-15 03:15:00'],
  ['@Nov 15 10:00', '10:30', '2023-11-15 10:00:00 to 2023-11-15 10:30:00'],
  ['', '5min', '2023-11-14 22:13:20 to 2023-11-14 22:18:20'],
  ['2023-01-01', 'now', '2023-11-14 22:13:20 to 2023-11-16 04:00:00'],
  ['thursday 01:00', undefined, '2023-11-16 01:00:00 to 2023-11-16 04:00:00'],
  ['10pm', undefined, '2023-11-15 22:00:00 to 2023-11-16 04:00:00'],
])('of an archive: %j to %j', (from, to, expected) => {
  expect(shown({ from, to }, ARCHIVE)).toBe(expected)
})

test('ends in the wrong order are rejected, also as times of day', () => {
  expect(() => readWindow({ from: '11:52', to: '11:50' }, HOST)).toThrow(
    'To (2026-11-23 11:50:00) must be after From (2026-11-23 11:52:00)',
  )
  expect(shown({ from: '11:52', to: '11:58' }, HOST)).toBe('2026-11-23 11:52:00 to 2026-11-23 11:56:30')
  expect(() => readWindow({ from: '2020-01-02', to: '2020-01-01' }, ARCHIVE)).toThrow(
    'To (2020-01-01 00:00:00) must be after From (2020-01-02 00:00:00)',
  )
})

test('a window before the archive is rejected with its start', () => {
  const short = { ...ARCHIVE, bounds: { start: START, end: START + 3600 } }
  expect(() => readWindow({ from: '22:00', to: '22:05' }, short)).toThrow(
    'To (2023-11-14 22:05:00) must be after the start of the archive (2023-11-14 22:13:20)',
  )
  expect(shown({ from: '22:00', to: '22:30' }, short)).toBe('2023-11-14 22:13:20 to 2023-11-14 22:30:00')
})

test('a start after the archive is rejected with both times', () => {
  expect(() => readWindow({ from: '2024-01-01' }, ARCHIVE)).toThrow(
    'From (2024-01-01 00:00:00) must be before the end of the archive (2023-11-16 04:00:00)',
  )
})

test('times of day are in the shown zone', () => {
  expect(readWindow({ from: '02:45' }, { ...HOST, zone: 'Asia/Kolkata' }).from).toBe(
    at('2026-11-22 21:15:00'),
  )
  expect(readWindow({ from: '17:20' }, { ...HOST, zone: 'Asia/Kolkata' }).from).toBe(
    at('2026-11-23 11:50:00'),
  )
})
