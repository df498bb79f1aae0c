/** What pictures of charts are made of. */

/** Width of every picture. */
export const WIDTH = 900

/** Letters that XML may not have at all: most controls, and halves of pairs. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** Text as part of XML. */
export function xml(content: string): string {
  return content.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

/** A number of a picture: a tenth of a pixel is seen by nobody. */
export const n = (value: number): string => String(Math.round(10 * value) / 10)

/** A filled rectangle. */
export function rect(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${xml(fill)}"/>`
}

/** How a text is written. */
export interface TextLook {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly size?: number
}

/** A line of text; `y` is its base. */
export function text(x: number, y: number, content: string, fill: string, look: TextLook = {}): string {
  const anchor = look.anchor === undefined ? '' : ` text-anchor="${look.anchor}"`
  const size = look.size === undefined ? '' : ` font-size="${look.size}"`
  return `<text x="${n(x)}" y="${n(y)}"${anchor}${size} fill="${xml(fill)}">${xml(content)}</text>`
}

/** About how wide a text is: letters of East Asia are twice as wide as others. */
export function textWidth(content: string): number {
  let width = 0
  for (const letter of content) width += letter.codePointAt(0)! >= 0x1100 ? 13 : 6.8
  return width
}

/** A text that is cut where there is no more room. */
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
