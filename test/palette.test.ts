/** Line colours: visible on their background, and distinguishable with colour blindness. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Triple = readonly [number, number, number]

const css = readFileSync(new URL('../src/ui/style/ground.css', import.meta.url), 'utf8')

/** Returns a custom property of a theme as linear light: red, green, blue from 0 to 1. */
function lightOf(theme: 'light' | 'dark', name: string): Triple {
  const block = new RegExp(`\\[data-theme="${theme}"\\] \\{\\n  --c1[^}]*`).exec(css)![0]
  const [, ...parts] = new RegExp(`--${name}: #(..)(..)(..)`).exec(block)!
  return parts
    .map((part) => Number.parseInt(part, 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as unknown as Triple
}

/** WCAG 2.2, contrast ratio. */
function contrast(a: Triple, b: Triple): number {
  const [dark, bright] = [a, b]
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
    .sort((x, y) => x - y)
  return (bright! + 0.05) / (dark! + 0.05)
}

const times = (rows: readonly Triple[], [x, y, z]: Triple): Triple =>
  rows.map((row) => row[0] * x + row[1] * y + row[2] * z) as unknown as Triple

/** Machado, Oliveira, Fernandes 2009, severity 1. */
const EYES: Readonly<Record<string, readonly Triple[]>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no red': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'no green': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
}

/** Converts to Oklab, where equal distances look equal. */
function labOf(light: Triple): Triple {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    light,
  ).map(Math.cbrt) as unknown as Triple
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  )
}

const clamped = (light: Triple): Triple =>
  light.map((part) => Math.min(1, Math.max(0, part))) as unknown as Triple
const NAMES = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8']

for (const theme of ['light', 'dark'] as const) {
  test(`each colour of the ${theme} theme has a contrast of 3 with its background`, () => {
    const card = lightOf(theme, 'surface')
    for (const name of NAMES) expect(contrast(lightOf(theme, name), card), name).toBeGreaterThanOrEqual(3)
  })

  test(`no two colours of the ${theme} theme look alike with any colour vision`, () => {
    for (const [eye, rows] of Object.entries(EYES))
      for (const [i, one] of NAMES.entries())
        for (const other of NAMES.slice(i + 1)) {
          const [a, b] = [one, other].map((name) => labOf(clamped(times(rows, lightOf(theme, name)))))
          const distance = Math.hypot(...a!.map((part, k) => part - b![k]!))
          expect(distance, `${eye}: ${one} ${other}`).toBeGreaterThan(0.05)
        }
  })
}
