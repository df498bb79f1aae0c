/** Writes the archives that a Debian package consists of: tar (ustar, owned by root) and ar. Equal entries give equal bytes. */

const BLOCK = 512
const DIRECTORY = '5'
const LINK = '2'
const FILE = '0'

/**
 * Returns a tar archive.
 *
 * @param entries path (a directory's ends with a slash), mode, and contents or `link`
 * @param seconds modification time of all
 */
export function tar(entries, seconds) {
  const blocks = entries.flatMap((entry) => {
    const contents = entry.contents ?? Buffer.alloc(0)
    return [
      header(entry, contents.length, seconds),
      contents,
      Buffer.alloc((BLOCK - (contents.length % BLOCK)) % BLOCK),
    ]
  })
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

/** Returns an ar archive of named contents. */
export function ar(members, seconds) {
  const parts = Object.entries(members).flatMap(([name, contents]) => {
    const fields = [name.padEnd(16), String(seconds).padEnd(12), '0     ', '0     ', '100644  ']
    const head = `${fields.join('')}${String(contents.length).padEnd(10)}\`\n`
    return [Buffer.from(head), contents, Buffer.from(contents.length % 2 === 0 ? '' : '\n')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}

function header({ path, mode, link }, size, seconds) {
  const type = path.endsWith('/') ? DIRECTORY : link === undefined ? FILE : LINK
  const block = Buffer.alloc(BLOCK)
  const [name, prefix] = split(path)
  block.write(name, 0)
  block.write(octal(mode, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(octal(size, 12), 124)
  block.write(octal(seconds, 12), 136)
  block.write(' '.repeat(8), 148)
  block.write(type, 156)
  block.write(link ?? '', 157)
  block.write('ustar\u000000', 257)
  block.write('root', 265)
  block.write('root', 297)
  block.write(prefix, 345)
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    )}\0 `,
    148,
  )
  return block
}

/** Splits a path into name (100 bytes) and prefix (155). */
function split(path) {
  if (path.length <= 100) return [path, '']
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
    if (at <= 155 && path.length - at - 1 <= 100 && at < path.length - 1)
      return [path.slice(at + 1), path.slice(0, at)]
  throw new Error(`${path} is too long for a tar archive`)
}

function octal(number, width) {
  return number.toString(8).padStart(width - 1, '0')
}
