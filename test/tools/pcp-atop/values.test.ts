import { describe, expect, it } from 'vitest'
import {
  bandwidthText,
  countText,
  cpuTimeText,
  elapsedText,
  frequencyText,
  latencyText,
  percentText,
  rateText,
  sizeRateText,
  sizeText,
} from '../../../src/tools/pcp-atop/values.ts'

// Expected texts are output of pcp-atop 6.0.3 for these values.
describe('numbers of atop', () => {
  it('shows counts, and wide ones with a power of ten', () => {
    expect(countText(64_269_970, 8)).toBe('64269970')
    expect(countText(21_747_691, 7)).toBe('21748e3')
    expect(countText(3_322_672_011, 7)).toBe('33227e5')
    expect(countText(999_999, 5)).toBe('100e4')
    expect(countText(7, 5)).toBe('    7')
  })

  it('shows counts a second', () => {
    expect(rateText(2_698_109, 6, 2)).toBe('13e5/s')
    expect(rateText(35, 8, 2)).toBe('    18/s')
    expect(rateText(35, 8, undefined)).toBe('      35')
  })

  it('shows sizes in at least the given unit', () => {
    expect(sizeText(0, 'B')).toBe('    0B')
    expect(sizeText(0, 'K')).toBe('  0.0K')
    expect(sizeText(304 * 1024, 'M')).toBe('  0.3M')
    expect(sizeText(92 * 1024, 'B')).toBe(' 92.0K')
    expect(sizeText(-128 * 1024, 'B')).toBe(' -0.1M')
    expect(sizeText(999 * 1024 ** 2, 'B')).toBe('  1.0G')
    expect(sizeText(198_400 * 1024, 'B')).toBe('193.8M')
  })

  it('shows sizes a second', () => {
    expect(sizeRateText(0, 2)).toBe('  0B/s')
    expect(sizeRateText(21.2 * 1024 ** 2, 2)).toBe(' 11M/s')
    expect(sizeRateText(68 * 1024, 2)).toBe(' 34K/s')
    expect(sizeRateText(16.8 * 1024 ** 2, 2)).toBe('8.4M/s')
    expect(sizeRateText(18.8 * 1024 ** 2, 2)).toBe('  9M/s')
    expect(sizeRateText(15 * 1024, 2)).toBe('7.5K/s')
    expect(sizeRateText(277 * 512, 1)).toBe('139K/s')
  })

  it('shows times of processors', () => {
    expect(cpuTimeText(25)).toBe(' 0.02s')
    expect(cpuTimeText(97_870)).toBe('97.87s')
    expect(cpuTimeText(100_000)).toBe(' 1m40s')
    expect(cpuTimeText(3_705_000)).toBe('61m45s')
    expect(cpuTimeText(16_140_000)).toBe(' 4h29m')
    expect(cpuTimeText(400_000_000)).toBe(' 4d15h')
  })

  it('shows other kinds', () => {
    expect(elapsedText(2)).toBe('2s')
    expect(elapsedText(1069)).toBe('17m49s')
    expect(elapsedText(120)).toBe('2m0s')
    expect(elapsedText(51 * 86400 + 4 * 3600 + 41 * 60 + 8)).toBe('51d4h41m8s')
    expect(frequencyText(186)).toBe(' 186MHz')
    expect(frequencyText(1493.5)).toBe('1.49GHz')
    expect(bandwidthText(8843)).toBe('8843 Kbps')
    expect(bandwidthText(584_027)).toBe(' 584 Mbps')
    expect(latencyText(6.23)).toBe('6.23 ms')
    expect(latencyText(16.2)).toBe('16.2 ms')
    expect(latencyText(0)).toBe(' 0.0 ns')
    expect(percentText(98.5)).toBe('98%')
  })
})
