/** Texts and colours of dstat's values. */
import { describe, expect, it } from 'vitest'
import { type CellStyle, cellText, centered } from '../../../src/tools/pcp-dstat/format.ts'
import { ON_DARK, ON_LIGHT, PLAIN } from '../../../src/tools/pcp-dstat/theme.ts'

const style = (more: Partial<CellStyle>): CellStyle => ({
  width: 5,
  printType: 'd',
  colorStep: undefined,
  isSpace: false,
  isBare: false,
  isBits: false,
  ...more,
})
const plain = (value: number | string | undefined, more: Partial<CellStyle> = {}): string =>
  cellText(value, style(more), PLAIN)

describe('a value', () => {
  it('has a letter for its unit, but not below 1', () => {
    expect(plain(680)).toBe(' 680 ')
    expect(plain(70_850)).toBe('  71k')
    expect(plain(17_000, { isSpace: true })).toBe('  17k')
    expect(plain(882, { isSpace: true })).toBe(' 882B')
    expect(plain(0.25, { isSpace: true, printType: 'f' })).toBe('0.25 ')
    expect(plain(0)).toBe('   0 ')
  })

  it('has as many decimals as fit', () => {
    expect(plain(2.945, { printType: 'f', width: 4, colorStep: 0.5 })).toBe('2.94')
    expect(plain(13.3e9, { printType: 'f', isSpace: true })).toBe('12.4G')
  })

  it('is in bits on request', () => {
    expect(plain(1000, { printType: 'b', isSpace: true, isBits: true })).toBe('8000b')
    expect(plain(100_000, { printType: 'b', isSpace: true, isBits: true })).toBe(' 800k')
  })

  it('is a dash if negative, but 0 for a percentage', () => {
    expect(plain(-3)).toBe('   - ')
    expect(plain(-3, { width: 3, printType: 'p', colorStep: 34 })).toBe('  0')
  })

  it('is blank if missing or not a number', () => {
    expect(plain(undefined)).toBe('     ')
    expect(plain(Number.NaN)).toBe('     ')
    expect(plain(Number.POSITIVE_INFINITY, { width: 2, colorStep: 1 })).toBe('  ')
  })

  it('is cut if it is text, and in the largest unit that fits for minutes', () => {
    expect(plain('chromium', { printType: 's' })).toBe('chrom')
    expect(plain(125, { printType: 't' })).toBe(' 2h05')
    expect(plain(60 * 24 * 30, { printType: 't', width: 3 })).toBe('30d')
  })

  it('has a colour for its size or percentage', () => {
    expect(cellText(17_000, style({ isSpace: true }), ON_DARK)).toBe('\x1b[1;33m  17\x1b[90mk')
    const share = style({ width: 3, printType: 'p', colorStep: 34 })
    expect(cellText(88, share, ON_DARK)).toBe('\x1b[1;32m 88')
    expect(cellText(100, share, ON_DARK)).toBe('\x1b[1;37m100')
    expect(cellText(88, share, ON_DARK.interim)).toBe('\x1b[0;32m 88')
    expect(cellText(88, share, ON_LIGHT)).toBe('\x1b[0;32m 88')
    expect(cellText(-1, style({}), ON_DARK)).toBe('\x1b[1;37m\x1b[41m   - \x1b[0;0m')
  })
})

it('titles are centered and cut', () => {
  expect(centered('read', 5)).toBe(' read')
  expect(centered('total usage', 19)).toBe('    total usage    ')
  expect(centered('interrupts', 4)).toBe('inte')
})
