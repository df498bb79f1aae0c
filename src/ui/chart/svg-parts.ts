/** Building blocks of SVG images. */

/** Width of every image. */
export const WIDTH = 900

/** Characters not allowed in XML: most control characters and lone surrogates. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** Escapes text for XML. */
export function xml(content: string): string {
  return content.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

/** Formats a number with one decimal; smaller differences are invisible. */
export const n = (value: number): string => String(Math.round(10 * value) / 10)

export function rect(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${xml(fill)}"/>`
}

/** Options of a text. */
export interface TextLook {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly size?: number
}

/** Draws a line of text; `y` is its baseline. */
export function text(x: number, y: number, content: string, fill: string, look: TextLook = {}): string {
  const anchor = look.anchor === undefined ? '' : ` text-anchor="${look.anchor}"`
  const size = look.size === undefined ? '' : ` font-size="${look.size}"`
  return `<text x="${n(x)}" y="${n(y)}"${anchor}${size} fill="${xml(fill)}">${xml(content)}</text>`
}

/** Estimates the width of a text; East Asian characters are twice as wide as others. */
export function textWidth(content: string): number {
  let width = 0
  for (const letter of content) width += letter.codePointAt(0)! >= 0x1100 ? 13 : 6.8
  return width
}

/** Truncates a text to a width. */
export function fitted(content: string, room: number): string {
  if (textWidth(content) <= room) return content
  let width = textWidth('…')
  let kept = ''
  for (const letter of content) {
    width += textWidth(letter)
    if (width > room) break
    kept += letter
  }
  return `${kept}…`
}
