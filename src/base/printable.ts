/**
 * Makes untrusted text safe for terminals and logs. Names, values and messages may contain escape sequences, which terminals obey, and
 * invisible or bidirectional characters, which deceive readers. Output to a terminal or a log passes through here; files and pipes
 * keep every byte.
 */

/** Text of these characters only is safe. */
const PLAIN = /^[\t\n -~]*$/
/**
 * Control, format (including bidirectional) and invisible characters, line and paragraph separators, and lone surrogates, which
 * include bytes that are not UTF-8 (`decodeText`).
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}]/gu
/** A newline that does not precede a stack frame: no notice and no table row starts with "    at". */
const MESSAGE_NEWLINE = /\n(?! {4}at )/g

const PICTURES = 0x2400
const PICTURE_OF_NEWLINE = '\u240a'
const PICTURE_OF_DELETE = '\u2421'
/** Replacement for characters without a picture: one column wide everywhere, unlike U+FFFD. */
const PICTURE_OF_OTHERS = '\u2426'

/**
 * Replaces unsafe characters, except tabs and newlines, by visible pictures. The length stays the same, so columns that were padded
 * before keep their width.
 */
export function printable(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, pictureOf)
}

/** Replaces newlines by a picture: for names within a line, which must not start another line. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', PICTURE_OF_NEWLINE)
}

/** Returns `printable` text on one line. */
export function printableWord(text: string): string {
  return oneLine(printable(text))
}

/** Replaces unsafe characters in lines of a log by their codes (`\x1b`, `\u202e`), except tabs and newlines. */
export function loggable(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, codeOf)
}

/** Returns one log line: as `loggable`, with codes for newlines too, except before stack frames. */
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

/** Shows a byte that is not UTF-8 as `\xNN`. */
function hex(char: string): string {
  const code = char.codePointAt(0)!
  const value = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code
  const digits = value.toString(16)
  if (value <= 0xff) return `\\x${digits.padStart(2, '0')}`
  return value <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`
}
