/**
 * Text of others on terminals and in logs. Names, values and messages may hold what a terminal obeys (escape sequences, whatever bytes they
 * begin with) and what deceives a reader (directions of writing, characters without width). Files and pipes keep every byte; what leaves
 * for a terminal or for a log passes through here.
 */

/** Text without any of these needs no closer look. */
const PLAIN = /^[\t\n -~]*$/
/**
 * Control characters, format characters with the bidirectional ones among them, characters that show nothing, separators of lines and
 * paragraphs, and half surrogates, among them bytes that are not UTF-8 (`decodeText`).
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}]/gu
/** A newline, unless a frame of a stack follows: no notice and no table begins like that. */
const MESSAGE_NEWLINE = /\n(?! {4}at )/g

const PICTURES = 0x2400
const PICTURE_OF_NEWLINE = '\u240a'
const PICTURE_OF_DELETE = '\u2421'
/** Replaces characters without a picture: one column wide everywhere, unlike U+FFFD. */
const PICTURE_OF_OTHERS = '\u2426'

/**
 * Returns text that a terminal shows and does not obey: a picture in place of every unsafe character, except tabs and newlines. The
 * length stays the same, so columns that were padded before keep their place.
 */
export function printable(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, pictureOf)
}

/** Returns text with a picture in place of each newline: for names within a line, where a newline could begin a line of its own. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', PICTURE_OF_NEWLINE)
}

/** Returns `printable` text on one line. */
export function printableWord(text: string): string {
  return oneLine(printable(text))
}

/** Returns lines of a log: unsafe characters become their codes (`\x1b`, `\u202e`), except tabs and newlines. */
export function loggable(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, codeOf)
}

/** Returns one line of a log: as `loggable`, with codes for newlines too. Frames of a stack remain lines. */
export function loggableMessage(text: string): string {
  return loggable(text).replace(MESSAGE_NEWLINE, hex)
}

function pictureOf(char: string): string {
  const code = char.codePointAt(0)!
  if (char === '\t' || char === '\n') return char
  if (code < 0x20) return String.fromCharCode(PICTURES + code)
  return code === 0x7f ? PICTURE_OF_DELETE : PICTURE_OF_OTHERS.repeat(char.length)
}

function codeOf(char: string): string {
  return char === '\t' || char === '\n' ? char : hex(char)
}

/** A byte that is not UTF-8 is shown as that byte. */
function hex(char: string): string {
  const code = char.codePointAt(0)!
  const value = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code
  const digits = value.toString(16)
  if (value <= 0xff) return `\\x${digits.padStart(2, '0')}`
  return value <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`
}
