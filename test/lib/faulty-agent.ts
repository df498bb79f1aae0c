/** Program of an agent that returns 42 for every fetch, until SIGUSR2 triggers the fault named by its first argument. */

/** JavaScript source. Arguments: the fault (slow, garbage, half, flood, long), and a file for the process id. */
export const FAULTY_AGENT = `
const [fault, pidPath] = process.argv.slice(2)
require('node:fs').writeFileSync(pidPath, String(process.pid))
let isFaulty = false
let isBegun = false
process.on('SIGUSR2', () => { isFaulty = true })
const ints = (...words) => {
  const bytes = Buffer.alloc(4 * words.length)
  words.forEach((word, i) => bytes.writeInt32BE(word | 0, 4 * i))
  return bytes
}
const out = (bytes) => process.stdout.write(bytes)
out(ints(20, 0x700c, 0, 1, 0x01020000))
let input = Buffer.alloc(0)
process.stdin.on('data', (chunk) => {
  input = Buffer.concat([input, chunk])
  while (input.length >= 12 && input.length >= input.readInt32BE(0)) {
    const pdu = input.subarray(0, input.readInt32BE(0))
    input = input.subarray(pdu.length)
    if (pdu.readInt32BE(4) === 0x7003) answer(pdu)
    else if (pdu.readInt32BE(4) !== 0x7002 && pdu.readInt32BE(4) !== 0x700c && pdu.readInt32BE(4) !== 0x7000) out(ints(16, 0x7000, 0, -12358))
  }
})
process.stdin.on('end', () => process.exit(0))
function answer(fetch) {
  const count = fetch.readInt32BE(24)
  const words = [24 + 20 * count, 0x7001, 0, 0, 0, count]
  for (let i = 0; i < count; i++) words.push(fetch.readInt32BE(28 + 4 * i), 1, 0, -1, 42)
  const reply = ints(...words)
  if (!isFaulty) return out(reply)
  switch (fault) {
    case 'slow': return setTimeout(out, 300, reply)
    case 'garbage': return out(Buffer.from(Array.from({ length: 256 }, (_, i) => (i * 37) & 255)))
    case 'half': if (!isBegun) out(reply.subarray(0, reply.length / 2)); isBegun = true; return
    case 'flood': for (let i = 0; i < 2000; i++) out(reply); return
    case 'long': out(ints(0x7ffffb00, 0x7001, 0)); return setInterval(() => out(Buffer.alloc(65536)), 1)
  }
}
`
